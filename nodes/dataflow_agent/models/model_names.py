"""The names of models: `provider/model`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from dataflow import ExecutionContext
from dataflow_agent.models.errors import ModelUnknown

__all__ = ["ModelName", "model_name", "model_of"]

_NAME: Final = re.compile(r"([\w.-]+)[/:](\S+)")


class ModelName(NamedTuple):
    """A provider and what it calls the model."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.model}"


@lru_cache(maxsize=256)  # the same few models are named in each call
def model_name(text: str) -> ModelName:
    """Read `provider/model` or `provider:model`, which is the same (S10.2); raises ValueError."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise ValueError(f"expected a model, written provider/model, found {text!r}")
    return ModelName(found[1], found[2])


def model_of(own: str, context: ExecutionContext) -> ModelName:
    """Return the model that a node calls: its own, else that of the context; raises ModelUnknown."""
    named = own or context.model
    if not own and context.provider and named and "/" not in named:
        return ModelName(context.provider, named)
    if not named:
        raise ModelUnknown("", "no model is named: expected one in the config `model` or in the context")
    try:
        return model_name(named)
    except ValueError as error:
        raise ModelUnknown(named, str(error)) from None
