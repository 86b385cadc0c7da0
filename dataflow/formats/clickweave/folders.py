"""The folder of an execution, as Clickweave keeps it: what each node has done, and the events of all."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import NAMESPACE_URL, uuid5

from dataflow.formats.clickweave.naming import folder_name
from dataflow.formats.clickweave.tracing import Trace
from dataflow.formats.clickweave.words import line_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dataflow.events import Event
    from dataflow.formats.clickweave.tracing import Known, Traced
    from dataflow.messages import Image
    from dataflow.wiring import Wiring

__all__ = ["RunFolder"]

ROOT: Final = ".clickweave/runs"
EVENTS: Final = "events.jsonl"
#: How much of a UUID the name of an execution ends with.
CHARACTERS: Final = 12


@dataclass(slots=True)
class _Visit:
    """A pass through a node: where it is kept, when it began and ended, how it went, and its images."""

    folder: Path
    node: Known
    started: int
    ended: int | None = None
    status: str = "Running"
    artifacts: list[str] = field(default_factory=list)

    def keep(self, images: Iterable[Image]) -> None:
        """Write the images of a tool, unless the node is to leave none behind."""
        for image in images if self.node.trace_level != "Off" else ():
            name = f"artifacts/image-{len(self.artifacts) + 1}.{image.media_type.partition('/')[2]}"
            (self.folder / name).write_bytes(image.data)
            self.artifacts.append(name)

    def write(self, run: str, execution: Path) -> None:
        """Write what is known of it."""
        told: dict[str, Any] = {
            "run_id": run, "node_id": self.node.id, "node_name": self.node.name,
            "execution_dir": execution.name, "started_at": self.started, "ended_at": self.ended,
            "status": self.status, "trace_level": self.node.trace_level, "artifacts": self.artifacts,
        }  # fmt: skip
        (self.folder / "run.json").write_text(json.dumps(told, indent=2), encoding="utf-8")


@dataclass(slots=True)
class RunFolder:
    """Writes the folder of one run below a project, event by event.

    Each node has a folder of its own, with `run.json`, `events.jsonl` and `artifacts`; a second pass through
    a node in a loop is kept in the folder `2` in that of the node.
    """

    project: Path
    wiring: Wiring
    trace: Trace = field(init=False)
    execution: Path | None = None
    visits: dict[str, list[_Visit]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trace = Trace.of(self.wiring)

    def see(self, event: Event) -> None:
        """Write what an event comes to; raises OSError."""
        if self.execution is None:
            stamp = f"{event.time:%Y-%m-%d_%H-%M-%S}_{str(uuid5(NAMESPACE_URL, event.run))[:CHARACTERS]}"
            self.execution = self.project / ROOT / folder_name(self.wiring.name) / stamp
            self.execution.mkdir(parents=True)
        for traced in self.trace.see(event):
            self._keep(self.execution, traced, event.run)

    def _keep(self, execution: Path, traced: Traced, run: str) -> None:
        if traced.node is None:
            _append(execution / EVENTS, traced)
            return
        visits = self.visits.setdefault(traced.node.id, [])
        if traced.type == "node_started":
            visits.append(_begun(execution, traced.node, len(visits), traced.timestamp))
        visit = visits[-1]
        if traced.type in ("node_completed", "node_failed"):
            visit.ended = traced.timestamp
            is_stopped = traced.payload.get("state") == "cancelled"
            visit.status = "Ok" if traced.type == "node_completed" else "Stopped" if is_stopped else "Failed"
        visit.keep(traced.images)
        visit.write(run, execution)
        _append(visit.folder / EVENTS, traced)


def _begun(execution: Path, node: Known, before: int, started: int) -> _Visit:
    folder = execution / folder_name(node.name)
    if before:
        folder /= str(before + 1)
    (folder / "artifacts").mkdir(parents=True)
    return _Visit(folder, node, started)


def _append(file: Path, traced: Traced) -> None:
    with file.open("a", encoding="utf-8") as events:
        events.write(line_of(traced.written) + "\n")
