"""The calls in Python that make the parts of a flow, for the locations of its problems."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from dataflow.diagnostics.diagnostic import NOWHERE, Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

__all__ = ["CallSites"]

#: The code that contains a call, and the offset of its instruction.
CallSite: TypeAlias = "tuple[CodeType, int]"
#: The files whose frames are not the caller's: those of the engine, and `contextlib`, which enters loops.
_NOT_CALLERS: Final = (f"{Path(__file__).parents[1]}{os.sep}", contextlib.__file__)


class CallSites:
    """The calls in Python that made the parts of a flow, by the paths of the parts in a document of the flow.

    The calling code is the innermost frame outside the engine.
    """

    __slots__ = ("_instead", "_sites")

    def __init__(self) -> None:
        self._sites: dict[tuple[str | int, ...], CallSite] = {}
        self._instead: CallSite | None = None  # of a function that the engine makes parts for

    def note(self, path: tuple[str | int, ...], above: int = 1) -> None:
        """Record that the part at a path is made by the code that calls the engine now.

        `above` is the number of frames of the engine at least, without that of this function.
        """
        self._sites[path] = self._instead or _calling_site(above + 2)

    def find(self, path: Sequence[str | int]) -> Location:
        """Return the file and line of the call that made a part, or the nearest part that contains it."""
        for length in range(len(path), 0, -1):
            if site := self._sites.get(tuple(path[:length])):
                return _location_of(site)
        return NOWHERE

    @contextlib.contextmanager
    def made_by(self, function: object) -> Iterator[None]:
        """Record the definition of a function for the parts that the engine makes for it."""
        code = getattr(function, "__code__", None)
        self._instead = None if code is None else (code, -1)
        try:
            yield
        finally:
            self._instead = None

    def here(self) -> Location:
        """Return the file and line of the code that calls the engine now."""
        return _location_of(self._instead or _calling_site(2))


def _calling_site(above: int) -> CallSite:
    """Return the innermost call from outside the engine; the frames below `above` are known to be its own."""
    frame = sys._getframe(above)  # noqa: SLF001 - public in CPython, and far faster than inspect.stack
    code = frame.f_code
    while code.co_filename.startswith(_NOT_CALLERS) and frame.f_back is not None:
        frame = frame.f_back
        code = frame.f_code
    return code, frame.f_lasti


def _location_of(site: CallSite) -> Location:
    code, offset = site
    lines = (line for start, end, line in code.co_lines() if start <= offset < end)
    return Location(code.co_filename, next(lines, None) or code.co_firstlineno)
