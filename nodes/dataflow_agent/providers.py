"""Who answers for a model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from dataflow_agent.model_names import ModelName
from dataflow_agent.model_spans import Traced
from dataflow_agent.requests import Provider

__all__ = ["SCRIPTED", "SCRIPT_VARIABLE", "answered_by", "provider_of"]

#: The provider whose models are files of scripted answers.
SCRIPTED: Final = "scripted"
#: The environment variable that names a file of answers for every model.
SCRIPT_VARIABLE: Final = "DATAFLOW_SCRIPTED"

_answering: Final[ContextVar[Provider | None]] = ContextVar("who answers for every model", default=None)


@contextmanager
def answered_by(provider: Provider) -> Iterator[None]:
    """Have a provider answer for every model, in the runs that are started inside."""
    token = _answering.set(provider)
    try:
        yield
    finally:
        _answering.reset(token)


async def provider_of(name: ModelName) -> Provider:
    """Return who answers for a model, each answer with a span of its own.

    That is whoever answers for all, else a script, else litellm.
    """
    return Traced(await _untraced(name), name)


async def _untraced(name: ModelName) -> Provider:
    answering = _answering.get()
    if answering is not None:
        return answering
    path = os.environ.get(SCRIPT_VARIABLE) or (name.model if name.provider == SCRIPTED else "")
    if path:
        from dataflow_agent.script_files import script_of_file  # most calls need no script

        return await script_of_file(path)
    from dataflow_agent.litellm_provider import LITELLM  # only who calls a service needs it

    return LITELLM
