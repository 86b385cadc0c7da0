"""Runs in the words of cagent: the outputs of the steps, as JSON, at the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataflow import EventKind
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
    """Writes what the steps have given, also when the workflow has failed."""

    def __init__(self, document: JsonDict) -> None:
        kept = document.get("meta", {}).get(META)
        self._is_talk = isinstance(kept, dict) and AGENT in kept
        self._steps: Mapping[str, Any] = {}

    def see(self, event: Event) -> Iterable[str]:
        """Remember what the steps have given so far; nothing is written yet."""
        if event.kind is EventKind.NODE_FINISHED:
            given = (told.get("value") for told in event.data["ports"].values())
            for state in (one for one in given if isinstance(one, State)):
                self._steps = finished(state)
        return ()

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:
        """Return the heading and the outputs of the steps; a talk has none."""
        if self._is_talk:
            return []
        steps = outputs.get("steps", self._steps)
        return [HEADING, json.dumps(steps, ensure_ascii=False, indent=2)]
