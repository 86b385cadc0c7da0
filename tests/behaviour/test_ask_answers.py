"""Answers, which are taken and which are refused, and asks whose time is over (S11.1, S11.2)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import anyio
import pytest
import trio

from dataflow import AnswerRefused, DataflowError, Flow, Result, RunFailed, RunTaken
from dataflow.base.markers import MISSING, SKIP
from tests.behaviour.asking_flows import raw, root, together
from tests.behaviour.asks import Home, Place, homes
from tests.behaviour.nodes import ident
from tests.behaviour.table import states_of, typed, wired
from tests.support.codes import codes, found_of
from tests.support.steady import jumping


class Size(NamedTuple):
    width: int
    height: int


@wired
def asking(f: Flow, kind: Any) -> None:
    f.output("out", f.add(ident, x=f.ask(kind, "?").out).out)


async def refusal(home: Home, flow: Flow, paused: Any, answers: dict[str, object]) -> AnswerRefused:
    with pytest.raises(AnswerRefused) as caught:
        await home.resume(flow, paused, answers)
    return caught.value


async def test_a_falsy_answer_comes_back_as_what_it_is(tmp_path: Path) -> None:
    values: tuple[object, ...] = (0, 0.0, False, "", [], {}, None)
    for value in values:
        for kind in (Any, type(value)):
            for home in homes(tmp_path):
                flow = asking(kind)
                paused = await home.placed(flow).run()
                again = flow if home.place == "result" else asking(kind)
                result = await home.resume(again, paused, {"ask": value})
                assert typed(dict(result.outputs)) == typed({"out": value})


#: The type of an ask, an answer that does not fit, where not, and one that fits.
UNFIT: Final[tuple[tuple[Any, object, tuple[str, str, str], object], ...]] = (
    (bool, "yes", ("", "bool", "str 'yes'"), False),
    (bool, 1, ("", "bool", "int 1"), False),
    (int, "1", ("", "int", "str '1'"), 3),
    (int, 1.5, ("", "int", "float 1.5"), 3),
    (str, None, ("", "str", "None"), ""),
    (list[int], [1, "2"], ("[1]", "int", "str '2'"), [1]),
    (Literal["red", "blue"], "green", ("", "Literal['red', 'blue']", "str 'green'"), "red"),
    (Size, {"width": 1, "height": "x"}, (".height", "a valid integer", "str 'x'"), Size(1, 2)),
    (Any, SKIP, ("", "Any", ""), 1),
    (Any, MISSING, ("", "Any", ""), 1),
)


async def test_an_answer_of_another_type_is_refused_and_the_ask_stays_open(tmp_path: Path) -> None:
    for kind, answer, (place, expected, found), fitting in UNFIT:
        for home in homes(tmp_path):
            flow = asking(kind)
            paused = await home.placed(flow).run()
            refused = await refusal(home, flow, paused, {"ask": answer})
            if answer in (SKIP, MISSING):
                assert codes(refused) == ["DF0601 answer to 'ask'"]
            else:
                assert found_of(refused.diagnostics) == [(f"DF0601 answer to 'ask'{place}", expected, found)]
            assert (await home.resume(flow, paused, {"ask": fitting})).status == "completed"


async def test_an_answer_as_json_writes_it_is_read_by_the_type(tmp_path: Path) -> None:
    for home in homes(tmp_path):
        flow = asking(Size)
        paused = await home.placed(flow).run()
        assert paused.asks[0].schema["type"] == "array"
        assert typed((await home.resume(flow, paused, {"ask": [1, 2]}))["out"]) == typed(Size(1, 2))


async def test_an_answer_for_several_ports_is_an_object_that_names_them() -> None:
    refused: tuple[tuple[object, str], ...] = (
        ({"text": "t"}, "DF0833 answer to 'partly'.number"),
        ({"text": "t", "number": 1, "given": 2}, "DF0832 answer to 'partly'.given"),
        ({"text": "t", "number": "1"}, "DF0601 answer to 'partly'.number"),
        ("t", "DF0601 answer to 'partly'"),
    )
    flow = raw()
    paused = await flow.run(x=1)
    for answer, problem in refused:
        with pytest.raises(AnswerRefused) as caught:
            await flow.resume(paused, {"partly": answer})
        assert codes(caught.value) == [problem]
    names = {"text": "string", "number": "integer", "maybe": "string"}
    assert paused.asks[0].schema == {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in names.items()},
        "required": ["text", "number"],
        "additionalProperties": False,
    }


async def test_refused_answers_change_nothing(tmp_path: Path) -> None:
    """One that does not fit keeps out the others; unknown and answered asks are refused."""
    for home in homes(tmp_path):
        flow = together()
        paused = await home.placed(flow).run()
        unfit = await refusal(home, flow, paused, {"one": "a", "two": 2})
        assert codes(unfit) == ["DF0601 answer to 'two'"]
        unknown = await refusal(home, flow, paused, {"four": "a"})
        assert codes(unknown) == ["DF0828 answer to 'four'"]
        assert unknown.diagnostics[0].available == ("one", "two", "three")
        paused = await home.resume(flow, paused, {"two": "b"})
        assert sorted(ask.id for ask in paused.asks) == ["one", "three"]
        await refusal(home, flow, paused, {"two": "again"})
        result = await home.resume(flow, paused, {"one": "a", "three": "c"})
        assert result["all"] == "a|b|c"


async def note_end(home: Home, flow: Flow, paused: Any, answer: bool, ends: list[Any]) -> None:
    try:
        ends.append(await home.resume(flow, paused, {"ask": answer}))
    except (RunTaken, AnswerRefused) as error:
        ends.append(error)


async def test_a_paused_run_is_resumed_once(tmp_path: Path) -> None:
    """Of two that resume it one is refused since the other was faster; a completed run is not resumed."""
    for home in homes(tmp_path):
        flow, ends = root(), list[Any]()
        paused = await home.placed(flow).run(x=1)
        async with anyio.create_task_group() as group:
            for answer in (True, False):
                group.start_soon(note_end, home, flow, paused, answer, ends)
        taken, done = sorted(ends, key=lambda end: not isinstance(end, RunTaken))
        assert (type(taken), done.status) == (RunTaken, "completed")
        with pytest.raises(DataflowError, match="complete"):
            await home.resume(flow, done, {"ask": True})


#: So short that it is over before anything else can happen; the timer itself only fires while a node runs.
AT_ONCE: Final = 1e-9
STORES: Final[tuple[Place, ...]] = ("memory", "sqlite")


async def wait(seconds: float) -> str:
    await trio.sleep(seconds)
    return "waited"


@wired
def expiring(f: Flow, /, expires: float, **default: Any) -> None:
    asked = f.ask(int, "?", expires=expires, **default)
    f.output("out", f.add(ident, x=asked.out).out)


@wired
def beside(f: Flow, flow: Flow, seconds: float) -> None:
    step = f.add(flow.with_(name="asks"))
    f.output("waited", f.add(wait, seconds=seconds).out)
    f.output("out", step.out.out)


def test_an_ask_takes_its_default_or_fails_while_the_run_is_executed() -> None:
    for default in (0, 7):
        result = jumping(beside(expiring(30, default=default), 60).run)
        assert typed(dict(result.outputs)) == typed({"waited": "waited", "out": default})
    with pytest.raises(RunFailed) as failed:
        jumping(beside(expiring(30), 60).run)
    [failure] = failed.value.failures
    assert (failure.path, failure.code) == ("asks/ask", "DF0830")


def test_an_ask_whose_time_is_not_over_stays_open_and_no_run_waits_for_it() -> None:
    result = jumping(beside(expiring(90, default=1), 60).run)
    assert (result.status, [ask.id for ask in result.asks]) == ("paused", ["asks/ask"])
    assert jumping(expiring(30, default=1).run).status == "paused"


def test_an_answer_in_time_counts_and_a_default_is_reported_as_one() -> None:
    async def main(answers: dict[str, int]) -> tuple[Result, list[tuple[str, Any]]]:
        async with beside(expiring(30, default=1), 60).start() as run:
            events = run.events()
            await trio.sleep(29)
            await run.answer(answers)
            answered = [event async for event in events if event.kind == "ask_answered"]
            return await run, [(event.path, event.data["by"]) for event in answered]

    for answers, value, by in (({"asks/ask": 5}, 5, "run"), ({}, 1, "default")):
        result, answered = jumping(partial(main, answers))
        assert (result["out"], answered) == (value, [("asks/ask", by)])


async def test_an_ask_that_expired_in_the_pause_takes_its_default_first_thing(tmp_path: Path) -> None:
    for home in homes(tmp_path):
        flow = expiring(AT_ONCE, default=3)
        paused = await home.placed(flow).run()
        assert paused.status == "paused"
        with pytest.raises(AnswerRefused, match="DF0829 answer to 'ask': "):
            await home.resume(flow, paused, {"ask": 5})  # too late, and the run stays as it is
        result = await home.resume(flow, paused, {})
        assert (result.status, result["out"]) == ("completed", 3)


async def test_an_ask_that_expired_in_the_pause_fails_without_a_default(tmp_path: Path) -> None:
    for home in homes(tmp_path):
        flow = expiring(AT_ONCE)
        paused = await home.placed(flow).run()
        with pytest.raises(AnswerRefused, match="DF0829 answer to 'ask': "):
            await home.resume(flow, paused, {"ask": 5})
        with pytest.raises(RunFailed, match="DF0830") as failed:
            await home.resume(flow, paused, {})
        assert states_of(failed.value.result) == {"ask": "failed", "ident": "not_run"}
        if home.place in STORES:
            again = await home.resume(flow, paused, {})
            assert [ask.id for ask in again.asks] == ["ask"]
