"""Runs that ask and are edited while they have paused (S11.4, B28)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import (
    Flow,
    FlowEdited,
    Result,
    node,
)
from dataflow.core.policy import Edited
from tests.behaviour.asks import Home, Place
from tests.behaviour.nodes import counted, tallying
from tests.behaviour.table import states_of

ROOT: Final = Path(__file__).parents[2]
each_store = pytest.mark.parametrize("place", ["memory", "sqlite"])


@counted
async def a() -> str:
    return "a"


@counted
async def b(text: str, answer: str) -> str:
    return f"{text}-{answer}"


@counted
async def c(text: str) -> str:
    return f"c({text})"


def version(*, first: Any = a, last: str = "b", more: bool = False, without_a: bool = False) -> Flow:
    with Flow("versions") as f:
        text = "x" if without_a else f.add(first).out
        asked = f.ask(str, "?", show=text)
        port = f.add(node(b).with_(name=last), text=text, answer=asked.out).out
        f.output("out", f.add(c, text=port).out if more else port)
    return f


async def paused_run(home: Home) -> Result:
    paused = await home.placed(version()).run()
    assert [ask.id for ask in paused.asks] == ["ask"]
    return paused


@each_store
async def test_a_new_node_behind_what_waits_runs(place: Place, tmp_path: Path) -> None:
    home = Home(place, tmp_path)
    with tallying() as tally:
        result = await home.resume(version(more=True), await paused_run(home), {"ask": "y"})
    assert (result["out"], tally.paths) == ("c(a-y)", ["a", "b", "c"])
    assert result.warnings == ()


@each_store
async def test_a_node_that_has_not_begun_may_have_another_name(place: Place, tmp_path: Path) -> None:
    home = Home(place, tmp_path)
    result = await home.resume(version(last="b2"), await paused_run(home), {"ask": "y"})
    assert (result.status, result["out"], states_of(result)["b2"]) == ("completed", "a-y", "done")


@each_store
async def test_a_settled_node_that_is_gone_is_told_and_nothing_runs(place: Place, tmp_path: Path) -> None:
    home = Home(place, tmp_path)
    paused = await paused_run(home)
    with tallying() as tally, pytest.raises(FlowEdited, match="removed") as caught:
        await home.resume(version(without_a=True), paused, {"ask": "y"})
    assert "a" in str(caught.value)
    assert tally.paths == []
    result = await home.resume(version(), paused, {"ask": "y"})
    assert (result.status, result["out"]) == ("completed", "a-y")


@each_store
async def test_a_settled_node_with_another_name_is_told(place: Place, tmp_path: Path) -> None:
    home = Home(place, tmp_path)
    paused = await paused_run(home)
    with pytest.raises(FlowEdited) as caught:
        await home.resume(version(first=node(a).with_(name="a2")), paused, {"ask": "y"})
    assert "a2" in str(caught.value)
    assert [ask.id for ask in (await home.resume(version(), paused, {})).asks] == ["ask"]


@each_store
async def test_other_code_of_a_settled_node_is_a_warning_and_its_value_stands(
    place: Place, tmp_path: Path
) -> None:
    home = Home(place, tmp_path)
    paused = await home.placed(version(first=node(name="first")(_code("old")))).run()
    result = await home.resume(version(first=node(name="first")(_code("new"))), paused, {"ask": "y"})
    assert result["out"] == "old-y"
    [warning] = result.warnings
    assert "first" in warning


def _code(word: str) -> Callable[[], Any]:
    """Make one node type of different code."""
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(f"async def first() -> str:\n    return {word!r}\n", namespace)
    found: Callable[[], Any] = namespace["first"]
    return found


@each_store
async def test_a_rename_goes_on_if_the_caller_keeps_what_there_is(place: Place, tmp_path: Path) -> None:
    home = Home(place, tmp_path)
    with tallying() as tally:
        paused = await paused_run(home)
        result = await home.resume(version(without_a=True), paused, {"ask": "y"}, edited="keep")
    assert (result.status, result["out"], tally.paths) == ("completed", "x-y", ["a", "b"])


@each_store
async def test_a_rename_is_asked_again_if_the_caller_wants_it_recomputed(
    place: Place, tmp_path: Path
) -> None:
    home = Home(place, tmp_path)
    paused = await paused_run(home)
    again = await home.resume(version(without_a=True), paused, {}, edited="recompute")
    assert [(ask.id, ask.show) for ask in again.asks] == [("ask", "x")]
    result = await home.resume(version(without_a=True), again, {"ask": "z"})
    assert result["out"] == "x-z"


@pytest.mark.parametrize("edited", ["keep", "recompute"])
@each_store
async def test_an_edit_that_was_let_in_is_no_edit_later_on(
    place: Place, edited: Edited, tmp_path: Path
) -> None:
    home = Home(place, tmp_path)
    again = await home.resume(version(without_a=True), await paused_run(home), {}, edited=edited)
    result = await home.resume(version(without_a=True), again, {"ask": "z"})
    assert result["out"] == "x-z"
