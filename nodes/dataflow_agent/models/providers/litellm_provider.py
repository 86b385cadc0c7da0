"""Any provider that litellm knows, on asyncio."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from anyio import move_on_after

from dataflow import ToolCall
from dataflow_agent.models.errors import AnswerCut, StreamInterrupted
from dataflow_agent.models.model_names import model_name
from dataflow_agent.models.providers.litellm_checks import (
    check_event_loop,
    check_key,
    check_options,
    check_provider,
    key_of,
    keys_of_process,
    note_keys,
)
from dataflow_agent.models.providers.litellm_errors import translated
from dataflow_agent.models.providers.litellm_loading import loaded
from dataflow_agent.models.providers.litellm_requests import arguments_of, session_of
from dataflow_agent.models.requests import Emit, FinishReason, ModelAnswer, ModelRequest, Usage

__all__ = ["LITELLM", "Litellm", "answer_of"]

#: How long closing a connection may take, in seconds.
CLOSING: Final = 2.0
#: The reasons for which an answer ends whole; one of them has an older name too.
WHOLE: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
LOG: Final = logging.getLogger("dataflow.agent.litellm")


class Litellm:
    """The provider that calls services, through litellm; it is loaded with the first call."""

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        """Call the model; raises ModelFailed, for a key or an option before the call."""
        check_event_loop(request.model)
        litellm, name = await loaded(request.model), model_name(request.model)
        check_provider(litellm, name)
        check_options(litellm, request, name)
        check_key(litellm, request)
        note_keys(keys_of_process())
        session = session_of(request, name, os.environ)
        arguments = {**arguments_of(request), **session, "api_key": key_of(request)}
        has_begun = False
        try:
            response = await litellm.acompletion(**arguments)
            has_begun = True
            if request.options.stream:
                response = await _read(litellm, request, response, emit)
        except Exception as error:
            ours = translated(request.model, error, has_begun=has_begun, now=datetime.now(UTC))
            if ours is error:
                raise
            raise ours from error
        answer = answer_of(litellm, request, response)
        if not request.options.stream and answer.text:
            emit(answer.text)
        return answer


LITELLM: Final = Litellm()


async def _read(litellm: Any, request: ModelRequest, response: Any, emit: Emit) -> Any:
    """Read a stream to its end, and close its connection whatever happens; returns the whole response."""
    chunks = []
    try:
        async for chunk in response:
            chunks.append(chunk)
            text = chunk.choices[0].delta.content if chunk.choices else None
            if text:
                emit(text)
    finally:
        with move_on_after(CLOSING, shield=True):
            await response.aclose()
    if response.received_finish_reason is None:
        raise StreamInterrupted(request.model, "the answer broke off: it ended without a finish reason")
    return litellm.stream_chunk_builder(chunks)


def answer_of(litellm: Any, request: ModelRequest, response: Any) -> ModelAnswer:
    """Read a whole response; raises AnswerCut for one that is not."""
    choice = response.choices[0]
    finish_reason = WHOLE.get(choice.finish_reason)
    if finish_reason is None:
        raise AnswerCut(request.model, f"the answer was cut: its finish reason is {choice.finish_reason!r}")
    calls = tuple(
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in choice.message.tool_calls or ()
    )
    model = response.model or request.model
    usage = _usage(litellm, request, response)
    return ModelAnswer(choice.message.content or "", calls, usage, finish_reason, model)


def _usage(litellm: Any, request: ModelRequest, response: Any) -> Usage:
    used = getattr(response, "usage", None)
    if used is None:  # the provider does not tell
        return Usage()
    return Usage(used.prompt_tokens, used.completion_tokens, _cost(litellm, request, response))


def _cost(litellm: Any, request: ModelRequest, response: Any) -> float | None:
    told = getattr(response, "_hidden_params", {}).get("response_cost")
    if isinstance(told, float):  # it has computed it for itself, which takes as long as all that we do
        return told
    try:
        return float(litellm.completion_cost(response, model=request.model))
    except Exception as error:  # noqa: BLE001 - it raises whatever it likes for a model without a price
        LOG.debug("%s has no price: %s", request.model, error)
        return None
