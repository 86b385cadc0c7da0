"""Config: the fixed settings of a node, as a pydantic model (S1.2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from pydantic import ValidationInfo

__all__ = ["FOLDER", "Config", "resolve_path"]

#: Where the context of a check has the folder of the document that the config stands in.
FOLDER: Final = "folder"


class Config(BaseModel):
    """The base of a node's settings: a parameter annotated with a subclass is config, not a port.

    It is a pydantic model, frozen, that refuses fields it does not know; the flow's check reads it (S1.2).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


def resolve_path(path: str, info: ValidationInfo) -> str:
    """Return a path in a config as absolute, from the folder of the document that has it.

    `info` is what pydantic gives a validator of the config. The path of a config that no document has is
    returned as it is, and so is an empty one.
    """
    folder = (info.context or {}).get(FOLDER)
    return str(Path(folder, path).absolute()) if folder and path else path
