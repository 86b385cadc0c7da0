"""Inputs of a flow that were edited before its run is resumed (S11.4)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid, Store
from dataflow.core.policy import Edited
from tests.behaviour.nodes import ident

EDITED: Final[tuple[Edited, ...]] = ("refuse", "keep", "recompute")


def asking(**inputs: Any) -> Flow:
    """Ask, and then read the inputs, each given as its type and its default, if it has one."""
    with Flow("asking") as f:
        asked = f.ask(int, "?")
        for name, given in inputs.items():
            read = f.add(ident, x=f.input(name, *given))
            f.after(read, asked.done)
            f.output(name, read.out)
        f.output("asked", asked.out)
    return f


async def resumed(edited: Flow, way: Edited) -> dict[str, Any]:
    """Pause a run that was given a number, and go on with it as an edited flow."""
    store = Store.memory()
    paused = await asking(number=(int,)).using(store=store).run(number=1)
    before = list(store.records(paused.run_id))
    try:
        result = await edited.using(store=store).resume(paused.run_id, {"ask": 2}, edited=way)
    except FlowInvalid:
        assert list(store.records(paused.run_id)) == before
        assert store.find(paused.run_id).status == "paused"
        raise
    return dict(result.outputs)


async def test_inputs_that_were_removed_or_have_a_default_change_nothing_else() -> None:
    for way in EDITED:
        assert await resumed(asking(), way) == {"asked": 2}
        flow = asking(number=(int,), more=(int, 5))
        assert await resumed(flow, way) == {"asked": 2, "number": 1, "more": 5}


async def test_inputs_without_a_value_or_of_another_type_are_refused_and_the_run_stays() -> None:
    for way in EDITED:
        with pytest.raises(FlowInvalid, match="DF0820 input 'more':"):
            await resumed(asking(number=(int,), more=(int,)), way)
        with pytest.raises(FlowInvalid, match="DF0601 input 'number':"):
            await resumed(asking(number=(str,)), way)
