"""Config: the fixed settings of a node, as a pydantic model (S1.2)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Config"]


class Config(BaseModel):
    """Subclass it and annotate one parameter of a node with the subclass: that parameter is config, not a port."""

    model_config = ConfigDict(frozen=True, extra="forbid")
