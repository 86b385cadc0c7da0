"""Progress in the words of the system that a flow was written for (`--log-format`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.streams import tell
from dataflow.events import EventKind
from dataflow.wording import choices, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.events import Event
    from dataflow.formats.foreign import Words
    from dataflow.wiring import Wiring

__all__ = ["Worded", "words_of"]


def words_of(name: str, wiring: Wiring) -> Words:
    """Make the words of a format for a flow; raises Refused where there are none, or it is of another."""
    from dataflow.formats.choosing import formats  # loads the formats
    from dataflow.formats.foreign import MADE_OF

    having = {one.name: one.words for one in formats() if one.words is not None}
    if name not in having:
        problem = f"--log-format {name}: there are no such words; {choices(sorted(having))}"
        raise Refused([Problem(problem)], ExitCode.USAGE)
    of = wiring.meta.get(MADE_OF, name)
    if of != name:
        instead = f"write --log-format {of}, or leave it out" if of in having else "leave it out"
        problem = f"--log-format {name}: the flow is of the format {of}; {instead}"
        raise Refused([Problem(problem)], ExitCode.USAGE)
    return having[name](wiring)


class Worded:
    """A progress that writes the lines of a format to standard error."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._open: dict[str, None] = {}
        self.asked: set[str] = set()  # none: the words tell of asks in their own way

    def see(self, event: Event) -> None:
        """Take in an event."""
        if event.kind is EventKind.NODE_STARTED:
            self._open[event.path] = None
        elif event.kind is EventKind.NODE_FINISHED:
            self._open.pop(event.path, None)
        for line in self._words.see(event):
            tell(visible(line))

    def end(self, outputs: Mapping[str, Any]) -> None:
        """Write what stands at the end."""
        for line in self._words.end(outputs):
            tell(visible(line))

    def running(self) -> list[str]:
        """Return the paths of what is running."""
        return list(self._open)
