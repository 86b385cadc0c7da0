"""Raw nodes: their parameters, their ports, and what a NodeOutput says (S1.3, S3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from dataflow import Config, ExecutionContext, FlowInvalid, Lazy, NodeFailed, NodeOutput, Port, Ports, node
from dataflow.core.nodetype import derive
from dataflow.core.ports import InPort, OutPort, PortKind
from dataflow.core.signature import Shape
from dataflow.scheduler.arguments import check_status, outputs_of

CONTEXT_IN = InPort("context", ExecutionContext, PortKind.CONTEXT, None)
CONTEXT_OUT = OutPort("context", ExecutionContext, PortKind.CONTEXT, conditional=True)


class Names(Config):
    names: tuple[str, ...] = ("a",)


def named(config: Names) -> Ports:
    return Ports(dict.fromkeys(config.names, str), {"text": str, "rest": Port(str, conditional=True)})


def fixed(_: object) -> Ports:
    return Ports({"a": Port(int, default=3, lazy=True)}, {"text": str})


async def whole(inputs: Mapping[str, Any], context: ExecutionContext | None, config: Names) -> NodeOutput:
    return NodeOutput()


async def bare() -> NodeOutput:
    return NodeOutput()


async def without_config(inputs: Mapping[str, Any]) -> NodeOutput:
    return NodeOutput()


@pytest.mark.parametrize("declared_before", [False, True])
def test_ports_that_are_the_same_for_each_config_are_given_as_they_are(declared_before: bool) -> None:
    declare = node(ports=fixed(None))
    made = (declare(node(without_config)) if declared_before else declare(without_config)).type.configured(
        None
    )
    by_function = node(ports=fixed)(without_config).type.configured(None)
    assert (made.inputs, made.outputs, made.shape) == (by_function.inputs, by_function.outputs, Shape.RAW)
    assert [*made.outputs] == ["context", "text"]


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


@pytest.mark.parametrize("function", [bare, without_config])
def test_any_parameter_may_lack(function: Callable[..., Any]) -> None:
    assert set(derive(function).inputs) == {"context"}


def test_the_ports_follow_from_the_config() -> None:
    made = derive(whole, ports=named).configured(Names(names=("a", "b")))
    assert list(made.inputs) == ["context", "a", "b"]
    assert list(made.outputs) == ["context", "text", "rest"]
    assert made.outputs["rest"].conditional
    assert made.shape is Shape.RAW


def test_ports_without_a_config_are_fixed() -> None:
    made = derive(without_config, ports=fixed).configured(None)
    assert made.inputs["a"] == InPort("a", int, PortKind.DATA, 3, lazy=True)


NO_PARAMETER = (
    "{} is no parameter of a raw node, which returns a NodeOutput; choices: inputs, context, config"
)


@pytest.mark.parametrize(
    ("function", "problems"),
    [
        (odd_names, [NO_PARAMETER.format(f"odd_names: {name!r}") for name in ("text", "inputs", "settings")]),
        (by_position, [NO_PARAMETER.format("by_position: 'inputs'")]),
        (
            odd_config,
            ["odd_config: 'config' of a raw node is annotated with a subclass of Config, or not at all"],
        ),
    ],
)
def test_parameters_of_other_names_are_refused(function: Callable[..., Any], problems: list[str]) -> None:
    with pytest.raises(FlowInvalid) as caught:
        derive(function)
    assert list(caught.value.problems) == problems


@pytest.mark.parametrize(
    ("ports", "text"),
    [
        (Ports({"context": str}), "ports= names input 'context', which the function has already"),
        (Ports({"config": str}), "ports= names input 'config', which the function has already"),
        (Ports(outputs={"context": str}), "ports= names output 'context', which every raw node has already"),
    ],
)
def test_what_every_raw_node_has_is_not_named_again(ports: Ports, text: str) -> None:
    with pytest.raises(FlowInvalid) as caught:
        derive(whole, ports=lambda _: ports).configured(Names())
    assert caught.value.problems == (text,)


def test_what_a_raw_node_returns_is_given_to_its_ports() -> None:
    context = ExecutionContext("main")
    given = outputs_of("n", NAMED, NodeOutput({"text": "t"}, context=context))
    assert given == {"text": "t", "context": context}


LEFT_OUT = (
    "node 'n' left out its output port 'text', which it always has to give; declare it as "
    "Port(..., conditional=True) if it may be left out"
)


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        (
            {},
            LEFT_OUT,
        ),
        (
            {"text": "", "other": 1},
            "node 'n' returned the undeclared output port 'other'; choices: text, rest",
        ),
        (
            {"text": "", "context": 1},
            "node 'n' returned the undeclared output port 'context'; choices: text, rest",
        ),
    ],
)
def test_outputs_that_break_the_declared_ports_are_an_error(outputs: dict[str, Any], text: str) -> None:
    with pytest.raises(NodeFailed) as caught:
        outputs_of("n", NAMED, NodeOutput(outputs))
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (NodeOutput(status="error", metadata={"error": "no paper"}), "node 'n' failed: no paper"),
        (NodeOutput(status="error"), "node 'n' failed: it told no reason"),
        ({"text": ""}, "node 'n' returned dict; expected a NodeOutput"),
        (None, "node 'n' returned NoneType; expected a NodeOutput"),
    ],
)
def test_what_is_no_success_is_a_failure(result: object, text: str) -> None:
    with pytest.raises(NodeFailed) as caught:
        check_status("n", result)
    assert str(caught.value) == text


def test_a_node_output_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        NodeOutput().status = "error"  # type: ignore[misc]  # what the test is about


def test_a_status_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"the status of a NodeOutput cannot be 'done'; choices: success, paused, error"
    ):
        NodeOutput(status="done")  # type: ignore[arg-type]  # what the test is about


async def taking(one: Lazy[str], *others: Lazy[int], more: str = "") -> str:
    return one


def test_lazy_parameters_are_marked() -> None:
    assert [port.name for port in derive(taking).inputs.values() if port.lazy] == ["one", "others"]


async def test_a_raw_node_can_be_called_outside_a_run() -> None:
    assert await node(whole)({}, None, Names()) == NodeOutput()
