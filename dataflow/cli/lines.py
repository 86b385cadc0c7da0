"""Progress of a run as lines, and as a trace with values."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import Failure
from dataflow.base.wording import counted
from dataflow.cli.board import key_of
from dataflow.cli.output import MOST_REASON, duration, one_line, tell
from dataflow.cli.paths import path_text, with_paths
from dataflow.core.events import EventKind
from dataflow.core.states import NodeState
from dataflow.inspection.json_values import shortened_repr

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from dataflow.core.events import Event

__all__ = ["Lines", "Trace"]

_DISABLED: Final = "disabled"  # the reason why a disabled node is skipped
_FAILED: Final = (NodeState.FAILED, NodeState.TIMED_OUT)
MOST_ASKED: Final = 20  # asks that are printed when they open
_WIDTH: Final = max(len(state.value) for state in NodeState)
MOST_CHARACTERS: Final = 100  # of a value
INDENT: Final = "    "


def _is_handled(state: NodeState, event: Event) -> bool:
    """Return whether a failure was handled, so that it is not reported at the end of the run."""
    return state in _FAILED and not any("error" in token for token in event.data.get("ports", {}).values())


NO_MAPS: Final[Mapping[str, int | None]] = MappingProxyType({})


class Lines:
    """A progress that writes lines to standard error; with `every_item` one for each item, failed or not.

    For a file of another system `own` are the keys of its nodes, the only ones with lines; else it is None.
    Unreachable nodes of such a file are disabled and have no lines; the report on the file lists them.
    """

    def __init__(
        self,
        *,
        every_item: bool = False,
        own: Collection[str] | None = None,
        maps: Mapping[str, int | None] = NO_MAPS,
    ) -> None:
        self._every_item = every_item
        self._own = own
        # open maps by path, with the number of items if known; of a resumed run also those before
        self._maps: dict[str, int | None] = {**maps}
        self._began: dict[str, datetime] = {}
        self.asked: set[str] = set()  # asks that were printed

    def see(self, event: Event) -> None:
        """Print the line of an event."""
        match event.kind:
            case EventKind.NODE_STARTED:
                self._began.setdefault(event.path, event.time)  # of the first attempt
            case EventKind.MAP_OPENED:
                self._maps[event.path] = event.data["items"]
            case EventKind.ASK_OPENED:
                self._asks(event)
            case EventKind.NODE_FINISHED:
                self._ended(event)
            case _:
                pass

    def running(self) -> list[str]:
        """Return the paths of running firings."""
        return [*map(path_text, self._began)]

    def _asks(self, event: Event) -> None:
        from dataflow.cli.asks import tell_ask  # few flows ask
        from dataflow.inspection.open_asks import of_event

        self._began.pop(event.path, None)  # it waits, and does not run
        if len(self.asked) < MOST_ASKED and event.path not in self.asked:
            self.asked.add(event.path)
            tell_ask(of_event(event))

    def _ended(self, event: Event) -> None:
        began = self._began.pop(event.path, None)
        items = self._maps.pop(event.path, None)  # before the check whether it is itself an item
        state = NodeState(event.data["state"])
        if state is NodeState.NOT_RUN or self._is_passed_over(state, event.path):
            return
        if self._own is not None and (
            key_of(event.path) not in self._own or event.data.get("reason") == _DISABLED
        ):
            return
        parts = [state.value.ljust(_WIDTH), path_text(event.path)]
        if items is not None:
            parts.append(counted(items, "item"))
        if began is not None:
            parts.append(duration((event.time - began).total_seconds()))
        is_told = (
            began is None or _is_handled(state, event) or (state in _FAILED and self._is_in_map(event.path))
        )
        if "reason" in event.data and is_told:
            parts.append(f"({one_line(with_paths(event.data['reason'], [event.path]), MOST_REASON)})")
        tell("  ".join(parts))

    def _is_passed_over(self, state: NodeState, path: str) -> bool:
        return not self._every_item and state not in _FAILED and self._is_in_map(path)

    def _is_in_map(self, path: str) -> bool:
        """Return whether a path is inside an open map."""
        return any(path[:place] in self._maps for place, letter in enumerate(path) if letter == "[")


class Trace:
    """A progress that writes lines to standard error, with inputs and outputs."""

    def __init__(self) -> None:
        self._lines = Lines(every_item=True)
        self._given: dict[str, Mapping[str, Any]] = {}  # the inputs of running firings, by path

    @property
    def asked(self) -> Collection[str]:
        """The asks that were printed when they opened."""
        return self._lines.asked

    def running(self) -> list[str]:
        """Return the paths of running firings."""
        return self._lines.running()

    def see(self, event: Event) -> None:
        """Print the lines of an event."""
        self._lines.see(event)
        match event.kind:
            case EventKind.NODE_STARTED:
                self._given[event.path] = event.data.get("inputs", {})
            case EventKind.ATTEMPT_FAILED:
                attempt = f"attempt {event.data['attempt']} of {path_text(event.path)}"
                tell(f"{attempt} failed: {_failure(event.data['error'])}")
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
    return f"failed: {_failure(token['error'])}"


def _failure(failure: object) -> str:
    if isinstance(failure, Failure):
        return one_line(f"{failure.type}: {failure.message}", MOST_CHARACTERS)
    return one_line(str(failure), MOST_CHARACTERS)


def _short(value: object) -> str:
    return one_line(shortened_repr(value, MOST_CHARACTERS), MOST_CHARACTERS)
