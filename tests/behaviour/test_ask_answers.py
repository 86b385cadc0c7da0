"""Answers: which are taken, which are refused and why, and what a refused one leaves as it was (S11.2)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

import anyio
import pytest

from dataflow import (
    AnswerRefused,
    DataflowError,
    Flow,
    NodeOutput,
    Ports,
    Result,
    Run,
    RunFailed,
    RunTaken,
    merge,
    node,
    race,
    this_firing,
)
from dataflow_control import approval
from tests.behaviour.asks import PLACES, Home, Place
from tests.behaviour.cases_asks import both, raw, root, together
from tests.behaviour.nodes import counted, ident, src, tallying
from tests.behaviour.table import states_of, typed

each_place = pytest.mark.parametrize("place", PLACES)


class Size(NamedTuple):
    width: int
    height: int


def asking(kind: Any) -> Flow:
    with Flow() as f:
        f.output("out", f.add(ident, x=f.ask(kind, "?").out).out)
    return f


@pytest.mark.parametrize(
    "value", [0, 0.0, False, "", [], {}, None], ids=["int", "float", "bool", "str", "list", "dict", "None"]
)
@pytest.mark.parametrize("kind", ["Any", "its own"])
@each_place
async def test_a_falsy_answer_comes_back_as_what_it_is(
    value: object, kind: str, place: Place, tmp_path: Path
) -> None:
    expected: Any = Any if kind == "Any" else type(value)
    home, flow = Home(place, tmp_path), asking(expected)
    paused = await home.placed(flow).run()
    result = await home.resume(flow if place == "result" else asking(expected), paused, {"ask": value})
    assert typed(dict(result.outputs)) == typed({"out": value})


@pytest.mark.parametrize(
    ("kind", "answer", "told"),
    [
        (bool, "yes", "expected bool, found str 'yes'"),
        (bool, 1, "expected bool, found int 1"),
        (int, "1", "expected int, found str '1'"),
        (int, 1.5, "expected int, found float 1.5"),
        (str, None, "expected str, found None"),
        (list[int], [1, "2"], "[1]: expected int, found str '2'"),
        (Literal["red", "blue"], "green", "expected Literal['red', 'blue'], found str 'green'"),
        (Size, {"width": 1}, "expected Size, found dict {'width': 1}"),
    ],
)
@each_place
async def test_an_answer_of_another_type_is_refused_and_the_ask_stays_open(
    kind: Any, answer: object, told: str, place: Place, tmp_path: Path
) -> None:
    home, flow = Home(place, tmp_path), asking(kind)
    paused = await home.placed(flow).run()
    with pytest.raises(AnswerRefused) as caught:
        await home.resume(flow, paused, {"ask": answer})
    assert caught.value.reason == told
    fits: dict[Any, Any] = {bool: False, int: 3, str: "", Size: Size(1, 2)}
    result = await home.resume(flow, paused, {"ask": fits.get(kind, "red" if answer == "green" else [1])})
    assert result.status == "completed"


@each_place
async def test_an_answer_as_json_writes_it_is_read_by_the_type(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), asking(Size)
    paused = await home.placed(flow).run()
    assert paused.asks[0].schema["type"] == "array"
    result = await home.resume(flow, paused, {"ask": [1, 2]})
    assert typed(result["out"]) == typed(Size(1, 2))


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"text": "t"}, "port 'number' is missing"),
        ({"text": "t", "number": 1, "given": 2}, "there is no port 'given'; choices: text, number, maybe"),
        ({"text": "t", "number": "1"}, "port 'number': expected int, found str '1'"),
        ("t", "expected an object by port, choices: text, number, maybe; found str 't'"),
    ],
)
async def test_an_answer_for_several_ports_names_them(answer: object, told: str) -> None:
    flow = raw()
    paused = await flow.run(x=1)
    with pytest.raises(AnswerRefused) as caught:
        await flow.resume(paused, {"partly": answer})
    assert caught.value.reason == told


async def test_the_schema_of_several_ports_is_that_of_an_object() -> None:
    paused = await raw().run(x=1)
    assert paused.asks[0].schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "number": {"type": "integer"},
            "maybe": {"type": "string"},
        },
        "required": ["text", "number"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        1,
        None,
        "",
        {},
        {"decision": "maybe"},
        {"note": "n"},
        {"decision": "approve", "text": ""},
        ["approve"],
    ],
    ids=str,
)
async def test_what_is_no_decision_is_refused(answer: object) -> None:
    with Flow() as f:
        f.output("note", f.add(approval, value=1).out.note)
    paused = await f.run()
    with pytest.raises(AnswerRefused):
        await f.resume(paused, {"approval/ask": answer})
    assert (await f.resume(paused, {"approval/ask": "approve"}))["note"] == ""


async def test_the_schema_of_an_approval_says_all_that_it_takes() -> None:
    with Flow() as f:
        f.add(approval, value=1)
    [ask] = (await f.run()).asks
    decision, word, plain = ask.schema["anyOf"]
    assert word == {"enum": ["approve", "reject"], "type": "string"}
    assert plain == {"type": "boolean"}
    described = ask.schema["$defs"][decision["$ref"].rpartition("/")[2]]
    assert (described["required"], described["additionalProperties"]) == (["decision"], False)
    json.dumps(ask.schema)


@each_place
async def test_one_answer_that_does_not_fit_keeps_all_of_them_out(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), together()
    paused = await home.placed(flow).run()
    with pytest.raises(AnswerRefused, match="'two'"):
        await home.resume(flow, paused, {"one": "a", "two": 2})
    result = await home.resume(flow, paused, {"two": "b"})
    assert [ask.id for ask in result.asks] == ["one", "three"]


@each_place
async def test_an_ask_that_is_not_there_is_refused_with_those_that_are(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), together()
    paused = await home.placed(flow).run()
    with pytest.raises(AnswerRefused) as caught:
        await home.resume(flow, paused, {"four": "a"})
    assert caught.value.reason == "there is no such ask; choices: one, two, three"


@each_place
async def test_a_second_answer_to_one_ask_is_refused(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), together()
    paused = await home.placed(flow).run()
    paused = await home.resume(flow, paused, {"one": "a"})
    with pytest.raises(AnswerRefused):
        await home.resume(flow, paused, {"one": "b"})
    result = await home.resume(flow, paused, {"two": "b", "three": "c"})
    assert result["all"] == "a|b|c"


@asynccontextmanager
async def executed(flow: Flow, opened: int) -> AsyncIterator[Run]:
    """Execute a flow beside which a node runs as long as the block does; so many asks are open in it."""
    held = anyio.Event()

    async def beside() -> None:
        await held.wait()

    with Flow() as f:
        f.add(flow.with_(name="asks"))
        f.add(beside)
    async with f.start() as run:
        events = run.events()
        while opened:
            opened -= (await anext(events)).kind == "ask_opened"
        try:
            yield run
        finally:
            held.set()


async def test_a_second_answer_while_the_run_is_executed_is_refused() -> None:
    async with executed(together(), 3) as run:
        await run.answer({"asks/one": "a"})
        with pytest.raises(AnswerRefused, match="it has been answered already"):
            await run.answer({"asks/one": "b"})
        await run.answer({"asks/two": "b", "asks/three": "c"})


async def test_a_run_that_is_executed_takes_answers_while_it_goes_on() -> None:
    async with executed(together(), 3) as run:
        events = run.events()
        await run.answer({"asks/three": "c", "asks/one": "a", "asks/two": "b"})
        answered = []
        while len(answered) < 3:
            event = await anext(events)
            answered += [(event.path, event.data["by"])] if event.kind == "ask_answered" else []
    assert answered == [("asks/three", "run"), ("asks/one", "run"), ("asks/two", "run")]
    assert run.status == "completed"


@each_place
async def test_a_paused_run_goes_on_once(place: Place, tmp_path: Path) -> None:
    """Of two that resume it one is told that the other was faster."""
    home, flow = Home(place, tmp_path), root()
    paused = await home.placed(flow).run(x=1)
    ends: list[object] = []

    async def go_on(answer: bool) -> None:
        try:
            ends.append((await home.resume(flow, paused, {"ask": answer})).status)
        except (RunTaken, AnswerRefused) as error:
            ends.append(type(error).__name__)

    async with anyio.create_task_group() as group:
        group.start_soon(go_on, True)
        group.start_soon(go_on, False)
    assert sorted(map(str, ends)) == ["RunTaken", "completed"]


@each_place
async def test_a_run_that_has_completed_is_not_resumed(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), root()
    done = await home.resume(flow, await home.placed(flow).run(x=1), {"ask": True})
    with pytest.raises(DataflowError, match="complete"):
        await home.resume(flow, done, {"ask": True})


def racing() -> Flow:
    with Flow() as f:
        gate = f.ask(str, "Now?", name="gate")
        slow = f.ask(str, "Or then?", name="slow")
        f.output("first", race(f.add(ident, x=gate.out).out, slow.out))
        f.output("end", f.ask(str, "The end?", name="end").out)
    return f


@each_place
async def test_an_ask_that_lost_a_race_takes_no_answer(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), racing()
    paused = await home.placed(flow).run()
    paused = await home.resume(flow, paused, {"gate": "g"})
    assert ([ask.id for ask in paused.asks], states_of(paused)["slow"]) == (["end"], "cancelled")
    with pytest.raises(AnswerRefused):
        await home.resume(flow, paused, {"slow": "late"})
    result = await home.resume(flow, paused, {"end": "e"})
    assert dict(result.outputs) == {"first": "g", "end": "e"}


async def test_what_loses_a_race_is_told_as_closed_and_refuses_an_answer() -> None:
    async with executed(racing(), 3) as run:
        events = run.events()
        await run.answer({"asks/gate": "g"})
        while (event := await anext(events)).kind != "ask_closed":
            pass
        assert event.path == "asks/slow"
        assert "race lost" in event.data["reason"]
        with pytest.raises(AnswerRefused, match="it was closed: race lost"):
            await run.answer({"asks/slow": "late"})


@counted
async def breaks(x: int) -> int:
    raise ValueError(f"bad {x}")


def failing() -> Flow:
    with Flow() as f:
        go = f.ask(int, "Go?", name="go")
        f.output("left", f.add(breaks, x=go.out).out)
        f.output("right", f.ask(str, "Beside?", name="beside").out)
    return f


@pytest.mark.parametrize("place", ["memory", "sqlite"])
async def test_asks_closed_by_a_failure_open_again_when_the_run_is_resumed(
    place: Place, tmp_path: Path
) -> None:
    home, flow = Home(place, tmp_path), failing()
    paused = await home.placed(flow).run()
    with pytest.raises(RunFailed) as failed:
        await home.resume(flow, paused, {"go": 1})
    result: Result = failed.value.result
    assert states_of(result) == {"go": "done", "breaks": "failed", "beside": "cancelled"}
    assert result.asks == ()
    with pytest.raises(RunFailed):
        await home.resume(flow, result, {"beside": "b"})


async def test_an_ask_closed_by_a_failure_is_told() -> None:
    async with executed(failing(), 2) as run:
        events = run.events()
        await run.answer({"asks/go": 1})
        while (event := await anext(events)).kind != "ask_closed":
            pass
        assert event.path == "asks/beside"
        with pytest.raises(RunFailed):
            await run
    with pytest.raises(AnswerRefused):
        await run.answer({"asks/beside": "b"})


@node(ports=lambda config: Ports({"x": int}, {"text": str}))  # noqa: ARG005 - the same for each config
@counted
async def hesitant(inputs: dict[str, Any]) -> NodeOutput:
    """Fail once, then pause."""
    if this_firing().attempt == 1:
        raise ValueError("not yet")
    return NodeOutput(status="paused", metadata={"ask": {"prompt": "Well?", "show": inputs["x"]}})


@each_place
async def test_no_retry_repeats_a_pause(place: Place, tmp_path: Path) -> None:
    """B36: a node that pauses has not failed, and one that was answered is not called again."""
    with Flow() as f:
        f.output("text", f.add(hesitant.with_(retries=3), x=1).out.text)
    home = Home(place, tmp_path)
    with tallying() as tally:
        paused = await home.placed(f).run()
        result = await home.resume(f, paused, {"hesitant": "t"})
    assert (tally.paths, result["text"]) == (["hesitant", "hesitant"], "t")


@each_place
async def test_a_refused_answer_is_not_retried_either(place: Place, tmp_path: Path) -> None:
    with Flow() as f:
        f.output("text", f.add(hesitant.with_(retries=3), x=1).out.text)
    home = Home(place, tmp_path)
    with tallying() as tally:
        paused = await home.placed(f).run()
        with pytest.raises(AnswerRefused):
            await home.resume(f, paused, {"hesitant": 3})
    assert len(tally.paths) == 2


async def test_merge_takes_the_branch_that_was_asked() -> None:
    with Flow() as f:
        cond = f.when(f.add(src, x=1).out, lambda x: x > 0)
        f.output(
            "out", merge(f.ask(str, "?", show=cond.no, name="no").out, f.ask(str, "?", show=cond.yes).out)
        )
        f.output("both", f.add(node(both).with_(name="b"), left="l", right="r").out)
    paused = await f.run()
    assert [ask.id for ask in paused.asks] == ["ask"]
    assert dict((await f.resume(paused, {"ask": ""})).outputs) == {"out": "", "both": "l-r"}
