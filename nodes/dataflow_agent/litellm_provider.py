"""Any provider that litellm knows, on asyncio."""

from __future__ import annotations

from typing import Any, Final

from anyio import move_on_after

from dataflow import ToolCall
from dataflow_agent.litellm_checks import check_event_loop, check_options, check_provider, key_of
from dataflow_agent.litellm_errors import translated
from dataflow_agent.litellm_loading import loaded
from dataflow_agent.litellm_requests import arguments_of
from dataflow_agent.model_errors import AnswerCut, StreamInterrupted
from dataflow_agent.model_names import model_name
from dataflow_agent.requests import ModelAnswer, ModelRequest, Piece, Usage

__all__ = ["LITELLM", "Litellm"]

#: How long closing a connection may take, in seconds.
CLOSING: Final = 2.0
#: The reasons for which an answer ends whole.
WHOLE: Final = ("stop", "tool_calls", "function_call")


class Litellm:
    """The provider that calls services, through litellm; it is loaded with the first call."""

    async def answer(self, request: ModelRequest, piece: Piece) -> ModelAnswer:
        """Call the model; raises ModelFailed, for a key or an option before the call."""
        check_event_loop(request.model)
        litellm, name = await loaded(request.model), model_name(request.model)
        check_provider(litellm, name)
        check_options(litellm, request, name)
        arguments = {**arguments_of(request), "api_key": key_of(litellm, request, name)}
        has_begun = False
        try:
            response = await litellm.acompletion(**arguments)
            has_begun = True
            if request.options.stream:
                response = await _read(litellm, request, response, piece)
        except Exception as error:
            ours = translated(request.model, error, has_begun=has_begun)
            if ours is error:
                raise
            raise ours from error
        answer = _answer(litellm, request, response)
        if not request.options.stream and answer.text:
            piece(answer.text)
        return answer


LITELLM: Final = Litellm()


async def _read(litellm: Any, request: ModelRequest, response: Any, piece: Piece) -> Any:
    """Read a stream to its end, and close its connection whatever happens; returns the whole response."""
    chunks = []
    try:
        async for chunk in response:
            chunks.append(chunk)
            text = chunk.choices[0].delta.content if chunk.choices else None
            if text:
                piece(text)
    finally:
        with move_on_after(CLOSING, shield=True):
            await response.aclose()
    if response.received_finish_reason is None:
        raise StreamInterrupted(request.model, "the answer broke off: it ended without a finish reason")
    return litellm.stream_chunk_builder(chunks)


def _answer(litellm: Any, request: ModelRequest, response: Any) -> ModelAnswer:
    """Read a whole response; raises AnswerCut for one that is not."""
    choice = response.choices[0]
    if choice.finish_reason not in WHOLE:
        raise AnswerCut(request.model, f"the answer was cut: its finish reason is {choice.finish_reason!r}")
    calls = tuple(
        ToolCall(call.id, call.function.name, call.function.arguments)
        for call in choice.message.tool_calls or ()
    )
    model = response.model or request.model
    usage = _usage(litellm, request, response)
    return ModelAnswer(choice.message.content or "", calls, usage, choice.finish_reason, model)


def _usage(litellm: Any, request: ModelRequest, response: Any) -> Usage:
    used = getattr(response, "usage", None)
    if used is None:  # the provider does not tell
        return Usage()
    return Usage(used.prompt_tokens, used.completion_tokens, _cost(litellm, request, response))


def _cost(litellm: Any, request: ModelRequest, response: Any) -> float | None:
    try:
        return float(litellm.completion_cost(response, model=request.model))
    except Exception:  # noqa: BLE001 - it raises whatever it likes for a model without a price
        return None
