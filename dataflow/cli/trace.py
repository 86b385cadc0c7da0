"""`--trace`: the plain lines of progress, and below each what the firing was given and what it gave.

Of a map there is a line for each item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import Failure
from dataflow.base.wording import visible
from dataflow.cli.lines import Lines
from dataflow.cli.streams import tell
from dataflow.cli.texts import one_line
from dataflow.core.events import EventKind
from dataflow.core.states import NodeState
from dataflow.inspection.json_values import shortened_repr

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dataflow.core.events import Event

__all__ = ["Trace"]

MOST_CHARACTERS: Final = 100  # of a value
INDENT: Final = "    "


class Trace:
    """A progress that writes lines to standard error, with inputs and outputs."""

    def __init__(self) -> None:
        self._lines = Lines(every_item=True)
        self._given: dict[str, Mapping[str, Any]] = {}  # the inputs of what is running, by path

    @property
    def asked(self) -> Collection[str]:
        """The asks that were told when they opened."""
        return self._lines.asked

    def running(self) -> list[str]:
        """Return the paths of what is running."""
        return self._lines.running()

    def see(self, event: Event) -> None:
        """Take in an event."""
        self._lines.see(event)
        match event.kind:
            case EventKind.NODE_STARTED:
                self._given[event.path] = event.data.get("inputs", {})
            case EventKind.ATTEMPT_FAILED:
                attempt = f"attempt {event.data['attempt']} of {visible(event.path)}"
                tell(f"{attempt} failed: {_told(event.data['error'])}")
            case EventKind.NODE_FINISHED if event.data["state"] != NodeState.NOT_RUN.value:
                for name, value in self._given.pop(event.path, {}).items():
                    tell(f"{INDENT}{name} = {_short(value)}")
                for name, token in event.data["ports"].items():
                    if not name.startswith("$"):
                        tell(f"{INDENT}-> {name} {_token(token)}")
            case _:
                pass


def _token(token: Mapping[str, Any]) -> str:
    if "value" in token:
        return f"= {_short(token['value'])}"
    if "skip" in token:
        return f"skipped: {one_line(token['skip'], MOST_CHARACTERS)}"
    return f"failed: {_told(token['error'])}"


def _told(failure: object) -> str:
    if isinstance(failure, Failure):
        return one_line(f"{failure.type}: {failure.message}", MOST_CHARACTERS)
    return one_line(str(failure), MOST_CHARACTERS)


def _short(value: object) -> str:
    return one_line(shortened_repr(value, MOST_CHARACTERS), MOST_CHARACTERS)
