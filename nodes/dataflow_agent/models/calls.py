"""Create requests to models, and read their answers: metadata and typed values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import AfterValidator, PlainSerializer, TypeAdapter, WithJsonSchema

from dataflow import ExecutionContext, Message, ValueMismatch
from dataflow.authoring import TypeField, check_json, json_schema, shortened
from dataflow_agent.diagnostics.models import ANSWER_NOT_JSON, ANSWER_UNFIT
from dataflow_agent.models.config import ModelConfig, sent_of
from dataflow_agent.models.errors import AnswerUnfit
from dataflow_agent.models.request import ModelAnswer, ModelName, ModelRequest, ToolSpec

__all__ = ["FIELD", "AnswerField", "AnswerType", "answer_metadata", "request_for"]

#: The field that wraps an answer which is not an object: providers accept schemas of objects only.
FIELD: Final = "answer"
#: The keywords that contain shared definitions, and the beginnings of references to these.
DEFINITIONS: Final = ("$defs", "definitions")
SHARED: Final = tuple(f"#/{name}/" for name in DEFINITIONS)
#: How many characters an error quotes of an answer that does not fit.
MOST_SHOWN: Final = 200
_types: Final = TypeAdapter[Any](TypeField)


def request_for(
    name: ModelName,
    conversation: ExecutionContext,
    new: Sequence[Message],
    config: ModelConfig,
    *,
    tools: Sequence[ToolSpec] = (),
    typed: AnswerType | None = None,
) -> ModelRequest:
    """Return a request with the whole conversation and new messages, preceded by the instructions (S10.2).

    The config limits the images and the length of results.
    """
    instructions = [text for text in (conversation.system_instructions, config.system) if text]
    system = [Message("system", "\n\n".join(instructions))] if instructions else []
    return ModelRequest(
        str(name),
        (*system, *sent_of((*conversation.messages, *new), config)),
        tools=tuple(tools),
        schema=None if typed is None else typed.asked,
        is_wrapped=typed is not None and typed.is_wrapped,
        options=config.options,
        session_id=conversation.session_id,
    )


def answer_metadata(answer: ModelAnswer, request: ModelRequest) -> dict[str, Any]:
    """Return the metadata of a firing with this answer."""
    usage = answer.usage
    return {
        "model": answer.model or request.model,
        "finish_reason": answer.finish_reason,
        "usage": {
            "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "cost": usage.cost,
        },
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerType:
    """The type of an answer, and its JSON Schema."""

    type: Any
    schema: Mapping[str, Any]

    @property
    def is_wrapped(self) -> bool:
        """Whether the model answers with an object that has the value in a field."""
        return self.schema.get("type") != "object"

    @property
    def asked(self) -> dict[str, Any]:
        """The schema for the model, always that of an object."""
        schema: dict[str, Any] = dict(self.schema)
        if not self.is_wrapped:
            return schema
        shared: dict[str, Any] = {name: schema.pop(name) for name in DEFINITIONS if name in schema}
        if '"$ref"' in json.dumps(schema):
            schema, shared = _moved(schema), _moved(shared)
        return {"type": "object", "properties": {FIELD: schema}, "required": [FIELD], **shared}

    def read(self, model: str, text: str) -> object:
        """Return the value of an answer; raises AnswerUnfit, which quotes the answer."""
        try:
            found = json.loads(text, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise AnswerUnfit(model, ANSWER_NOT_JSON(found=_shown(text), error=error)) from None
        try:
            check_json(found, dict[str, Any])
            if self.is_wrapped and FIELD not in found:
                raise ValueMismatch("nothing", "a value", f".{FIELD}")
            if self.is_wrapped:
                return _check_type(found[FIELD], self.type, f".{FIELD}")
            return _check_type(found, self.type, "")
        except ValueMismatch as mismatch:
            inner = mismatch.place.removeprefix(f".{FIELD}") if self.is_wrapped else mismatch.place
            place, expected, found = f"answer{inner}", mismatch.expected, mismatch.found
        except RecursionError:
            place, expected, found = "answer", "fewer levels", "a value that is nested too deep"
        unfit = ANSWER_UNFIT(place, expected=expected, found=found, answer=_shown(text))
        raise AnswerUnfit(model, unfit)


def _moved(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part of a schema whose root is now its field `answer`; definitions remain at the root."""
    whole: dict[str, Any] = json.loads(json.dumps(schema))
    todo: list[Any] = [whole]
    while todo:
        part = todo.pop()
        todo += part if isinstance(part, list) else []
        if isinstance(part, dict):
            todo += part.values()
            reference = part.get("$ref")
            if isinstance(reference, str) and not reference.startswith(SHARED):
                part["$ref"] = f"#/properties/{FIELD}{reference.removeprefix('#')}"
    return whole


def _check_type(value: Any, expected: object, place: str) -> object:
    try:
        return check_json(value, expected)
    except ValueMismatch as mismatch:
        raise ValueMismatch(mismatch.found, mismatch.expected, place + mismatch.place) from None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no number in JSON")


def _shown(text: str) -> str:
    return repr(shortened(text, MOST_SHOWN))


def _read(given: Any) -> AnswerType:
    if isinstance(given, AnswerType):
        return given
    expected = _types.validate_python(given)
    return AnswerType(expected, json_schema(expected))


def _write(given: AnswerType) -> object:
    schema = dict(given.schema)
    return schema["type"] if set(schema) == {"type"} else schema


#: A Python type, or in documents its JSON Schema or the name of a JSON type.
AnswerField = Annotated[
    Any, AfterValidator(_read), PlainSerializer(_write), WithJsonSchema(_types.json_schema())
]
