"""Requests in the form of litellm; this module does not call it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

from dataflow import ArgumentInvalid, Image, Message, ProviderParts
from dataflow_agent.diagnostics.models import MESSAGE_PART_INVALID
from dataflow_agent.models.request import ModelName, ModelRequest, model_name

__all__ = ["arguments_of", "options_of", "service_of", "session_of"]

#: Each call has a separate connection, which ends with it: the library would keep it open for the next call,
#: whose event loop may differ.
HEADERS: Final = {"Connection": "close"}
#: The providers that accept a cache key for conversations. Others may refuse an unknown field.
WITH_SESSIONS: Final = frozenset({"fireworks_ai", "mistral", "openai"})
LONGEST_KEY: Final = 64
#: The providers whose signatures litellm would also put into the ids of calls, which other providers get too.
WITH_SIGNED_IDS: Final = ("gemini/", "vertex_ai/")


def arguments_of(request: ModelRequest) -> dict[str, Any]:
    """Return the arguments of a call without the key; the engine retries, so the library does not."""
    options = request.options
    given: dict[str, Any] = {
        "model": request.model,
        "messages": _messages(request.messages, service_of(request)),
        "extra_headers": HEADERS,
        "max_retries": 0,
        "num_retries": 0,
        **options_of(request),
    }
    if options.stream:
        given |= {"stream": True, "stream_options": {"include_usage": True}}
    if options.base_url:
        given["api_base"] = options.base_url
    if request.model.replace(":", "/", 1).startswith(WITH_SIGNED_IDS):
        given["thought_signature_in_tool_call_id"] = False
    return given


def service_of(request: ModelRequest) -> str:
    """Return which service answers a request: its provider, and the server if that is another."""
    return " ".join(filter(None, (model_name(request.model).provider, request.options.base_url)))


def session_of(request: ModelRequest, name: ModelName, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the cache key of the conversation, for the provider itself but not for another server."""
    key, prefix = request.session_id, name.provider.upper()
    is_elsewhere = request.options.base_url or any(
        environment.get(f"{prefix}_{variable}") for variable in ("API_BASE", "BASE_URL")
    )
    if not key or is_elsewhere or name.provider not in WITH_SESSIONS:
        return {}
    if len(key) > LONGEST_KEY or not key.isascii():
        key = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
    return {"prompt_cache_key": key}


def options_of(request: ModelRequest) -> dict[str, Any]:
    """Return the parameters that not every model supports, by their OpenAI names."""
    options = request.options
    tools = [
        {
            "type": "function",
            "function": {"name": one.name, "description": one.description, "parameters": one.parameters},
        }
        for one in request.tools
    ]
    given = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "reasoning_effort": options.reasoning_effort,
        "web_search_options": {} if options.web_search else None,
        "response_format": None if request.schema is None else _format(request.schema),
        "tools": tools or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema)}}


def _messages(messages: Sequence[Message], service: str) -> list[dict[str, Any]]:
    """Return messages in the form of most providers: images of tools follow in a message of the user."""
    given: list[dict[str, Any]] = []
    shown: list[str | Image] = []
    for message in messages:
        if message.role != "tool" and shown:
            given.append({"role": "user", "content": _content(shown)})
            shown = []
        texts, images = _parted(message)
        shown += images
        given.append(_message(texts, service))
    if shown:
        given.append({"role": "user", "content": _content(shown)})
    return given


def _parted(message: Message) -> tuple[Message, list[str | Image]]:
    """Separate the images of a result from its texts, labelled with the id of their call."""
    if message.role != "tool" or isinstance(message.content, str):
        return message, []
    texts = [part for part in message.content if isinstance(part, str)]
    images = [part for part in message.content if isinstance(part, Image)]
    if not images:
        return replace(message, content="\n".join(texts)), []
    text = "\n".join([*texts, "[its images follow the results]"])
    return replace(message, content=text), [f"The images of call {message.tool_call_id}:", *images]


def _message(message: Message, service: str) -> dict[str, Any]:
    given: dict[str, Any] = {"role": message.role, "content": _content(message.content)}
    if message.tool_calls:
        given["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.role == "tool":
        given["tool_call_id"] = message.tool_call_id
    parts = message.provider_parts
    return given if parts is None or parts.provider != service else _with_parts(given, parts)


def _with_parts(given: dict[str, Any], parts: ProviderParts) -> dict[str, Any]:
    """Return a message with the parts that its provider wants back, some of them with its calls."""
    fields: dict[str, Any] = json.loads(parts.data)
    for call, specific in zip(given.get("tool_calls", ()), fields.pop("calls", ()), strict=False):
        if specific:
            call["provider_specific_fields"] = specific
    return given | fields


def _arguments(written: str) -> str:
    """Return the arguments of an earlier call as a JSON object, since some providers parse them."""
    try:
        is_object = isinstance(json.loads(written), dict)
    except (ValueError, RecursionError):
        is_object = False
    return written if is_object else json.dumps({"unreadable": written} if written else {})


def _content(content: Any) -> Any:
    return content if isinstance(content, str) else [_part(part) for part in content]


def _part(part: object) -> dict[str, Any]:
    match part:
        case str():
            return {"type": "text", "text": part}
        case Image():
            data = b64encode(part.data).decode()
            return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}
        case _:
            raise ArgumentInvalid(MESSAGE_PART_INVALID(found=type(part).__name__))
