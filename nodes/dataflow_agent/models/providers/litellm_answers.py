"""Answers of litellm, whole or in the chunks of a stream, as answers of this pack.

litellm also assembles the chunks of a stream, but merges and drops calls of tools, so it is done here.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, cast

from pydantic_core import to_json

from dataflow import ProviderParts, ToolCall
from dataflow.authoring import shortened
from dataflow_agent.diagnostics.models import ANSWER_CUT, ANSWER_EMPTY, MODEL_REFUSED
from dataflow_agent.models.errors import AnswerCut, AnswerEmpty, ModelRefused
from dataflow_agent.models.request import FinishReason, ModelAnswer, ModelRequest, Usage

__all__ = ["WHOLE", "Dropped", "Gathered", "Watched", "watched_call"]

#: The finish reasons of complete answers; one of them also has an older name.
WHOLE: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
#: The finish reasons of answers that were cut, whose text may be accepted.
CUT: Final = ("length", "content_filter")
#: How many characters of the text of a cut or refused answer a failure has.
MOST_SHOWN: Final = 4_000
#: The fields of a message that are sent back as they are, by litellm in the form of the provider.
SENT_BACK: Final = ("reasoning_content", "thinking_blocks", "reasoning_details", "reasoning_items")
#: Those of its `provider_specific_fields` that litellm sends back.
SPECIFIC: Final = (
    "thought_signatures",
    "server_side_tool_invocations",
    "compaction_blocks",
    "web_search_results",
    "tool_results",
    "server_tool_calls",
)
#: What is appended where fragments of a block are joined; other fields are set once.
GROWING: Final = frozenset({"thinking", "text", "summary", "data", "signature"})
#: What makes a block of thinking valid for the provider; others repeat the `reasoning_content`.
SEALS: Final = ("signature", "data")
#: The module of litellm that reads streams of Gemini, and reports each chunk of one as the last.
GEMINI: Final = "vertex_and_google_ai_studio_gemini"
#: The end of such a stream. In a text of the answer the quotes are escaped.
_END: Final = re.compile(r'"finishReason"\s*:')


@dataclass(slots=True)
class _Call:
    """A call of a tool, which may arrive in fragments."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    specific: dict[str, Any] = field(default_factory=dict)

    def is_another(self, id_: str, name: str) -> bool:
        """Return whether a fragment with this id and name belongs to another call than this one."""
        return id_ != self.id if id_ else bool(name and self.name)


@dataclass(slots=True)
class Dropped:
    """What litellm drops of a stream: chunks that have nothing but a refusal or details of the reasoning.

    has_ended: whether the end of a stream of Gemini, which litellm does not check, was read; True for others
    """

    has_ended: bool = True
    refusal: list[str] = field(default_factory=list)
    details: list[Any] = field(default_factory=list)

    def note(self, chunk: Any) -> None:
        """Note what a chunk has of it."""
        for choice in (getattr(chunk, "choices", None) or ())[:1]:
            delta = getattr(choice, "delta", None)
            self.refusal.append(getattr(delta, "refusal", None) or "")
            self.details += getattr(delta, "reasoning_details", None) or ()


@dataclass(slots=True)
class Gathered:
    """What has arrived of one answer.

    dropped: what the library below litellm has received besides
    calls: in the order in which they began
    open: the call that a further fragment with an index belongs to
    fields: parts of the message that only the provider can read, joined from fragments
    specific: those of its `provider_specific_fields`
    """

    text: list[str] = field(default_factory=list)
    dropped: Dropped = field(default_factory=Dropped)
    refusal: list[str] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    open: dict[int | None, _Call] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    specific: dict[str, Any] = field(default_factory=dict)
    finish_reason: str | None = None
    is_refused: bool = False
    model: str = ""
    usage: Any = None

    def add_chunk(self, chunk: Any) -> str:
        """Add a chunk of a stream, and return its text."""
        self._note(chunk)
        texts = [
            self._add(choice.delta, choice)
            for choice in chunk.choices or ()
            if not getattr(choice, "index", 0)  # of several answers the first counts
        ]
        return "".join(texts)

    def add_whole(self, response: Any) -> None:
        """Add a complete response."""
        self._note(response)
        for choice in (response.choices or ())[:1]:
            self._add(choice.message, choice, is_whole=True)

    def _note(self, given: Any) -> None:
        self.model = self.model or getattr(given, "model", None) or ""
        self.usage = getattr(given, "usage", None) or self.usage

    def _add(self, message: Any, choice: Any, *, is_whole: bool = False) -> str:
        self.finish_reason = choice.finish_reason or self.finish_reason
        text = _text_of(getattr(message, "content", None))
        self.text.append(text)
        self.refusal.append(getattr(message, "refusal", None) or "")
        for fragment in getattr(message, "tool_calls", None) or ():
            self._add_call(fragment, fragment.function, None if is_whole else fragment.index, is_new=is_whole)
        older = getattr(message, "function_call", None)
        if older is not None:
            self._add_call(older, older, -1)
        specific = getattr(message, "provider_specific_fields", None) or {}
        for name in SENT_BACK:
            self._add_field(name, getattr(message, name, None) or (specific.get(name) if is_whole else None))
        self._add_specific(specific)
        return text

    def _add_call(self, fragment: Any, function: Any, index: int | None, *, is_new: bool = False) -> None:
        """Add a fragment of a call: a new id at an index begins another call, as does a further name."""
        id_, name = getattr(fragment, "id", None) or "", function.name or ""
        call = self.open.get(index)
        if call is None or is_new or call.is_another(id_, name):
            call = self.open[index] = _Call()
            self.calls.append(call)
        call.id = call.id or id_
        call.name = call.name or name
        call.arguments.append(function.arguments or "")
        call.specific |= getattr(fragment, "provider_specific_fields", None) or {}

    def _add_field(self, name: str, given: Any) -> None:
        if isinstance(given, str):
            self.fields[name] = self.fields.get(name, "") + given
        elif given:
            self.fields.setdefault(name, []).extend(_plain(block) for block in given)

    def _add_specific(self, given: Mapping[str, Any]) -> None:
        self.is_refused = self.is_refused or given.get("stop_reason") == "refusal"
        for name in SPECIFIC:
            found = given.get(name)
            if found and name == "thought_signatures":
                self.specific[name] = [*self.specific.get(name, ()), *found]
            elif found:
                self.specific[name] = found

    def answer(self, request: ModelRequest, service: str, cost: Callable[[Any], float | None]) -> ModelAnswer:
        """Return the answer; raises ModelRefused, AnswerCut and AnswerEmpty.

        `service` is what its parts are sent back to, and `cost` computes the cost of the usage.
        """
        text = "".join(self.text)
        self._check(request, text)
        calls = () if self.finish_reason in CUT else self._tool_calls()
        reason = "tool_calls" if calls else WHOLE.get(self.finish_reason or "", self.finish_reason)
        return ModelAnswer(
            text,
            calls,
            Usage() if self.usage is None else _usage(self.usage, cost),
            cast("FinishReason", reason),
            self.model or request.model,
            provider_parts=self._provider_parts(service),
        )

    def _check(self, request: ModelRequest, text: str) -> None:
        """Raise the error of an answer that is not one."""
        model, reason = request.model, self.finish_reason
        refusal = "".join(self.dropped.refusal) or "".join(self.refusal)
        if refusal or self.is_refused:
            said = refusal or text
            raise ModelRefused(model, MODEL_REFUSED(error=shortened(said, MOST_SHOWN)), text=said)
        if reason not in WHOLE:
            accepts = request.options.accept_cut and request.schema is None and reason in CUT
            if accepts and text.strip() and not self.calls:
                return
            shown = f"; its text: {shortened(text, MOST_SHOWN)!r}" if text else ""
            error = ANSWER_CUT(error=f"its finish reason is {reason!r}{shown}")
            raise AnswerCut(model, error, text=text, finish_reason=str(reason))
        if reason in ("tool_calls", "function_call") and not self.calls:
            raise AnswerEmpty(model, ANSWER_EMPTY(error="it announces calls of tools and has none"))
        if not text.strip() and not self.calls:
            raise AnswerEmpty(model, ANSWER_EMPTY(error="it has neither text nor calls of tools"))

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(ToolCall(call.id, call.name, "".join(call.arguments)) for call in self.calls)

    def _provider_parts(self, service: str) -> ProviderParts | None:
        """Return what only the provider can read, None if there is nothing of that kind."""
        fields = {name: given for name, given in self.fields.items() if given}
        if (blocks := _sealed(fields.pop("thinking_blocks", ()))) is not None:
            fields["thinking_blocks"] = blocks
            fields.pop("reasoning_content", None)  # the same in plain text
        if details := self.dropped.details or fields.get("reasoning_details"):
            fields["reasoning_details"] = _joined(map(_plain, details))
        if self.specific:
            fields["provider_specific_fields"] = self.specific
        if any(call.specific for call in self.calls):
            fields["calls"] = [call.specific for call in self.calls]
        return ProviderParts(service, to_json(fields, fallback=str).decode()) if fields else None


def _text_of(content: Any) -> str:
    """Return the text of a content, which some providers give as a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(part.get("text") or "" for part in parts if isinstance(part, Mapping))


def _plain(block: Any) -> dict[str, Any]:
    return dict(block) if isinstance(block, Mapping) else dict(block.model_dump(exclude_none=True))


def _sealed(fragments: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]] | None:
    """Return whole blocks of thinking if their provider has signed or encrypted them."""
    blocks = [{key: one[key] for key in one if key != "index"} for one in _joined(fragments)]
    return blocks if any(block.get(seal) for block in blocks for seal in SEALS) else None


def _joined(fragments: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Join consecutive fragments of one block, which have its index."""
    blocks: list[dict[str, Any]] = []
    for one in fragments:
        last = blocks[-1] if blocks else {}
        is_more = "index" in one and (one["index"], one.get("type")) == (last.get("index"), last.get("type"))
        if not is_more:
            blocks.append(dict(one))
            continue
        for key, value in one.items():
            if key in GROWING and isinstance(value, str):
                last[key] = (last.get(key) or "") + value
            elif value is not None:
                last[key] = value
    return blocks


def _usage(used: Any, cost: Callable[[Any], float | None]) -> Usage:
    return Usage(used.prompt_tokens, used.completion_tokens, cost(used))


async def watched_call(
    make_call: Callable[..., Awaitable[Any]], dropped: Dropped, *args: Any, **given: Any
) -> Any:
    """Make the call that litellm makes when a stream is first read; note whether a stream of Gemini ends."""
    stream = await make_call(*args, **given)
    if type(stream).__module__.rpartition(".")[2] == GEMINI:
        dropped.has_ended = False
        stream.streaming_response = _watched_lines(stream.streaming_response, dropped)
    return stream


async def _watched_lines(lines: Any, dropped: Dropped) -> AsyncIterator[str]:
    async with aclosing(lines):
        async for line in lines:
            dropped.has_ended = dropped.has_ended or _END.search(line) is not None
            yield line


class Watched:
    """The stream of the library below litellm."""

    def __init__(self, stream: Any, dropped: Dropped) -> None:
        self._stream = stream
        self._chunks = aiter(stream)
        self._dropped = dropped

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Watched:
        return self

    async def __anext__(self) -> Any:
        chunk = await anext(self._chunks)
        self._dropped.note(chunk)
        return chunk
