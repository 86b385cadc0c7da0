"""Functions that wire a flow: called like the function, traced once (S1.1)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import anyio
import pytest

from dataflow import Diagnostic, Flow, FlowInvalid, NodeState, PortMisuse, TypedFlow, flow, merge, node
from tests.behaviour.flow_parts import inc
from tests.support.codes import codes


class Parts(NamedTuple):
    title: str
    size: int


calls: list[str] = []


@flow
def double_inc(f: Flow, n: int, again: bool = True) -> int:
    """Add two."""
    calls.append("double_inc")
    first = f.add(inc, x=n)
    return f.add(inc, x=first.out).out


@flow
def parted(f: Flow, n: int) -> Parts:
    step = f.add(inc, x=n)
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
        "double_inc", "double_inc", "Add two.",
    )  # fmt: skip


def test_whatever_is_used_first_traces_the_function() -> None:
    uses: list[tuple[Callable[[Any], object], object]] = [
        (lambda typed: list(typed.inputs), ["n", "again"]),
        (lambda typed: typed.check(), []),
        (lambda typed: list(typed.wiring.block.nodes), ["inc", "inc_2"]),
        (lambda typed: '"inc_2"' in typed.to_mermaid(), True),
        (lambda typed: typed.run_sync(n=1)["out"], 3),
        (lambda typed: list(typed.using(errors="continue").inputs), ["n", "again"]),
        (lambda typed: typed.name, "double_inc"),
    ]
    for use, found in uses:
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
    with pytest.raises(KeyError, match="out"):
        await skipping(3)


async def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        await double_inc()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="too many positional arguments"):
        await double_inc(1, True, 3)  # type: ignore[call-arg]
    with pytest.raises(FlowInvalid) as caught:
        await double_inc("1")  # type: ignore[arg-type]
    assert codes(caught.value) == ["DF0601 input 'n'"]


def test_a_function_that_is_no_flow_is_a_problem() -> None:
    def unresolved(f: Flow, n: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821 - as users may
        return f.add(inc, x=n).out

    functions: dict[str, Callable[..., Any]] = {
        "Step": lambda f: f.add(inc, x=1),
        "NoneType": lambda _f: None,
        "int": lambda _f: 3,
        "tuple": lambda f: (f.add(inc, x=1).out, 3),
    }
    for kind, function in functions.items():
        [problem] = flow(function).check()
        assert isinstance(problem, Diagnostic)
        assert (problem.code, problem.place, problem.found) == ("DF0223", "<lambda>", kind)
    assert codes(flow(unresolved).check()) == ["DF0404 unresolved.n"]
    for function in (lambda _f, *numbers: numbers, lambda _f, **numbers: numbers):
        assert "DF0222 <lambda>" in codes(flow(function).check())


def test_a_misuse_of_a_port_is_told_each_time() -> None:
    @flow
    def misused(f: Flow, n: int) -> int:
        return f.add(inc, x=n + 1).out

    for _ in range(2):
        with pytest.raises(PortMisuse):
            misused.check()
        with pytest.raises(PortMisuse):
            misused.run_sync(n=1)


async def test_a_parameter_by_position_only_is_an_input() -> None:
    @flow
    def positional(f: Flow, n: int, /) -> int:
        return f.add(inc, x=n).out

    assert await positional(1) == 2


async def test_a_typed_flow_has_no_state_between_runs() -> None:
    results: list[int] = []

    async def run(n: int) -> None:
        results.append(await double_inc(n))

    async with anyio.create_task_group() as group:
        for n in range(5):
            group.start_soon(run, n)
    assert sorted(results) == [2, 3, 4, 5, 6]


def test_threads_may_use_a_flow_for_the_first_time_together() -> None:
    for attempt in range(10):
        traced: TypedFlow[[int, bool], int] = TypedFlow(double_inc._fn)
        together = threading.Barrier(4)
        found: list[int] = []

        def use() -> None:
            together.wait()  # noqa: B023 - joined below
            found.append(traced.run_sync(n=attempt)["out"])  # noqa: B023 - as above

        threads = [threading.Thread(target=use) for _ in range(together.parties)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [attempt + 2] * together.parties


async def test_a_disabled_node_of_a_typed_flow_skips_its_output() -> None:
    @flow
    def off(f: Flow, n: int) -> int:
        return f.add(node(inc).with_(enabled=False), x=n).out

    result = await off.run(n=1)
    assert dict(result.outputs) == {}
    assert result.states["inc"] is NodeState.SKIPPED
