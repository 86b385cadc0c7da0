"""What a document names that stands in its folder, and is not found from another one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["left_behind", "named_beside"]

#: `module:function`, or a pattern of several functions.
_FUNCTIONS: Final = re.compile(r"(?P<module>\w{1,100})[\w.]*:\S+")


def left_behind(document: Mapping[str, Any], folder: Path, output: Path) -> str | None:
    """Tell what a document names in the folder of its original, if it is written into another one."""
    if output.resolve().parent == folder.resolve():
        return None
    names = named_beside(document, folder)
    if not names:
        return None
    return (
        f"{output} names what stands in {folder.resolve()}, and does not run from another folder: "
        f"{listed(names, len(names))}; write it there, or take these along"
    )


def named_beside(document: Mapping[str, Any], folder: Path) -> list[str]:
    """List the relative paths and the functions in a document that are found in this folder."""
    uses = document.get("uses", {}).values()
    modules = [name for name in uses if _is_module(name.partition(".")[0], folder)]
    found = [text for text in _texts(document) if _is_beside(text, folder)]
    return list(dict.fromkeys([*modules, *found]))


def _texts(document: Mapping[str, Any]) -> Iterator[str]:
    """Go through all values that are texts, in the order of the document."""
    left: list[Any] = [document]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case Mapping() as part:
                left.extend(reversed([*part.values()]))
            case list() as part:
                left.extend(reversed(part))
            case _:
                pass  # numbers and the like name nothing


def _is_beside(text: str, folder: Path) -> bool:
    function = _FUNCTIONS.fullmatch(text)
    if function is not None and _is_module(function["module"], folder):
        return True
    if PurePath(text).is_absolute():
        return False
    return _is_file(folder / text) or ("/" in text and _is_folder(folder / text))  # a name alone is a word


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # what is no name of a file, as a long text
        return False


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # as above
        return False


def _is_module(name: str, folder: Path) -> bool:
    return bool(name) and (_is_file(folder / f"{name}.py") or _is_folder(folder / name))
