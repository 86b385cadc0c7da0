"""Choosing the format of a file: by its content, unless it is named."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import choices
from dataflow.core.functions import importing
from dataflow.errors import FormatError, PackError
from dataflow.formats.foreign import Format
from dataflow.formats.native.document import FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.formats.tree import Positions

__all__ = ["GROUP", "NATIVE", "chosen", "formats"]

#: The entry points of formats.
GROUP: Final = "dataflow.formats"
NATIVE: Final = "native"
#: The key that makes a document a native one.
MARK: Final = "dataflow"


def chosen(data: Any, asked: str | None, name: str, positions: Positions) -> Format | None:
    """Return the foreign format of a file that has been read, None for the native one.

    Raises FormatError where the asked format is none, and where none is asked for and several formats take
    the file for theirs, or none does.
    """
    if asked is not None:
        return None if asked == NATIVE else _find_format(asked, name)
    if not isinstance(data, (dict, list)) or MARK in data:
        return None
    taking: list[Format] = []
    faults: list[str] = []
    for point in _points().values():
        try:
            found = _loaded(point)
        except PackError as error:  # what is broken takes nothing else along
            faults.append(str(error))
        else:
            taking += [found] if found.recognises(data) else []
    if len(taking) > 1:
        names = " and ".join(repr(found.name) for found in taking)
        raise FormatError(name, f"could be of the formats {names}; say which", *positions.find(()))
    if not taking and faults:
        reason = f"is of no format that can be used; {'; '.join(faults)}"
        raise FormatError(name, reason, *positions.find(()))
    if not taking and isinstance(data, dict):
        raise FormatError(name, _no_format(), *positions.find(()))
    return taking[0] if taking else None


def _no_format() -> str:
    return f"is a file of no known format: write `{MARK}: {FORMAT}`, or say the format; {choices(_points())}"


def _find_format(asked: str, name: str) -> Format:
    """Find a foreign format by its name; raises FormatError for the file that it was asked for."""
    points = _points()
    if asked not in points:
        raise FormatError(name, f"there is no format {asked!r}; {choices([NATIVE, *points])}")
    return _loaded(points[asked])


def formats() -> list[Format]:
    """Import every foreign format; raises PackError for one that is broken."""
    return [_loaded(point) for point in _points().values()]


def _points() -> Mapping[str, metadata.EntryPoint]:
    return {point.name: point for point in sorted(metadata.entry_points(group=GROUP))}


def _loaded(point: metadata.EntryPoint) -> Format:
    """Import a format; raises PackError, as for node types."""
    with importing(f"format {point.name}", point.value):
        found = point.load()
        if not isinstance(found, Format):
            raise TypeError(f"{point.value} is of type {type(found).__name__}; expected a Format")
    return found
