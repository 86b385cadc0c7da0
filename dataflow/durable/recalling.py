"""Recalling: which facts a journal has already that come about again while its run is restored (S11.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.core.events import EventKind
from dataflow.core.states import NodeState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.durable.past import Past

__all__ = ["Recalling"]


class Recalling:
    """Knows what was reported in earlier sittings of a run, so that it is not told again."""

    def __init__(self, past: Past) -> None:
        self.is_replaying = True  # nothing new has happened in this sitting
        self._past = past
        self._ends_told = {path for path, firing in past.firings.items() if firing.state is not None}

    def has(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> bool:
        """Tell whether the journal has a fact that comes about again while the run is restored."""
        past = self._past
        match kind:
            case EventKind.NODE_FINISHED:
                return self._has_ended(path, data["state"])
            case EventKind.NODE_STARTED:
                firing = past.firings.get(path)
                attempt: int = data["attempt"]
                return firing is not None and firing.is_opener and firing.attempt >= attempt
            case EventKind.LOOP_ROUND:
                rounds: int = data["round"]
                return past.rounds.get(path, 0) > rounds
            case EventKind.LOOP_EXITED:
                return path in past.exits and past.exits[path] == (data["reason"], data["iterations"])
            case EventKind.MAP_OPENED:
                return path in past.maps
            case EventKind.RACE_DECIDED:
                return path in past.races
            case EventKind.ASK_ANSWERED:
                return path in past.firings and past.firings[path].is_answered
            case EventKind.ASK_CLOSED:
                return self.is_replaying and path in past.firings and past.firings[path].is_closed
            case EventKind.WARNING:
                return (path, data["code"], data["text"]) in past.warnings
            case _:
                return False

    def _has_ended(self, path: str, state: str) -> bool:
        firing = self._past.firings.get(path)
        if firing is None or firing.state is None or path not in self._ends_told:
            return False
        if firing.state.value != state or not (self.is_replaying or state == NodeState.SKIPPED.value):
            return False
        self._ends_told.discard(path)
        return True
