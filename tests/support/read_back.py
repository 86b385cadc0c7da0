"""Values as a resumed run reads them from its store."""

from __future__ import annotations

from typing import Any

from dataflow import Flow, RunFailed, Store

__all__ = ["giving", "read_back"]


def giving(value: Any, kind: Any, *, fails: bool = False) -> tuple[Flow, list[str]]:
    """Return a flow whose node gives a value on a port of a type, and the calls of its nodes.

    With `fails` another node fails when it is called first, and passes the value on later.
    """
    calls: list[str] = []

    async def give() -> Any:
        calls.append("give")
        return value

    async def passed(value: Any) -> Any:
        calls.append("passed")
        if fails and calls.count("passed") == 1:
            raise OSError
        return value

    give.__annotations__["return"] = kind
    with Flow("giving") as flow:
        flow.output("out", flow.add(passed, value=flow.add(give).out).out)
    return flow, calls


async def read_back(value: Any, kind: Any = Any, store: Store | None = None) -> Any:
    """Return a value that has gone through a store: of a run that has failed and is resumed."""
    flow, calls = giving(value, kind, fails=True)
    stored = flow.using(store=store or Store.memory())
    assert stored.check() == []
    try:
        await stored.run()
    except RunFailed as failed:
        resumed = await stored.resume(failed.result.run_id)
    assert calls == ["give", "passed", "passed"]
    return resumed["out"]
