"""Write the folder of a run as Clickweave does: records, events and artifacts of each node."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import NAMESPACE_URL, uuid5

from pydantic import TypeAdapter, ValidationError

from dataflow_formats.clickweave.checks import folder_name, folder_names
from dataflow_formats.clickweave.trace import Trace, line_of

if TYPE_CHECKING:
    from dataflow import Event
    from dataflow.authoring import JsonDict
    from dataflow_formats.clickweave.trace import Known, Traced

__all__ = ["RunFolder"]

ROOT: Final = ".clickweave/runs"
EVENTS: Final = "events.jsonl"
RECORD: Final = "run.json"
ARTIFACTS: Final = "artifacts"
#: The number of characters of a UUID at the end of the name of an execution.
CHARACTERS: Final = 12
RUNNING: Final = "Running"
#: The kinds of artifacts of tools with a text, by tool.
_TEXTS: Final = {"take_screenshot": "ocr", "find_image": "template-match"}


@dataclass(slots=True)
class RunFolder:
    """Writes the folder of one run below a project, event by event.

    Each node has a folder with `run.json`, `events.jsonl` and `artifacts`; the second pass through a node in
    a loop is written to the folder `2` in it. A resumed run continues in its folder.
    """

    document: JsonDict
    project: Path
    trace: Trace = field(init=False)
    execution: Path | None = None
    _visits: dict[str, _Visit] = field(default_factory=dict)
    _names: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.trace = Trace.of(self.document)
        self._names = folder_names({id: known.name for id, known in self.trace.nodes.items()})

    def see(self, event: Event) -> None:
        """Write the events of Clickweave for an event; raise OSError."""
        if self.execution is None:
            self.execution = self._execution(event)
            self.execution.mkdir(parents=True, exist_ok=True)
        for traced in self.trace.see(event):
            if traced.node is None:
                _append(self.execution / EVENTS, traced)
            else:
                self._visit(self.execution, traced.node, traced, event.run).take(traced)

    def _execution(self, event: Event) -> Path:
        """Return the folder of a run: the existing one, else one named by the time of its first event."""
        runs = self.project / ROOT / folder_name(self.document["name"])
        own = str(uuid5(NAMESPACE_URL, event.run))[:CHARACTERS]
        return next(runs.glob(f"*_{own}"), runs / f"{event.time:%Y-%m-%d_%H-%M-%S}_{own}")

    def _visit(self, execution: Path, node: Known, traced: Traced, run: str) -> _Visit:
        """Return the pass of an event: the last one, or a new one.

        A node may end without a beginning if it is cancelled, and may continue a pass from before an
        interruption of the run.
        """
        visit = self._visits.get(node.id)
        begins = traced.type == "node_started" and (visit is None or visit.is_over)
        if visit is None or begins:
            visit = self._opened(execution, node, traced.timestamp, run)
            self._visits[node.id] = visit
        return visit

    def _opened(self, execution: Path, node: Known, began: int, run: str) -> _Visit:
        folder = own = execution / self._names[node.id]
        number = 1
        while (folder / RECORD).exists():
            known = _Record.read(folder / RECORD)
            if known is not None and known.status == RUNNING:
                return _Visit(folder, known)
            number += 1
            folder = own / str(number)
        (folder / ARTIFACTS).mkdir(parents=True, exist_ok=True)
        about = (run, node.id, node.name, execution.name)
        return _Visit(folder, _Record(*about, began, None, RUNNING, node.trace_level))


@dataclass(slots=True)
class _Visit:
    """A pass through a node: its folder and its record."""

    folder: Path
    record: _Record

    @property
    def is_over(self) -> bool:
        return self.record.status != RUNNING

    def take(self, traced: Traced) -> None:
        """Write an event, its artifacts, and the record."""
        if traced.type in ("node_completed", "node_failed"):
            is_stopped = traced.payload.get("state") == "cancelled"
            failed = "Stopped" if is_stopped else "Failed"
            self.record.status = "Ok" if traced.type == "node_completed" else failed
            self.record.ended_at = traced.timestamp
        if self.record.trace_level != "Off":
            for image in traced.images:
                self._keep("image", image.media_type.partition("/")[2], image.data)
        if traced.type == "tool_result" and traced.payload["text"] and traced.payload["name"] in _TEXTS:
            self._keep(_TEXTS[traced.payload["name"]], "txt", traced.payload["text"].encode())
        self.record.write(self.folder / RECORD)
        _append(self.folder / EVENTS, traced)

    def _keep(self, kind: str, ending: str, data: bytes) -> None:
        number = sum(name.startswith(f"{ARTIFACTS}/{kind}-") for name in self.record.artifacts) + 1
        name = f"{ARTIFACTS}/{kind}-{number}.{ending}"
        (self.folder / name).write_bytes(data)
        self.record.artifacts.append(name)


@dataclass(slots=True)
class _Record:
    """The content of `run.json`: a pass through a node."""

    run_id: str
    node_id: str
    node_name: str
    execution_dir: str
    started_at: int
    ended_at: int | None
    status: str
    trace_level: str
    artifacts: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> _Record | None:
        """Read a record, None if it is malformed, as after a crash of the machine."""
        try:
            return TypeAdapter(cls).validate_json(file.read_bytes(), strict=True)
        except ValidationError:
            return None

    def write(self, file: Path) -> None:
        """Write the record atomically: a crash leaves the previous one."""
        new = file.with_suffix(".new")
        new.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")
        new.replace(file)


def _append(file: Path, traced: Traced) -> None:
    with file.open("a", encoding="utf-8") as events:
        events.write(line_of(traced.written) + "\n")
