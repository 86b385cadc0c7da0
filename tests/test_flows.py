"""Flows: checking, running, settings; and functions that wire one (S1.1, S1.7)."""

from __future__ import annotations

import contextvars
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from dataflow import (
    Config,
    Flow,
    FlowInvalid,
    NodeState,
    PortMisuse,
    RunFailed,
    TypedFlow,
    flow,
    merge,
    node,
)
from dataflow.functions import load_function
from dataflow.nodetype import derive
from dataflow.packs import find_type
from dataflow.wiring import Block, Literally, PlacedNode, Reference, Wiring


class Parts(NamedTuple):
    title: str
    size: int


class Style(Config):
    words: int = 3


async def inc(n: int) -> int:
    return n + 1


async def broken(n: int) -> int:
    raise ValueError("no")


async def thread_name(n: int) -> str:
    return threading.current_thread().name


def adding() -> Flow:
    with Flow("adding") as built:
        built.output("y", built.add(inc, n=built.input("n", int)).out)
    return built


async def test_a_flow_is_run_with_its_inputs() -> None:
    built = adding()
    assert built.check() == []
    assert (await built.run(n=1))["y"] == 2
    assert (await built.run(n=2))["y"] == 3


@pytest.mark.parametrize(
    ("inputs", "problems"),
    [
        ({}, ["input 'n' is required"]),
        ({"n": "1"}, ["input 'n': expected int, found str '1'"]),
        ({"n": None}, ["input 'n': expected int, found None"]),
        ({"m": 1}, ["there is no input 'm'; choices: n, style", "input 'n' is required"]),
        (
            {"a": 1, "n": 1.5, "b": 2, "style": 3},
            [
                "there is no input 'a'; choices: n, style",
                "there is no input 'b'; choices: n, style",
                "input 'n': expected int, found float 1.5",
                "input 'style': expected Style, found int 3",
            ],
        ),
    ],
)
async def test_wrong_inputs_are_told_together(inputs: dict[str, Any], problems: list[str]) -> None:
    built = Flow("f")
    built.input("n", int)
    built.input("style", Style, Style())
    with pytest.raises(FlowInvalid) as caught:
        await built.run(**inputs)
    assert (caught.value.flow, list(caught.value.problems)) == ("f", problems)


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
    with pytest.raises(FlowInvalid, match=r"port 'inc\.n' is required"):
        await built.run()
    with pytest.raises(FlowInvalid):
        built.run_sync()


async def test_an_empty_flow_completes() -> None:
    result = await Flow().run()
    assert (result.status, dict(result.outputs), dict(result.states)) == ("completed", {}, {})


async def test_a_run_can_be_followed_and_awaited() -> None:
    async with adding().start(n=1) as run:
        result = await run
    assert result["y"] == 2
    assert run.id == result.run_id
    assert run.status == "completed"


async def test_a_failure_that_nobody_awaited_is_raised_at_the_end() -> None:
    built = Flow("f")
    built.add(broken, n=1)
    with pytest.raises(RunFailed):
        async with built.start():
            pass


def test_run_sync_runs_a_flow_outside_an_event_loop() -> None:
    assert adding().run_sync(n=1)["y"] == 2


async def test_run_sync_runs_a_flow_inside_an_event_loop_in_a_thread_of_its_own() -> None:
    built = Flow("f")
    built.output("name", built.add(thread_name, n=1).out)
    assert built.run_sync()["name"] == "dataflow run_sync f"


async def test_run_sync_carries_contextvars_along() -> None:
    seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="nothing")

    async def look(n: int) -> str:
        return seen.get()

    built = Flow("f")
    built.output("seen", built.add(look, n=1).out)
    token = seen.set("the caller's")
    assert built.run_sync()["seen"] == "the caller's"
    seen.reset(token)


async def test_run_sync_raises_what_a_run_raises() -> None:
    built = Flow("f")
    built.add(broken, n=1)
    with pytest.raises(RunFailed) as caught:
        built.run_sync()
    assert isinstance(caught.value.__cause__, ValueError)


def test_run_sync_raises_outside_an_event_loop_too() -> None:
    built = Flow("f")
    built.add(broken, n=1)
    with pytest.raises(RunFailed):
        built.run_sync()
    with pytest.raises(FlowInvalid):
        adding().run_sync()


def going_on() -> Flow:
    with Flow("f") as built:
        built.add(broken, n=1)
        second = built.add(inc, n=1)
        built.add(inc, n=second.out)
    return built


async def states(built: Flow) -> list[str]:
    with pytest.raises(RunFailed) as caught:
        await built.run()
    return [state.value for state in caught.value.result.states.values()]


async def test_using_gives_another_flow_and_changes_nothing() -> None:
    built = going_on()
    other = built.using(errors="continue")
    assert await states(built) == ["failed", "cancelled", "not_run"]
    assert await states(other) == ["failed", "done", "done"]
    assert await states(other.using()) == ["failed", "cancelled", "not_run"]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"errors": "failfast"}, "errors must be one of fail_fast, continue, found 'failfast'"),
        ({"max_concurrency": 0}, "max_concurrency must be a whole number of 1 or more, found 0"),
        ({"timeout": -1}, "timeout must be a positive number or None, found -1"),
        ({"limits": {"web": 0}}, "limit 'web' must be a whole number of 1 or more, found 0"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        Flow().using(**settings)
    assert str(caught.value) == text


async def test_what_is_wired_later_is_in_both() -> None:
    built = Flow("f")
    step = built.add(inc, n=1)
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


def test_a_document_with_problems_is_not_loaded(tmp_path: Path) -> None:
    document = adding().to_dict()
    document["outputs"] = {"y": "nothing"}
    file = tmp_path / "adding.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FlowInvalid, match="no node 'nothing'"):
        Flow.load(file)


async def test_a_flow_is_made_of_a_wiring() -> None:
    nodes = {"a": PlacedNode("a", type="t.inc", inputs={"n": Literally(1, is_json=True)})}
    wiring = Wiring("read", block=Block(dict(nodes), outputs={"y": Reference("a")}))
    made = Flow.from_wiring(wiring, lambda id: derive(inc, id=id), load_function)
    assert (made.name, made.wiring) == ("read", wiring)
    assert (await made.run())["y"] == 2


def test_constants_of_a_document_are_read_by_json_rules() -> None:
    async def taking(style: tuple[int, ...], n: int) -> int:
        return n

    def made(value: object) -> Flow:
        inputs: dict[str, Any] = {
            "style": Literally([1, 2], is_json=True),
            "n": Literally(value, is_json=True),
        }
        nodes = {"a": PlacedNode("a", type=derive(taking), inputs=inputs)}
        return Flow.from_wiring(Wiring(block=Block(dict(nodes))), find_type, load_function)

    assert made(1).check() == []
    assert made("1").check() == ["port 'a.n': expected int, found str '1'"]


# --- functions that wire a flow


calls: list[str] = []


@flow
def double_inc(f: Flow, n: int, again: bool = True) -> int:
    """Add two."""
    calls.append("double_inc")
    first = f.add(inc, n=n)
    return f.add(inc, n=first.out).out


@flow
def parted(f: Flow, n: int) -> Parts:
    step = f.add(inc, n=n)
    return Parts(merge("title", "x"), step.out)


@flow
def skipping(f: Flow, n: int) -> int:
    return f.when(n, lambda value: value > 3).yes


async def test_a_typed_flow_is_called_like_its_function() -> None:
    assert await double_inc(1) == 3
    assert await double_inc(n=2, again=False) == 4
    assert await parted(1) == Parts("title", 2)
    assert isinstance(await parted(1), Parts)


async def test_the_function_is_called_once() -> None:
    calls.clear()
    traced = TypedFlow(double_inc._fn)
    for _ in range(2):
        await traced(1)
        await traced.run(n=1)
    traced.check()
    assert calls == ["double_inc"]


def test_a_typed_flow_keeps_name_and_docstring() -> None:
    assert isinstance(double_inc, TypedFlow)
    assert (double_inc.name, double_inc.__name__, double_inc.__doc__) == (
        "double_inc",
        "double_inc",
        "Add two.",
    )


USES: list[tuple[str, Callable[[Any], object], object]] = [
    ("inputs", lambda typed: list(typed.inputs), ["n", "again"]),
    ("check", lambda typed: typed.check(), []),
    ("wiring", lambda typed: list(typed.wiring.block.nodes), ["inc", "inc_2"]),
    ("to_mermaid", lambda typed: '"inc_2"' in typed.to_mermaid(), True),
    ("run_sync", lambda typed: typed.run_sync(n=1)["out"], 3),
    ("using", lambda typed: list(typed.using(errors="continue").inputs), ["n", "again"]),
    ("name", lambda typed: typed.name, "double_inc"),
]


@pytest.mark.parametrize(("use", "found"), [case[1:] for case in USES], ids=[case[0] for case in USES])
def test_whatever_is_used_first_traces_the_function(use: Callable[[Any], object], found: object) -> None:
    traced = TypedFlow(double_inc._fn)
    assert use(traced) == found
    assert traced.check() == []


async def test_settings_may_be_given_before_the_first_use() -> None:
    traced = TypedFlow(double_inc._fn)
    other = traced.using(errors="continue")
    assert await other(1) == 3
    assert await traced(2) == 4


async def test_the_outputs_of_a_typed_flow_have_names() -> None:
    assert dict((await double_inc.run(n=1)).outputs) == {"out": 3}
    assert dict((await parted.run(n=1)).outputs) == {"title": "title", "size": 2}


async def test_an_output_that_was_skipped_is_told() -> None:
    assert await skipping(4) == 4
    with pytest.raises(KeyError) as caught:
        await skipping(3)
    assert caught.value.args == ("output 'out' has no value: when: exit 'yes' not taken",)


async def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        await double_inc()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="too many positional arguments"):
        await double_inc(1, True, 3)  # type: ignore[call-arg]
    with pytest.raises(FlowInvalid) as caught:
        await double_inc("1")  # type: ignore[arg-type]
    assert caught.value.problems == ("input 'n': expected int, found str '1'",)


def returns_step(f: Flow) -> Any:
    return f.add(inc, n=1)


def returns_nothing(f: Flow) -> None:
    f.add(inc, n=1)


def returns_constant(f: Flow) -> int:
    return 3


def returns_plain_tuple(f: Flow) -> Any:
    return f.add(inc, n=1).out, 3


EXPECTED = "expected a port, or a NamedTuple of ports for several outputs"


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (returns_step, "Step"),
        (returns_nothing, "NoneType"),
        (returns_constant, "int"),
        (returns_plain_tuple, "tuple"),
    ],
)
def test_a_function_returns_a_port_or_a_named_tuple_of_ports(function: Callable[..., Any], kind: str) -> None:
    name = function.__name__
    assert flow(function).check() == [f"@flow function {name!r} returned {kind}; {EXPECTED}"]


def test_a_misuse_of_a_port_is_told_each_time() -> None:
    @flow
    def misused(f: Flow, n: int) -> int:
        return f.add(inc, n=n + 1).out

    for _ in range(2):
        with pytest.raises(PortMisuse):
            misused.check()
        with pytest.raises(PortMisuse):
            misused.run_sync(n=1)


def test_annotations_that_cannot_be_resolved_are_problems() -> None:
    def function(f: Flow, n: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821 - as users may
        return f.add(inc, n=n).out

    assert flow(function).check() == [
        (
            "annotation 'Nowhere' of 'n' cannot be resolved (name 'Nowhere' is not defined); "
            "it must be importable from the function's module"
        )
    ]


async def test_a_parameter_by_position_only_is_an_input() -> None:
    @flow
    def positional(f: Flow, n: int, /) -> int:
        return f.add(inc, n=n).out

    assert await positional(1) == 2


@pytest.mark.parametrize(
    "function", [lambda _f, *numbers: numbers, lambda _f, **numbers: numbers], ids=["*args", "**kwargs"]
)
def test_open_parameters_are_a_problem(function: Callable[..., Any]) -> None:
    assert any("numbers" in problem for problem in flow(function).check())


async def test_a_typed_flow_has_no_state_between_runs() -> None:
    results: list[int] = []

    async def run(n: int) -> None:
        results.append(await double_inc(n))

    async with anyio.create_task_group() as group:
        for n in range(5):
            group.start_soon(run, n)
    assert sorted(results) == [2, 3, 4, 5, 6]


async def test_a_disabled_node_of_a_typed_flow_skips_its_output() -> None:
    @flow
    def off(f: Flow, n: int) -> int:
        return f.add(node(inc).with_(enabled=False), n=n).out

    result = await off.run(n=1)
    assert dict(result.outputs) == {}
    assert result.states["inc"] is NodeState.SKIPPED
