"""Node types: a function, its ports and its config; and the node types that decide."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from dataflow.base.failure import text_of_error
from dataflow.base.wording import choices
from dataflow.core.policy import NO_POLICY
from dataflow.core.ports import DONE, ERROR, MISSING, InPort, OutPort, Port, Ports, in_port, out_port
from dataflow.core.signature import (
    Parameters,
    Shape,
    function_name,
    hints_of,
    is_node_function,
    passing_on,
    qualified_id,
    read_parameters,
    read_raw_parameters,
    read_result,
)
from dataflow.errors import FlowInvalid, NodeFailed
from dataflow.types.mismatches import PREFIX, requirement
from dataflow.types.validation import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic_core import ErrorDetails

    from dataflow.core.config import Config
    from dataflow.core.policy import Policy
    from dataflow.core.wiring import Nested


__all__ = [
    "IF_ID",
    "SWITCH_ID",
    "VALUE",
    "ConfigProblem",
    "NodeType",
    "check_names",
    "checked_answer",
    "config_problems",
    "derive",
    "never_called",
    "opaque_type",
]

IF_ID: Final = "control.if"
SWITCH_ID: Final = "control.switch"
VALUE: Final = "value"


@dataclass(frozen=True, slots=True, eq=False)
class NodeType:
    """A registered function with its ports. Two node types are the same only if they are one object."""

    id: str
    call: Callable[..., Any]
    parameters: Parameters
    inputs: Mapping[str, InPort]
    outputs: Mapping[str, OutPort]
    shape: Shape
    result: object = Any
    version: str = "1"
    policy: Policy = NO_POLICY
    ports_of: Callable[[Any], Ports] | None = None
    name: str = ""
    is_opaque: bool = False  # known by id only: any port may be connected
    flow: Nested | None = None  # the flow that it runs, in place of a function (S1.1)
    flow_of: Callable[[Any], Nested] | None = None  # makes that flow for a config
    documented: object = None  # the function as its author wrote it, where another is called

    @property
    def text(self) -> str:
        """What its author says of it: the docstring of the function."""
        function = self.documented or self.call
        return "" if function is never_called else inspect.getdoc(function) or ""

    def renamed(self, id: str) -> NodeType:
        """Return the type under the id that a pack or a document gives it."""
        return replace(self, id=id)

    def configured(self, config: Config | None) -> NodeType:
        """Return the type with the ports or the flow that a config gives it (S1.3); raises FlowInvalid."""
        if self.flow_of is not None:
            flow = self.flow_of(config)
            made = flow.node_type
            return replace(self, flow=flow, flow_of=None, inputs=made.inputs, outputs=made.outputs)
        if self.ports_of is None:
            return self
        try:
            ports: object = self.ports_of(config)
        except Exception as error:
            told = f"ports= raised {type(error).__name__}: {text_of_error(error)}".removesuffix(": ")
            raise _invalid(self.id, told) from error
        if not isinstance(ports, Ports):
            kind = type(ports).__name__
            raise _invalid(self.id, f"ports= returned {kind}; expected Ports(inputs, outputs)")
        if ports.inputs and not self.parameters.open:
            names = ", ".join(ports.inputs)
            told = f"ports= names inputs ({names}), but the function has no **kwargs for them"
            raise _invalid(self.id, told)
        inputs, taken = dict(self.inputs), (self.parameters.config_name, self.parameters.star)
        for name, given in ports.inputs.items():
            if name in inputs or name in taken:
                raise _invalid(self.id, f"ports= names input {name!r}, which the function has already")
            port = given if isinstance(given, Port) else Port(given)
            inputs[name] = in_port(name, port.type, port.default, many=port.many, lazy=port.lazy)
        configured = replace(self, inputs=inputs, **self._configured_outputs(ports))
        check_names(configured)
        return configured

    def _configured_outputs(self, ports: Ports) -> dict[str, Any]:
        if not ports.outputs:
            return {}
        is_raw = self.shape is Shape.RAW
        outputs = dict(self.outputs) if is_raw else {}
        for name, given in ports.outputs.items():
            if name in outputs:
                raise _invalid(self.id, f"ports= names output {name!r}, which every raw node has already")
            if isinstance(given, OutPort):
                outputs[name] = given
                continue
            port = given if isinstance(given, Port) else Port(given)
            outputs[name] = out_port(name, port.type, port.conditional, port.exit)
        return {"outputs": outputs, "shape": Shape.RAW if is_raw else Shape.PORTS}

    def read_config(
        self, given: Any, from_json: bool = False, folder: str = ""
    ) -> tuple[Config | None, list[ConfigProblem]]:
        """Check a config, or make the default one; the second result lists the problems.

        `folder` is that of the document that has the config: what is checked finds it in its context.
        """
        model, name = self.parameters.config, self.parameters.config_name
        if model is None:
            return None, [] if given is MISSING else [ConfigProblem("takes no config")]
        if isinstance(given, model):
            return given, []
        if given is MISSING and self.parameters.config_default is not MISSING:
            default: Any = self.parameters.config_default
            return default, []
        if given is not MISSING and not isinstance(given, dict):
            told = f"config {name!r} must be {model.__name__}, found {type(given).__name__}"
            return None, [ConfigProblem(told)]
        values: dict[str, Any] = given if isinstance(given, dict) else {}
        try:
            return _validated(model, values, from_json, folder), []
        except ValidationError as error:
            return None, config_problems(error, model)


def _validated(model: type[Config], given: dict[str, Any], from_json: bool, folder: str) -> Config:
    """Check a config: what comes from a document by strict JSON rules (S1.7)."""
    from dataflow.core.config import FOLDER  # whoever has a model has loaded it

    if from_json:
        return model.model_validate_json(json.dumps(given), strict=True, context={FOLDER: folder})
    return model.model_validate(given)


def derive(
    function: Callable[..., Any],
    *,
    id: str = "",
    version: str = "1",
    policy: Policy | None = None,
    ports: Callable[[Any], Ports] | None = None,
    call: Callable[..., Any] | None = None,
) -> NodeType:
    """Make a node type from a signature; `call` runs in place of the function. Raises FlowInvalid."""
    given: object = function
    if inspect.iscoroutine(given):
        given.close()
        raise _invalid(given.__name__, "pass the function itself, not what calling it gives")
    name = function_name(function)
    if call is not None and is_node_function(function):
        raise _invalid(name, f"{name} is an async function: use @node; @threaded is for code that blocks")
    if call is None and not is_node_function(function):
        raise _invalid(
            name, f"{name} is no async function: use `async def`, or @threaded for code that blocks"
        )
    hints, problems = hints_of(function)
    try:
        returns, yet_more = read_result(function, hints.get("return", Any))
        if returns.shape is Shape.RAW:
            parameters, more = read_raw_parameters(function, hints)
        else:
            parameters, more = read_parameters(function, hints, ports is not None)
    except (ValueError, NameError) as error:  # no signature, as of some builtins; or a field of the result
        raise _invalid(name, f"{name}: its ports cannot be read: {error}") from error
    returns = passing_on(returns, parameters)
    problems = [*problems, *more, *yet_more]
    if problems:
        raise FlowInvalid(name, [f"{name}: {problem}" for problem in problems], "node type")
    made = NodeType(
        id=id or qualified_id(function),
        call=call or function,
        parameters=parameters,
        inputs={port.name: port for port in parameters.ports},
        outputs={port.name: port for port in returns.ports},
        shape=returns.shape,
        result=returns.type,
        version=version,
        policy=policy or NO_POLICY,
        ports_of=ports,
        name=name,
        documented=None if call is None else function,
    )
    check_names(made, f"{made.id}: ")
    return made


def check_names(node_type: NodeType, named: str = "") -> None:
    """Refuse outputs that every node has; raises FlowInvalid."""
    taken = [name for name in (DONE, ERROR) if name in node_type.outputs]
    if taken:
        raise _invalid(node_type.id, f"{named}every node has a port {taken[0]!r}; rename the output")


def _invalid(name: str, problem: str) -> FlowInvalid:
    return FlowInvalid(name, [problem], "node type")


class ConfigProblem(NamedTuple):
    """What is wrong with a config, and the steps from it to the field that is at fault."""

    text: str
    steps: tuple[str | int, ...] = ()


def config_problems(error: ValidationError, model: type[Config]) -> list[ConfigProblem]:
    """Tell what is wrong with a config, a problem a field."""
    return [_config_problem(fault, model) for fault in error.errors()]


def _fault(fault: ErrorDetails, model: type[Config]) -> str:
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            known = f"; {choices(model.model_fields)}" if len(fault["loc"]) == 1 else ""
            return f"is not known here{known}"
        case "value_error":
            return str(fault["ctx"]["error"])
        case _ if fault["msg"].startswith(PREFIX):
            return f"expected {requirement(fault['msg'])}, found {described(fault['input'])}"
        case _:
            return fault["msg"]


def _config_problem(fault: ErrorDetails, model: type[Config]) -> ConfigProblem:
    steps = tuple(step for step in fault["loc"] if not _is_tag(step))
    name = ".".join(map(str, steps))
    return ConfigProblem(f"config{f' {name}' if name else ''}: {_fault(fault, model)}", steps)


def _is_tag(step: int | str) -> bool:
    """Tell whether a step is one of those, `<..>`, that tell alternatives apart."""
    return isinstance(step, str) and step.startswith("<") and step.endswith(">")


def opaque_type(id: str) -> NodeType:
    """Stand in for a type that is not to be imported; every port is taken to exist (S20, trust)."""
    return NodeType(id, never_called, Parameters(), {}, {}, Shape.SINGLE, is_opaque=True)


async def never_called() -> None:
    """Stand in for the function of what runs none."""
    raise AssertionError("a flow is run in a frame, and a flow with opaque types never")


def checked_answer(answer: object, node: str, source: str) -> bool:
    """Return the answer of a node's predicate or test; raises NodeFailed for anything but a bool (S16.3)."""
    if not isinstance(answer, bool):
        raise NodeFailed(node, f"got {described(answer)} from its {source}; expected a bool")
    return answer
