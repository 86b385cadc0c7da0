"""Answers: which are taken, which are refused and why, and what a refused one leaves as it was (S11.2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal, NamedTuple

import anyio
import pytest

from dataflow import (
    AnswerRefused,
    DataflowError,
    Flow,
    RunTaken,
    Store,
)
from dataflow.base.markers import MISSING, SKIP
from dataflow.stores import Answer
from dataflow_control import approval
from tests.behaviour.asking_flows import raw, root, together
from tests.behaviour.asks import PLACES, Home, Place
from tests.behaviour.nodes import ident
from tests.behaviour.table import typed
from tests.support.codes import codes

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
        (bool, "yes", ": expected bool, found str 'yes'"),
        (bool, 1, ": expected bool, found int 1"),
        (int, "1", ": expected int, found str '1'"),
        (int, 1.5, ": expected int, found float 1.5"),
        (str, None, ": expected str, found None"),
        (list[int], [1, "2"], "[1]: expected int, found str '2'"),
        (Literal["red", "blue"], "green", ": expected Literal['red', 'blue'], found str 'green'"),
        (Size, {"width": 1, "height": "x"}, ".height: expected a valid integer, found str 'x'"),
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
    assert str(caught.value) == f"DF0601 answer to 'ask'{told}"
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
    ("answer", "problem"),
    [
        ({"text": "t"}, "DF0833 answer to 'partly'.number"),
        ({"text": "t", "number": 1, "given": 2}, "DF0832 answer to 'partly'.given"),
        ({"text": "t", "number": "1"}, "DF0601 answer to 'partly'.number"),
        ("t", "DF0601 answer to 'partly'"),
    ],
)
async def test_an_answer_for_several_ports_names_them(answer: object, problem: str) -> None:
    flow = raw()
    paused = await flow.run(x=1)
    with pytest.raises(AnswerRefused) as caught:
        await flow.resume(paused, {"partly": answer})
    assert codes(caught.value) == [problem]


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
    with pytest.raises(AnswerRefused, match="DF0601 answer to 'two':"):
        await home.resume(flow, paused, {"one": "a", "two": 2})
    result = await home.resume(flow, paused, {"two": "b"})
    assert sorted(ask.id for ask in result.asks) == ["one", "three"]


@each_place
async def test_an_ask_that_is_not_there_is_refused_with_those_that_are(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), together()
    paused = await home.placed(flow).run()
    with pytest.raises(AnswerRefused) as caught:
        await home.resume(flow, paused, {"four": "a"})
    assert codes(caught.value) == ["DF0828 answer to 'four'"]
    assert caught.value.diagnostics[0].available == ("one", "two", "three")


@each_place
async def test_a_second_answer_to_one_ask_is_refused(place: Place, tmp_path: Path) -> None:
    home, flow = Home(place, tmp_path), together()
    paused = await home.placed(flow).run()
    paused = await home.resume(flow, paused, {"one": "a"})
    with pytest.raises(AnswerRefused):
        await home.resume(flow, paused, {"one": "b"})
    result = await home.resume(flow, paused, {"two": "b", "three": "c"})
    assert result["all"] == "a|b|c"


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


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        (int, "true", ": expected int, found bool True"),
        (float, "false", ": expected float, found bool False"),
        (list[int], "[1, true]", "[1]: expected a valid integer, found bool True"),
    ],
)
async def test_an_answer_in_the_inbox_is_read_by_the_strict_rules_of_json(
    kind: object, text: str, told: str
) -> None:
    store = Store.memory()
    flow = asking(kind).using(store=store)
    paused = await flow.run()
    store.answer(paused.run_id, Answer("ask", text))
    again = await flow.resume(paused)
    assert again.status == "paused"
    assert again.warnings == (f"DF0601 answer to 'ask'{told}",)


@pytest.mark.parametrize("marker", [SKIP, MISSING], ids=["SKIP", "MISSING"])
@each_place
async def test_what_stands_for_the_lack_of_a_value_is_no_answer(
    marker: object, place: Place, tmp_path: Path
) -> None:
    home, flow = Home(place, tmp_path), asking(Any)
    paused = await home.placed(flow).run()
    with pytest.raises(AnswerRefused, match="DF0601 answer to 'ask':"):
        await home.resume(flow, paused, {"ask": marker})
