"""The built-in node type `control.context`, which begins a conversation (S10.1)."""

from __future__ import annotations

from typing import Final

from dataflow.core.config import Config
from dataflow.core.context import CONTEXT_ID, ExecutionContext
from dataflow.core.firing import this_firing
from dataflow.core.nodetype import derive

__all__ = ["CONTEXT", "Conversation"]


class Conversation(Config):
    """Config of `control.context`: the instructions and the model of the conversation."""

    system: str | None = None
    model: str = ""


async def _begin(config: Conversation = Conversation()) -> ExecutionContext:  # noqa: B008 - frozen
    """Begin a conversation whose id no other run, round or item has."""
    firing = this_firing()
    context_id = f"{firing.run_id}/{firing.path}"
    return ExecutionContext(context_id, model=config.model, system_instructions=config.system)


CONTEXT: Final = derive(_begin, id=CONTEXT_ID)
