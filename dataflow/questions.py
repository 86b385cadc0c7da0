"""The built-in node type `control.ask`, whose value comes from outside (S11.1)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

from pydantic import AfterValidator, PlainSerializer, model_serializer, model_validator

from dataflow.asks import ASK, ASK_ID
from dataflow.checking import check_json, check_value, json_schema
from dataflow.config import Config
from dataflow.errors import ValueMismatch
from dataflow.node_output import NodeOutput
from dataflow.nodetype import derive
from dataflow.ports import Port, Ports
from dataflow.schema_types import type_of_schema

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTION", "Question"]


def _read_type(given: object) -> object:
    return type_of_schema(given) if isinstance(given, str | dict) else given


#: A Python type, or in documents its JSON Schema or the name of a JSON type.
AnswerType = Annotated[Any, AfterValidator(_read_type), PlainSerializer(json_schema)]


class Question(Config):
    """Config of `control.ask`: what is asked, and the type of the answer.

    After `expires` seconds without an answer the port takes `default`, or the node fails.
    """

    prompt: str
    type: AnswerType = Any
    expires: float | None = None
    default: Any = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.expires is not None and not 0 < self.expires < math.inf:
            raise ValueError(f"expires must be a positive number of seconds, found {self.expires!r}")
        if self.has_default:
            if self.expires is None:
                raise ValueError("a default needs `expires`: it is what the ask takes when its time is over")
            _fitting(self.default, self.type)
        return self

    @property
    def has_default(self) -> bool:
        return "default" in self.model_fields_set

    @model_serializer(mode="wrap")
    def _given(self, write: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if name in self.model_fields_set}


def _fitting(value: object, expected: object) -> object:
    """Return a default as a value of its type; raises ValueError."""
    try:
        return check_value(value, expected)
    except ValueMismatch as mismatch:
        try:
            return check_json(value, expected)
        except ValueMismatch:
            raise ValueError(f"default: {mismatch}") from None


async def _ask(inputs: dict[str, Any], config: Question) -> NodeOutput:
    """Ask somebody; the answer is the value of `out`.

    The run goes on with everything that does not need the answer, and pauses when nothing else is left.
    `show` is what the person is shown who answers.
    """
    asked = {"prompt": config.prompt, "show": inputs["show"], "expires": config.expires}
    if config.has_default:
        asked["default"] = _fitting(config.default, config.type)
    return NodeOutput(status="paused", metadata={ASK: asked})


def _ports(config: Question) -> Ports:
    return Ports({"show": Port(Any, default=None)}, {"out": Port(config.type)})


QUESTION: Final = derive(_ask, id=ASK_ID, ports=_ports)
