"""Values are checked where they enter and trusted between typed ports (S1.7)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import Flow, RunFailed


async def whole(n: int) -> int:
    return n


async def anything(x: Any = None) -> Any:
    return x


async def test_values_of_an_any_port_are_checked_when_they_enter() -> None:
    for value in ("x", 1.5):
        with Flow() as flow:
            flow.add(whole, n=flow.add(anything, x=value).out)
        with pytest.raises(RunFailed) as caught:
            await flow.run()
        assert f"expected int, found {type(value).__name__} {value!r}" in caught.value.failures[0].message


async def test_typed_ports_are_trusted() -> None:
    async def lies() -> int:
        return "text"  # type: ignore[return-value]

    with Flow() as flow:
        flow.output("y", flow.add(whole, n=flow.add(lies).out).out)
    assert (await flow.run())["y"] == "text"
