"""Runs that ask and whose flow changes while they have paused (S11.4, B28)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowEdited, Result, node
from dataflow.core.policy import Edited
from tests.behaviour.asks import Home, Place, homes
from tests.behaviour.nodes import counted, tallying
from tests.behaviour.table import states_of

STORES: Final[tuple[Place, ...]] = ("memory", "sqlite")


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


async def paused_run(home: Home, flow: Flow | None = None) -> Result:
    paused = await home.placed(flow or version()).run()
    assert [ask.id for ask in paused.asks] == ["ask"]
    return paused


async def test_what_has_not_begun_may_change(tmp_path: Path) -> None:
    for home in homes(tmp_path, STORES):
        with tallying() as tally:
            result = await home.resume(version(more=True), await paused_run(home), {"ask": "y"})
        assert (result["out"], tally.paths, result.warnings) == ("c(a-y)", ["a", "b", "c"], ())
        result = await home.resume(version(last="b2"), await paused_run(home), {"ask": "y"})
        assert (result.status, result["out"], states_of(result)["b2"]) == ("completed", "a-y", "done")


async def test_a_done_node_that_is_removed_or_renamed_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    for home in homes(tmp_path, STORES):
        for edited, name in ((version(without_a=True), "a"), (version(first=node(a).with_(name="a2")), "a2")):
            paused = await paused_run(home)
            with tallying() as tally, pytest.raises(FlowEdited) as caught:
                await home.resume(edited, paused, {"ask": "y"})
            assert name in str(caught.value)
            assert tally.paths == []
            assert [ask.id for ask in (await home.resume(version(), paused, {})).asks] == ["ask"]
            result = await home.resume(version(), paused, {"ask": "y"})
            assert (result.status, result["out"]) == ("completed", "a-y")


async def test_the_caller_may_keep_what_there_is_or_have_it_computed_again(tmp_path: Path) -> None:
    ways: tuple[Edited, ...] = ("keep", "recompute")
    for home in homes(tmp_path, STORES):
        with tallying() as tally:
            paused = await paused_run(home)
            result = await home.resume(version(without_a=True), paused, {"ask": "y"}, edited="keep")
        assert (result.status, result["out"], tally.paths) == ("completed", "x-y", ["a", "b"])
        for way in ways:
            again = await home.resume(version(without_a=True), await paused_run(home), {}, edited=way)
            assert [ask.show for ask in again.asks] == ["a" if way == "keep" else "x"]
            result = await home.resume(version(without_a=True), again, {"ask": "z"})  # no edit any more
            assert result["out"] == "x-z"
