"""Raw nodes: their parameters, their ports, and what a NodeOutput says (S1.3, S3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from dataflow import Config, ExecutionContext, FlowInvalid, NodeFailed, NodeOutput, Port, Ports
from dataflow.core.nodetype import derive
from dataflow.core.ports import InPort, OutPort, PortKind
from dataflow.core.signature import Shape
from dataflow.scheduler.arguments import check_status, outputs_of
from tests.support.codes import codes

CONTEXT_IN = InPort("context", ExecutionContext, PortKind.CONTEXT, None)
CONTEXT_OUT = OutPort("context", ExecutionContext, PortKind.CONTEXT, conditional=True)


class Names(Config):
    names: tuple[str, ...] = ("a",)


def named(config: Names) -> Ports:
    return Ports(dict.fromkeys(config.names, str), {"text": str, "rest": Port(str, conditional=True)})


async def whole(inputs: Mapping[str, Any], context: ExecutionContext | None, config: Names) -> NodeOutput:
    return NodeOutput()


async def bare() -> NodeOutput:
    return NodeOutput()


async def without_config(inputs: Mapping[str, Any]) -> NodeOutput:
    return NodeOutput()


async def odd_names(text: str, *inputs: str, settings: Names) -> NodeOutput:
    return NodeOutput()


async def by_position(inputs: Mapping[str, Any], /) -> NodeOutput:
    return NodeOutput()


async def odd_config(config: Names | None) -> NodeOutput:
    return NodeOutput()


NAMED = derive(whole, id="pack.whole", ports=named).configured(Names())


def test_a_function_that_returns_a_node_output_is_raw() -> None:
    made = derive(whole)
    assert made.shape is Shape.RAW
    assert made.parameters.config is Names
    assert (dict(made.inputs), dict(made.outputs)) == ({"context": CONTEXT_IN}, {"context": CONTEXT_OUT})
    for function in (bare, without_config):
        assert set(derive(function).inputs) == {"context"}


def test_parameters_and_ports_of_other_names_are_refused() -> None:
    functions: dict[Callable[..., Any], list[str]] = {
        odd_names: ["DF0409 odd_names"] * 3,
        by_position: ["DF0409 by_position"],
        odd_config: ["DF0410 odd_config.config"],
    }
    for function, problems in functions.items():
        with pytest.raises(FlowInvalid) as caught:
            derive(function)
        assert codes(caught.value) == problems
    taken = [Ports({"context": str}), Ports({"config": str}), Ports(outputs={"context": str})]
    for ports in taken:
        with pytest.raises(FlowInvalid) as caught:
            derive(whole, ports=lambda _, ports=ports: ports).configured(Names())  # type: ignore[misc]
        assert codes(caught.value) == ["DF0408"]


def test_what_a_raw_node_returns_is_given_to_its_ports() -> None:
    context = ExecutionContext("main")
    given = outputs_of("n", NAMED, NodeOutput({"text": "t"}, context=context))
    assert given == {"text": "t", "context": context}


def test_outputs_that_break_the_declared_ports_and_other_results_are_failures() -> None:
    outputs: list[tuple[dict[str, Any], str]] = [
        ({}, "DF0807 n.text"),
        ({"text": "", "other": 1}, "DF0806 n.other"),
        ({"text": "", "context": 1}, "DF0806 n.context"),
    ]
    for given, problem in outputs:
        with pytest.raises(NodeFailed) as caught:
            outputs_of("n", NAMED, NodeOutput(given))
        assert codes(caught.value) == [problem]
    results: list[tuple[object, str]] = [
        (NodeOutput(status="error", metadata={"error": "no paper"}), "DF0809 n"),
        (NodeOutput(status="error"), "DF0809 n"),
        ({"text": ""}, "DF0805 n"),
        (None, "DF0805 n"),
    ]
    for result, problem in results:
        with pytest.raises(NodeFailed) as caught:
            check_status("n", result)
        assert codes(caught.value) == [problem]
