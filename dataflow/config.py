"""Config: the fixed settings of a node, as a pydantic model (S1.2)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Config"]


class Config(BaseModel):
    """The base of a node's settings: a parameter annotated with a subclass is config, not a port.

    It is a pydantic model, frozen, that refuses fields it does not know; the flow's check reads it (S1.2).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
