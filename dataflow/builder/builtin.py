"""The built-in node types: branches, asks and conversations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import (
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from dataflow.core.config import Config, FunctionReference, TypeField
from dataflow.core.context import CONTEXT_ID, ExecutionContext
from dataflow.core.firing import this_firing
from dataflow.core.inputs import ASK, ASK_ID, MOST_SECONDS, USER_INPUT_ID
from dataflow.core.nodetype import IF_ID, SWITCH_ID, VALUE, NodeType, checked_answer, derive
from dataflow.core.ports import MISSING, InPort, NodeOutput, OutPort, Port, PortKind, Ports
from dataflow.core.signature import Parameters, Shape
from dataflow.core.wiring import node_of_path
from dataflow.diagnostics.node_types import DECISION_INVALID, DEFAULT_WITHOUT_EXPIRY
from dataflow.diagnostics.runs import CASE_UNKNOWN
from dataflow.errors import ArgumentInvalid, NodeFailed, ValueMismatch
from dataflow.types.validation import check_json, check_value, described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["BUILT_IN", "IF", "SWITCH", "Choose", "Decide"]

SHOW: Final = "show"
TYPE: Final = "the type of the answer: a JSON Schema, or the name of a type"


class Branching(Config):
    """Base of the configs of branches: fields that are not given are not written."""

    @model_serializer(mode="wrap")
    def _given(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if value is not None}


class Decide(Branching):
    """Config of `control.if`: a function of the value that returns a bool, or an expression over `value`."""

    predicate: FunctionReference | None = None
    condition: str | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.predicate is None) == (self.condition is None):
            raise ArgumentInvalid(DECISION_INVALID(expected="one of `predicate` and `condition`"))
        return self

    def decided_by(self, condition: Callable[[Any], bool]) -> Decide:
        """Return the config with its condition compiled."""
        return self.model_copy(update={"predicate": condition})


Cases = Annotated[
    Annotated[tuple[str, ...], Tag("<names>")] | Annotated[dict[str, str], Tag("<conditions>")],
    Discriminator(lambda value: "<conditions>" if isinstance(value, dict) else "<names>"),
]


class Choose(Branching):
    """Config of `control.switch`: a function of the value that names a case; `default` may be one.

    Alternatively the cases with their conditions, expressions over `value`: the first that holds, in order.
    """

    pick: FunctionReference | None = None
    cases: Cases

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.pick is None) != isinstance(self.cases, dict):
            expected = "`pick` with a list of `cases`, or `cases` with conditions"
            raise ArgumentInvalid(DECISION_INVALID(expected=expected))
        return self

    def decided_by(self, conditions: Mapping[str, Callable[[Any], bool]]) -> Choose:
        """Return the config with its conditions compiled."""

        def pick(value: Any) -> str | None:
            return next((case for case, holds in conditions.items() if holds(value)), None)

        return self.model_copy(update={"pick": pick})


async def _decide(config: Decide, value: Any) -> Mapping[str, Any]:
    """Pass the value to `yes` or to `no`, as the predicate or the condition decides.

    Fails with NodeFailed if the answer is not a bool, with ExpressionError if the condition cannot be
    evaluated; strings and numbers are not converted to a bool.
    """
    assert config.predicate is not None, "a condition is compiled into it"
    answer = checked_answer(config.predicate(value), node_of_path(this_firing().path), "predicate")
    return {"yes" if answer else "no": value}


async def _choose(config: Choose, value: Any) -> Mapping[str, Any]:
    """Pass the value to the output of one case: the one picked, or the first whose condition holds.

    If no case is picked, the value goes to `default` if that is a case, else every output is a skip. Fails
    with NodeFailed for a picked name that is not a case.
    """
    assert config.pick is not None, "conditions are compiled into it"
    case = config.pick(value)
    if case is None:
        return {}
    if case in config.cases:
        return {case: value}
    if "default" in config.cases:
        return {"default": value}
    problem = CASE_UNKNOWN(found=described(case), available=config.cases)
    raise NodeFailed(node_of_path(this_firing().path), problem)


def _exits(names: Iterable[str]) -> dict[str, OutPort]:
    """Return the outputs of a branch: conditional ports that pass the value on, with its type."""
    return {
        name: OutPort(name, Any, PortKind.DATA, conditional=True, same_as=VALUE, exit=name) for name in names
    }


def _branching(
    id: str,
    call: Callable[..., Any],
    config: type[Config],
    exits: tuple[str, ...] = (),
    ports_of: Callable[[Any], Ports] | None = None,
) -> NodeType:
    return NodeType(
        id=id,
        call=call,
        parameters=Parameters(
            ports=(InPort(VALUE, Any, PortKind.DATA),),
            positional=("config", VALUE),
            config=config,
            config_name="config",
        ),
        inputs={VALUE: InPort(VALUE, Any, PortKind.DATA)},
        outputs=_exits(exits),
        shape=Shape.PORTS,
        ports_of=ports_of,
        name=id.partition(".")[2],
    )


IF: Final = _branching(IF_ID, _decide, Decide, ("yes", "no"))
SWITCH: Final = _branching(
    SWITCH_ID, _choose, Choose, ports_of=lambda config: Ports(outputs=_exits(config.cases))
)


class Question(Config):
    """Config of `control.ask`: the prompt, and the type of the answer."""

    prompt: str = Field(description="what is asked")
    type: TypeField = Field(default={}, validate_default=True, description=TYPE)
    expires: float | None = Field(
        default=None,
        gt=0,
        le=MOST_SECONDS,
        allow_inf_nan=False,
        description="seconds after which the ask takes its default, or fails without one",
    )
    default: Any = Field(
        default=None,
        validate_default=False,  # None given is an answer, None not given is none
        description="the answer if there is none in time; it needs `expires`",
    )

    @field_validator("default")
    @classmethod
    def _check_default(cls, default: object, info: ValidationInfo) -> object:
        if info.data.get("expires", MISSING) is None:
            raise ArgumentInvalid(DEFAULT_WITHOUT_EXPIRY())
        return _fitting(default, info.data["type"]) if "type" in info.data else default

    @property
    def has_default(self) -> bool:
        return "default" in self.model_fields_set

    @model_serializer(mode="wrap")
    def _given(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if name in self.model_fields_set}

    def asked(self, show: object) -> dict[str, Any]:
        """Describe the ask."""
        described = {"prompt": self.prompt, "show": show, "expires": self.expires}
        return {**described, "default": self.default} if self.has_default else described


class UserInput(Question):
    """Config of `control.user_input`: the prompt, and the type of the answer, a string by default."""

    prompt: str = Field(default="", description="what is asked")
    type: TypeField = Field(default="string", validate_default=True, description=TYPE)


def _fitting(value: object, expected: object) -> object:
    """Return a default as a value of its type; raises ValueError."""
    try:
        return check_value(value, expected)
    except ValueMismatch as mismatch:
        try:
            return check_json(value, expected)
        except ValueMismatch:
            raise ArgumentInvalid(mismatch.problem) from None


async def _ask(inputs: dict[str, Any], config: Question) -> NodeOutput:
    """Ask a person (human in the loop); the answer is the value of `out`.

    The run continues with everything that does not need the answer, and pauses when nothing else is left.
    `show` is displayed to the person who answers.
    """
    return NodeOutput(status="paused", metadata={ASK: config.asked(inputs[SHOW])})


async def _listen(
    inputs: dict[str, Any],
    context: ExecutionContext | None,
    config: UserInput = UserInput(),  # noqa: B008 - frozen
) -> NodeOutput:
    """Ask a person in a conversation, which is passed on unchanged; the answer is the value of `out`.

    The answer becomes part of the conversation where it is used: wire `out` to the message of the next node
    and `context` to its context. `show` is displayed to the person who answers, by default the last output
    of the conversation.
    """
    show = inputs[SHOW]
    if show is None and context is not None:
        show = context.current_output or None
    return NodeOutput(status="paused", context=context, metadata={ASK: config.asked(show)})


def _ports(config: Question) -> Ports:
    return Ports(outputs={"out": Port(config.type)})


def _asking(id: str, call: Callable[..., Any], *, has_context: bool) -> NodeType:
    """Return a node type that asks; only the port of the answer depends on the config."""
    made = derive(call, id=id, ports=_ports)
    show = {SHOW: InPort(SHOW, Any, PortKind.DATA, None)}
    if has_context:
        return replace(made, inputs={**made.inputs, **show})
    return replace(made, inputs=show, outputs={})


QUESTION: Final = _asking(ASK_ID, _ask, has_context=False)
USER_INPUT: Final = _asking(USER_INPUT_ID, _listen, has_context=True)


class Conversation(Config):
    """Config of `control.context`: the instructions and the model of the conversation."""

    system: str | None = None
    model: str = ""


async def _begin(config: Conversation = Conversation()) -> ExecutionContext:  # noqa: B008 - frozen
    """Start a conversation whose id is unique to the run, iteration and item."""
    firing = this_firing()
    context_id = f"{firing.run_id}/{firing.path}"
    return ExecutionContext(context_id, model=config.model, system_instructions=config.system)


CONTEXT: Final = derive(_begin, id=CONTEXT_ID)


BUILT_IN: Final[dict[str, NodeType]] = {made.id: made for made in (IF, SWITCH, CONTEXT, QUESTION, USER_INPUT)}
