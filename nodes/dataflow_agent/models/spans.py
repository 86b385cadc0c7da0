"""Spans of calls of models, by the OpenTelemetry conventions for generative AI (S19)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from dataflow import Message, this_firing
from dataflow.authoring import shortened
from dataflow_agent.models.request import Emit, ModelAnswer, ModelName, ModelRequest, Provider

__all__ = ["Traced", "brief", "conventional", "written_message"]

#: The maximum number of characters of a text in an attribute: one text of a message, the result of a call.
LONGEST_TEXT: Final = 2_000
#: The conventional names of providers that have another name here.
CONVENTIONAL: Final[Mapping[str, str]] = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


@dataclass(frozen=True, slots=True)
class Traced:
    """A provider that opens a span `chat MODEL` for each answer, inside the span of the calling node."""

    provider: Provider
    name: ModelName

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        """Return the answer of the provider; see `Provider`."""
        with this_firing().span(
            f"chat {self.name.model}", _asked(self.name, request), is_client=True
        ) as span:
            if span.tells_content:
                span.note(_content(request))
            answer = await self.provider.answer(request, emit)
            span.note(_answered(answer))
            if span.tells_content:
                span.note({"gen_ai.output.messages": _written([_reply(answer)])})
            return answer


def brief(text: str) -> str:
    """Return a text for an attribute, with secrets masked; shortened before it is a part of JSON."""
    return shortened(text, LONGEST_TEXT)


def conventional(provider: str) -> str:
    """Return the conventional name of a provider."""
    return CONVENTIONAL.get(provider, provider)


def _asked(name: ModelName, request: ModelRequest) -> Mapping[str, object]:
    options = request.options
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": conventional(name.provider),
        "gen_ai.request.model": name.model,
        "gen_ai.conversation.id": request.session_id or None,
        "gen_ai.output.type": "text" if request.schema is None else "json",
        "gen_ai.request.max_tokens": options.max_tokens,
        "gen_ai.request.temperature": options.temperature,
        "gen_ai.request.reasoning.level": options.reasoning_effort,
        "gen_ai.request.stream": options.stream or None,
    }


def _answered(answer: ModelAnswer) -> Mapping[str, object]:
    usage = answer.usage
    is_known = usage.input_tokens or usage.output_tokens
    return {
        "gen_ai.response.model": answer.model or None,
        "gen_ai.response.finish_reasons": [answer.finish_reason],
        "gen_ai.usage.input_tokens": usage.input_tokens if is_known else None,
        "gen_ai.usage.output_tokens": usage.output_tokens if is_known else None,
    }


def _content(request: ModelRequest) -> Mapping[str, object]:
    system = [part for one in request.messages if one.role == "system" for part in _parts(one)]
    said = [written_message(one) for one in request.messages if one.role != "system"]
    return {
        "gen_ai.system_instructions": _written(system) if system else None,
        "gen_ai.input.messages": _written(said),
    }


def _reply(answer: ModelAnswer) -> Mapping[str, Any]:
    message = Message("assistant", answer.text, answer.tool_calls)
    return {**written_message(message), "finish_reason": answer.finish_reason}


def written_message(message: Message) -> Mapping[str, Any]:
    """Return a message in the form of the conventions, for JSON."""
    return {"role": message.role, "parts": _parts(message)}


def _parts(message: Message) -> list[Mapping[str, Any]]:
    """Return the parts of a message in the form of the conventions, without the data of images."""
    content = message.content
    given: Iterable[Any] = [content] if isinstance(content, str) else content
    if message.role == "tool":
        text = "\n".join(part for part in given if isinstance(part, str))
        return [{"type": "tool_call_response", "id": message.tool_call_id, "response": brief(text)}]
    return [
        *(_part(part) for part in given if part),
        *(
            {"type": "tool_call", "id": call.id, "name": call.name, "arguments": _read(call.arguments)}
            for call in message.tool_calls
        ),
    ]


def _part(part: Any) -> Mapping[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "content": brief(part)}
    return {"type": "blob", "modality": "image", "mime_type": part.media_type, "content": ""}


def _read(arguments: str) -> Any:
    """Return the arguments of a call as a value, or as a text if they are long or not JSON."""
    if len(arguments) > LONGEST_TEXT:
        return brief(arguments)
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
