"""The base of the configs of this pack."""

from __future__ import annotations

from pydantic import ConfigDict

from dataflow import Config

__all__ = ["StrictConfig"]


class StrictConfig(Config):
    """A config that takes its values as they are: no text becomes a number, nor the other way round."""

    model_config = ConfigDict(strict=True)
