"""Flows: checking, running, settings; and functions that wire one (S1.1, S1.7)."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from dataflow import (
    SKIP,
    Config,
    DataflowError,
    Flow,
    FlowInvalid,
    ProcessMemo,
    RunFailed,
    Store,
    Telemetry,
)
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.core.policy import CLEANUP, Settings
from dataflow.core.ports import MISSING
from dataflow.core.wiring import Block, Literally, PlacedNode, Reference, Wiring
from tests.behaviour.flow_parts import inc
from tests.support.codes import codes


class Style(Config):
    words: int = 3


async def broken(n: int) -> int:
    raise ValueError("no")


def adding() -> Flow:
    with Flow("adding") as built:
        built.output("y", built.add(inc, x=built.input("n", int)).out)
    return built


async def test_a_flow_is_run_with_its_inputs() -> None:
    built = adding()
    assert built.check() == []
    assert (await built.run(n=1))["y"] == 2
    assert (await built.run(n=2))["y"] == 3


#: Each setting, a value and its default.
SETTINGS: dict[str, tuple[Any, Any]] = {
    "max_concurrency": (2, None), "limits": ({"web": 1}, None), "errors": ("continue", None),
    "timeout": (60, None), "cleanup": (1, CLEANUP), "keep": (False, True), "store": (Store.memory(), None),
    "memo": (ProcessMemo(), None), "telemetry": (Telemetry(content=True), None),
    "check_values": (True, False), "progress": (True, False),
}  # fmt: skip


def test_using_keeps_the_settings_that_it_is_not_given(tmp_path: Path) -> None:
    document = tmp_path / "one.yaml"
    document.write_text(
        "dataflow: 1\nusing: {timeout: 60, max_concurrency: 2, errors: continue, cleanup: 1}\n"
    )
    assert {field.name for field in fields(Settings)} == SETTINGS.keys()
    for built in (adding(), Flow.load(document)):
        flow, before = built, built.settings
        for name, (value, default) in SETTINGS.items():
            flow = flow.using(**{name: value})
            assert flow.using().settings == flow.settings
            assert flow.using(**{name: default}).settings == replace(flow.settings, **{name: default})
        given = {name: value for name, (value, _) in SETTINGS.items()}
        assert flow.settings == Settings(**given) != before


async def test_wrong_inputs_are_refused_together() -> None:
    built = Flow("f")
    built.input("n", int)
    built.input("style", Style, Style())
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["DF0820 input 'n'"]),
        ({"n": MISSING}, ["DF0820 input 'n'"]),
        *(({"n": value}, ["DF0601 input 'n'"]) for value in ("1", None, SKIP)),
        ({"m": 1}, ["DF0821 input 'm'", "DF0820 input 'n'"]),
        (
            {"a": 1, "n": 1.5, "b": 2, "style": 3},
            ["DF0821 input 'a'", "DF0821 input 'b'", "DF0601 input 'n'", "DF0601 input 'style'"],
        ),
    ]
    for inputs, problems in cases:
        with pytest.raises(FlowInvalid) as caught:
            await built.run(**inputs)
        assert (caught.value.flow, codes(caught.value)) == ("f", problems)
    assert caught.value.diagnostics[0].available == ("n", "style")


async def test_inputs_have_defaults_and_int_is_a_float() -> None:
    built = Flow("f")
    built.output("x", built.input("x", float, 1))
    built.output("y", built.input("y", list[int], [1]))
    first = await built.run(x=2)
    assert dict(first.outputs) == {"x": 2.0, "y": [1]}
    assert isinstance(first["x"], float)
    first["y"].append(2)
    assert dict((await built.run()).outputs) == {"x": 1.0, "y": [1]}


async def test_a_flow_with_problems_does_not_run() -> None:
    built = Flow("f")
    built.add(inc)  # type: ignore[call-arg]
    with pytest.raises(FlowInvalid, match=r"DF0301 inc\.x:"):
        await built.run()
    with pytest.raises(FlowInvalid, match=r"DF0301 inc\.x:"):
        built.run_sync()


async def test_an_empty_flow_completes() -> None:
    result = await Flow().run()
    assert (result.status, dict(result.outputs), dict(result.states)) == ("completed", {}, {})


async def test_an_input_may_have_any_name() -> None:
    for name in ("self", "flow", "a b", "größe"):
        built = Flow()
        built.output("y", built.input(name, int))
        assert (await built.run(**{name: 1}))["y"] == 1
        assert built.run_sync(**{name: 2})["y"] == 2


async def test_a_failure_that_nobody_awaited_is_raised_at_the_end() -> None:
    built = Flow("f")
    built.add(broken, n=1)
    with pytest.raises(RunFailed):
        async with built.start():
            pass


async def states(built: Flow) -> list[str]:
    with pytest.raises(RunFailed) as caught:
        await built.run()
    return [state.value for state in caught.value.result.states.values()]


async def test_using_gives_another_flow_and_changes_nothing() -> None:
    with Flow("f") as built:
        built.add(broken, n=1)
        built.add(inc, x=built.add(inc, x=1).out)
    other = built.using(errors="continue")
    assert await states(built) == ["failed", "cancelled", "not_run"]
    assert await states(other) == ["failed", "done", "done"]
    assert await states(other.using(errors=None)) == ["failed", "cancelled", "not_run"]


def test_an_invalid_setting_is_refused() -> None:
    wrong: list[dict[str, Any]] = [{"errors": "failfast"}, {"timeout": -1}, {"store": "runs.db"}, {"memo": 3}]
    for settings in wrong:
        with pytest.raises(ValueError, match=r"DF050[12]"):
            Flow().using(**settings)


async def test_runs_of_a_store_need_a_store() -> None:
    for call in (Flow().resume("r"), Flow().fork("r", changes={}), Flow().diff("r", "s")):
        with pytest.raises(DataflowError, match="DF0505 run r:"):
            await call


async def test_what_is_wired_later_is_in_both() -> None:
    built = Flow("f")
    step = built.add(inc, x=1)
    other = built.using(errors="continue")
    assert dict((await other.run()).outputs) == {}
    built.output("y", step.out)
    assert dict((await built.run()).outputs) == {"y": 2}
    assert dict((await other.run()).outputs) == {"y": 2}


async def test_a_flow_is_written_as_a_document_and_loaded(tmp_path: Path) -> None:
    file = tmp_path / "adding.json"
    file.write_text(json.dumps(adding().to_dict()), encoding="utf-8")
    loaded = Flow.load(file)
    assert loaded.name == "adding"
    assert (await loaded.run(n=1))["y"] == 2


async def test_a_flow_is_made_of_a_wiring() -> None:
    nodes = {"a": PlacedNode("a", type="t.inc", inputs={"x": Literally(1, is_json=True)})}
    wiring = Wiring("read", block=Block(dict(nodes), outputs={"y": Reference("a")}))
    made = Flow.from_wiring(wiring, lambda id: derive(inc, id=id), import_function)
    assert (made.name, made.wiring) == ("read", wiring)
    assert (await made.run())["y"] == 2
