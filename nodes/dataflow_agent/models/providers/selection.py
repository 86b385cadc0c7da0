"""Select the provider of a model."""

from __future__ import annotations

import os
from typing import Final

from dataflow_agent.models.providers.litellm import LITELLM
from dataflow_agent.models.providers.scripted import provider_for_all, script_of_file
from dataflow_agent.models.request import ModelName, Provider
from dataflow_agent.models.spans import Traced

__all__ = ["provider_of"]

#: The provider whose models are files of scripted answers.
SCRIPTED: Final = "scripted"
#: The environment variable that names a file of answers for every model.
SCRIPT_VARIABLE: Final = "DATAFLOW_SCRIPTED"


async def provider_of(name: ModelName) -> Provider:
    """Return the provider of a model, which opens a span for each answer.

    That is the provider for all models if one is set, else a script, else litellm.
    """
    return Traced(await _untraced(name), name)


async def _untraced(name: ModelName) -> Provider:
    for_all = provider_for_all()
    if for_all is not None:
        return for_all
    path = os.environ.get(SCRIPT_VARIABLE) or (name.model if name.provider == SCRIPTED else "")
    return await script_of_file(path) if path else LITELLM
