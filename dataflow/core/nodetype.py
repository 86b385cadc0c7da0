"""`NodeType`, a function with its ports and config: derive one from a signature, and configure it."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from dataflow.base.failure import text_of_error
from dataflow.base.scalars import plain_number
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
from dataflow.diagnostics.node_types import (
    CONFIG_FIELD_MISSING,
    CONFIG_FIELD_UNKNOWN,
    CONFIG_INVALID,
    CONFIG_NOT_TAKEN,
    CONFIG_REFUSED,
    COROUTINE_ADDED,
    FUNCTION_NOT_ASYNC,
    PORT_NAME_TAKEN,
    PORTS_FUNCTION_FAILED,
    PORTS_FUNCTION_INVALID,
    PORTS_NOT_TAKEN,
    SIGNATURE_UNREADABLE,
    THREADED_IS_ASYNC,
)
from dataflow.diagnostics.runs import ANSWER_MISMATCH
from dataflow.errors import DataflowError, FlowInvalid, NodeFailed
from dataflow.types.mismatches import PREFIX, requirement
from dataflow.types.validation import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic_core import ErrorDetails

    from dataflow.core.config import Config
    from dataflow.core.policy import Policy
    from dataflow.core.wiring import Nested
    from dataflow.diagnostics.diagnostic import Diagnostic

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
    """A registered function with its ports. Node types are compared by identity."""

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
    flow: Nested | None = None  # the subflow that it runs instead of a function (S1.1)
    flow_of: Callable[[Any], Nested] | None = None  # returns that subflow for a config
    documented: object = None  # the author's function, if a wrapper of it is called

    @property
    def text(self) -> str:
        """The docstring of the function."""
        return "" if self.function is never_called else inspect.getdoc(self.function) or ""

    @property
    def function(self) -> Any:
        """The author's function, which may be called by a wrapper."""
        return self.documented or self.call

    def renamed(self, id: str) -> NodeType:
        """Return the type with another id, as a pack or a document gives it."""
        return replace(self, id=id)

    def configured(self, config: Config | None) -> NodeType:
        """Return the type with the ports or the subflow for a config; raises FlowInvalid."""
        if self.flow_of is not None:
            flow = self.flow_of(config)
            made = flow.node_type
            return replace(self, flow=flow, flow_of=None, inputs=made.inputs, outputs=made.outputs)
        if self.ports_of is None:
            return self
        try:
            ports: object = self.ports_of(config)
        except Exception as error:
            raised = f"{type(error).__name__}: {text_of_error(error)}".removesuffix(": ")
            raise _invalid(self.id, PORTS_FUNCTION_FAILED(error=raised)) from error
        if not isinstance(ports, Ports):
            raise _invalid(self.id, PORTS_FUNCTION_INVALID(found=type(ports).__name__))
        if ports.inputs and not self.parameters.open:
            raise _invalid(self.id, PORTS_NOT_TAKEN(names=", ".join(ports.inputs)))
        inputs, taken = dict(self.inputs), (self.parameters.config_name, self.parameters.star)
        for name, given in ports.inputs.items():
            if name in inputs or name in taken:
                raise _invalid(self.id, PORT_NAME_TAKEN(name=name))
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
                raise _invalid(self.id, PORT_NAME_TAKEN(name=name))
            if isinstance(given, OutPort):
                outputs[name] = given
                continue
            port = given if isinstance(given, Port) else Port(given)
            outputs[name] = out_port(name, port.type, port.conditional, port.exit)
        return {"outputs": outputs, "shape": Shape.RAW if is_raw else Shape.PORTS}

    def read_config(
        self, given: Any, from_json: bool = False, folder: str = ""
    ) -> tuple[Config | None, list[ConfigProblem]]:
        """Validate a config, or create the default one; the second result lists the problems.

        `folder` is that of the document that contains the config; validators find it in their context.
        """
        model = self.parameters.config
        if model is None:
            return None, [] if given is MISSING else [ConfigProblem(CONFIG_NOT_TAKEN(".config"))]
        if isinstance(given, model):
            return given, []
        if given is MISSING and self.parameters.config_default is not MISSING:
            default: Any = self.parameters.config_default
            return default, []
        if given is not MISSING and not isinstance(given, dict):
            problem = CONFIG_INVALID(".config", expected=model.__name__, found=type(given).__name__)
            return None, [ConfigProblem(problem)]
        values: dict[str, Any] = given if isinstance(given, dict) else {}
        from dataflow.core.config import FOLDER  # loaded already, since there is a model

        try:
            if from_json:  # from a document: by strict JSON rules (S1.7)
                context = {FOLDER: folder}
                return model.model_validate_json(json.dumps(values), strict=True, context=context), []
            return model.model_validate(values), []
        except ValidationError as error:
            return None, config_problems(error, model)


def derive(
    function: Callable[..., Any],
    *,
    id: str = "",
    version: str = "1",
    policy: Policy | None = None,
    ports: Callable[[Any], Ports] | None = None,
    call: Callable[..., Any] | None = None,
) -> NodeType:
    """Derive a node type from a function's signature; `call` runs instead of the function.

    Raises FlowInvalid.
    """
    given: object = function
    if inspect.iscoroutine(given):
        given.close()
        raise _invalid(given.__name__, COROUTINE_ADDED(given.__name__))
    name = function_name(function)
    if call is not None and is_node_function(function):
        raise _invalid(name, THREADED_IS_ASYNC(name))
    if call is None and not is_node_function(function):
        raise _invalid(name, FUNCTION_NOT_ASYNC(name))
    hints, problems = hints_of(function)
    try:
        returns, yet_more = read_result(function, hints.get("return", Any))
        if returns.shape is Shape.RAW:
            parameters, more = read_raw_parameters(function, hints)
        else:
            parameters, more = read_parameters(function, hints, ports is not None)
    except (
        ValueError,
        NameError,
    ) as error:  # no signature, or an unresolved result
        raise _invalid(name, SIGNATURE_UNREADABLE(name, error=error)) from error
    returns = passing_on(returns, parameters)
    problems = [*problems, *more, *yet_more]
    if problems:
        raise FlowInvalid(name, [problem.within(name) for problem in problems], "node type")
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
    check_names(made, made.id)
    return made


def check_names(node_type: NodeType, named: str = "") -> None:
    """Raise FlowInvalid for outputs with the name of a port that every node has."""
    taken = [name for name in (DONE, ERROR) if name in node_type.outputs]
    if taken:
        raise _invalid(node_type.id, PORT_NAME_TAKEN(named, name=taken[0]))


def _invalid(name: str, problem: Diagnostic) -> FlowInvalid:
    return FlowInvalid(name, [problem], "node type")


class ConfigProblem(NamedTuple):
    """A problem of a config, and the path from the config to the invalid field."""

    problem: Diagnostic
    steps: tuple[str | int, ...] = ()


def config_problems(error: ValidationError, model: type[Config]) -> list[ConfigProblem]:
    """List the problems of a config, one for each invalid field."""
    return [problem for fault in error.errors() for problem in _config_problems(fault, model)]


def _config_problems(fault: ErrorDetails, model: type[Config]) -> list[ConfigProblem]:
    # Steps such as `<..>` distinguish the alternatives of a union.
    steps = tuple(
        step
        for step in fault["loc"]
        if not (isinstance(step, str) and step.startswith("<") and step.endswith(">"))
    )
    place = ".".join(map(str, (".config", *steps)))
    return [ConfigProblem(problem.within(place), steps) for problem in _problems_of(fault, model)]


def _problems_of(fault: ErrorDetails, model: type[Config]) -> Sequence[Diagnostic]:
    raised = fault["ctx"]["error"] if fault["type"] == "value_error" else None
    if isinstance(raised, DataflowError):
        return raised.diagnostics
    return [_problem_of(fault, model)]


def _problem_of(fault: ErrorDetails, model: type[Config]) -> Diagnostic:
    match fault["type"]:
        case "missing":
            return CONFIG_FIELD_MISSING()
        case "extra_forbidden":
            is_direct = len(fault["loc"]) == 1
            return CONFIG_FIELD_UNKNOWN(available=model.model_fields if is_direct else None)
        case "value_error":
            return CONFIG_REFUSED(error=fault["ctx"]["error"])
        case _ if fault["msg"].startswith(PREFIX):
            return CONFIG_INVALID(expected=requirement(fault["msg"]), found=described(fault["input"]))
        case _:
            return CONFIG_REFUSED(error=fault["msg"])


def opaque_type(id: str) -> NodeType:
    """Return a substitute for a type that must not be imported; any port is assumed to exist (S20, trust)."""
    return NodeType(id, never_called, Parameters(), {}, {}, Shape.SINGLE, is_opaque=True)


async def never_called() -> None:
    """Stand in for the function of a node type that calls none."""
    raise AssertionError("a flow is run in a frame, and a flow with opaque types never")


def checked_answer(answer: object, node: str, source: str) -> bool:
    """Return the result of a node's predicate or test; raises NodeFailed for anything but a bool (S16.3).

    A bool of another library, such as `numpy.bool`, is one.
    """
    if isinstance(answer, bool):
        return answer
    found = plain_number(answer)
    if not isinstance(found, bool):
        raise NodeFailed(node, ANSWER_MISMATCH(function=source, expected="bool", found=described(answer)))
    return found
