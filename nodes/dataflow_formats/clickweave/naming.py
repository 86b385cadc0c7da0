"""Names that are made of the names of nodes: of variables, and of folders."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dataflow.authoring import free_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["folder_name", "folder_names", "prefix_of"]

_OTHERS: Final = re.compile(r"[^a-z0-9]+")
UNNAMED: Final = "unnamed"
#: The most characters of a folder: file systems take 255, and what makes names unique comes behind.
LONGEST: Final = 100


def prefix_of(name: str) -> str:
    """Return what the variables of a node begin with: `Click (OK)` gives `click__ok_`."""
    return "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name.lower())


def folder_name(name: str) -> str:
    """Return the folder of a node or a workflow: `Click #5` gives `click-5`."""
    return _OTHERS.sub("-", name.lower()).strip("-")[:LONGEST].strip("-") or UNNAMED


def folder_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return the folders of nodes by their ids: a name that is taken gets a number behind it."""
    found: dict[str, str] = {}
    for id, name in names.items():
        found[id] = free_name(folder_name(name), found.values(), between="-")
    return found
