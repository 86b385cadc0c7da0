"""Report a run as cagent does: the outputs of the steps at the end, as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataflow import EventKind
from dataflow.authoring import get_mapping
from dataflow_formats.cagent.file import META
from dataflow_formats.cagent.nodes import State, finished
from dataflow_formats.cagent.writer import AGENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow import Event
    from dataflow.authoring import JsonDict

__all__ = ["StepContext"]

HEADING: Final = "--- Step Context ---"


class StepContext:
    """Writes the outputs of the steps, also those of a failed workflow."""

    def __init__(self, document: JsonDict) -> None:
        self._is_talk = AGENT in get_mapping(get_mapping(document, "meta"), META)
        self._steps: Mapping[str, Any] = {}

    def see(self, event: Event) -> Iterable[str]:
        """Keep the outputs of the steps so far; nothing is written yet."""
        if event.kind is EventKind.NODE_FINISHED:
            given = (port.get("value") for port in event.data["ports"].values())
            for state in (one for one in given if isinstance(one, State)):
                self._steps = finished(state)
        return ()

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:
        """Return the heading and the outputs of the steps; a conversation with one agent has none."""
        if self._is_talk:
            return []
        steps = outputs.get("steps", self._steps)
        return [HEADING, json.dumps(steps, ensure_ascii=False, indent=2)]
