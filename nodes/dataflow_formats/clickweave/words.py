"""A run in the words of Clickweave: its trace, an event a line, in JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dataflow.authoring import redacted
from dataflow_formats.clickweave.tracing import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow import Event
    from dataflow.authoring import JsonDict

__all__ = ["ClickweaveWords", "line_of"]


class ClickweaveWords:
    """Tells each event of the trace; events of a node have its name."""

    def __init__(self, document: JsonDict) -> None:
        self._trace = Trace.of(document)

    def see(self, event: Event) -> Iterable[str]:
        """Return the lines that an event comes to."""
        for traced in self._trace.see(event):
            about = {} if traced.node is None else {"node": traced.node.name}
            yield line_of({**about, **traced.written})

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:  # noqa: ARG002 - all has been told
        """Return the lines that stand at the end: none."""
        return ()


def line_of(told: Mapping[str, Any]) -> str:
    """Write one event without secrets; what JSON has no form for stands there as text."""
    return redacted(json.dumps(told, ensure_ascii=False, default=str))
