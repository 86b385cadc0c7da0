"""The built-in node types `control.ask` and `control.user_input`, whose values come from outside (S11.1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field, ValidationInfo, field_validator, model_serializer

from dataflow.core.config import Config, TypeField
from dataflow.core.context import ExecutionContext  # noqa: TC001 - a hint that is read when the type is made
from dataflow.core.inputs import ASK, ASK_ID, MOST_SECONDS, USER_INPUT_ID
from dataflow.core.nodetype import derive
from dataflow.core.ports import MISSING, InPort, NodeOutput, Port, PortKind, Ports
from dataflow.errors import ValueMismatch
from dataflow.types.validation import check_json, check_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.core.nodetype import NodeType

__all__ = ["QUESTION", "USER_INPUT", "Question", "UserInput"]


SHOW: Final = "show"
TYPE: Final = "the type of the answer: a JSON Schema, or the name of a type"


class Question(Config):
    """Config of `control.ask`: what is asked, and the type of the answer."""

    prompt: str = Field(description="what is asked")
    type: TypeField = Field(default={}, validate_default=True, description=TYPE)
    expires: float | None = Field(
        default=None,
        gt=0,
        le=MOST_SECONDS,
        allow_inf_nan=False,
        description="seconds after which the ask takes its default, or fails without one",
    )
    default: Any = Field(default=None, description="the answer if there is none in time; it needs `expires`")

    @field_validator("default")
    @classmethod
    def _check_default(cls, default: object, info: ValidationInfo) -> object:
        if info.data.get("expires", MISSING) is None:
            raise ValueError("it needs `expires`: it is what the ask takes when its time is over")
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
    """Config of `control.user_input`: what is asked, and the type of the answer, text unless it is given."""

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
            raise ValueError(str(mismatch)) from None


async def _ask(inputs: dict[str, Any], config: Question) -> NodeOutput:
    """Ask somebody; the answer is the value of `out`.

    The run goes on with everything that does not need the answer, and pauses when nothing else is left.
    `show` is what the person is shown who answers.
    """
    return NodeOutput(status="paused", metadata={ASK: config.asked(inputs[SHOW])})


async def _listen(
    inputs: dict[str, Any],
    context: ExecutionContext | None,
    config: UserInput = UserInput(),  # noqa: B008 - frozen
) -> NodeOutput:
    """Ask somebody in a conversation, which passes on as it is; the answer is the value of `out`.

    What is said becomes part of the conversation where it is answered: wire `out` to the message of the next
    node and `context` to its context. `show` is what the person is shown who answers, without it what the
    conversation has last come to.
    """
    show = inputs[SHOW]
    if show is None and context is not None:
        show = context.current_output or None
    return NodeOutput(status="paused", context=context, metadata={ASK: config.asked(show)})


def _ports(config: Question) -> Ports:
    return Ports(outputs={"out": Port(config.type)})


def _asking(id: str, call: Callable[..., Any], *, has_context: bool) -> NodeType:
    """Make a node type that asks; of its ports only the answer depends on the config."""
    made = derive(call, id=id, ports=_ports)
    show = {SHOW: InPort(SHOW, Any, PortKind.DATA, None)}
    if has_context:
        return replace(made, inputs={**made.inputs, **show})
    return replace(made, inputs=show, outputs={})


QUESTION: Final = _asking(ASK_ID, _ask, has_context=False)
USER_INPUT: Final = _asking(USER_INPUT_ID, _listen, has_context=True)
