"""Config: the fixed settings of a node, as a pydantic model (S1.2)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Config"]


class Config(BaseModel):
    """Subclass it for the settings of a node: a parameter annotated with the subclass is config, not a port."""

    model_config = ConfigDict(frozen=True, extra="forbid")
