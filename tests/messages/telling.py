"""How the tables of messages get at a message: by what is raised, by the problems of a check, by a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

from pydantic import ValidationError

from dataflow import DataflowError, Diagnostic, Flow, FlowInvalid, NameUnknown, RunFailed
from dataflow.core.functions import import_function
from dataflow.diagnostics.diagnostic import NOWHERE
from dataflow.formats.native import reader
from dataflow.formats.native.writer import dump
from dataflow.packs.registry import find_type
from tests.formats.nesting import nest

__all__ = [
    "Row", "Stimulus", "configuring", "document", "dumped", "failing", "files", "foreign", "played", "told",
    "wired",
]  # fmt: skip

#: Raises, or returns problems or a text.
Stimulus: TypeAlias = Callable[[], object]
Wire: TypeAlias = Callable[[Flow], object]


class Row(NamedTuple):
    """A situation and what brings it about; the snapshot of its table has the message.

    `hide` is a pattern of what differs from run to run or is not the engine's; the snapshot has `…` there.
    """

    name: str
    stimulus: Stimulus
    hide: str = ""


def told(stimulus: Stimulus) -> str:
    """Return what is told: of a run that fails each failure, of an invalid flow each problem, on lines."""
    try:
        found = stimulus()
    except RunFailed as error:
        return "\n".join(failure.message for failure in error.failures)
    except FlowInvalid as error:
        return "\n".join(map(_shown, error.problems))
    except NameUnknown as error:
        return str(error)
    except KeyError as error:
        return str(error.args[0])
    except (DataflowError, ValueError, TypeError, AttributeError) as error:
        return str(error)
    return "\n".join(map(_shown, found)) if isinstance(found, list | tuple) else str(found)


def _shown(problem: object) -> str:
    """Write a problem without the line of a test that wires the flow."""
    if isinstance(problem, Diagnostic) and problem.location.file.endswith(".py"):
        problem = replace(problem, location=NOWHERE)
    return str(problem)


def files(make: Callable[[Path], object]) -> Stimulus:
    """Do something in a folder of its own, which is told as DIR."""

    def stimulus() -> str:
        with TemporaryDirectory() as folder:
            return told(lambda: make(Path(folder))).replace(folder, "DIR")

    return stimulus


def foreign(format: str, **given: str) -> tuple[Callable[..., Stimulus], Callable[..., Stimulus]]:
    """Return what loads a file of a format, and what returns its report; data are JSON, a text is YAML."""

    def load(folder: Path, data: Any, options: dict[str, str]) -> Flow:
        file = folder / ("flow.yaml" if isinstance(data, str) else "flow.json")
        file.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return Flow.load(file, **{"format": format, **given, **options})

    def loaded(data: Any, **options: str) -> Stimulus:
        return files(lambda folder: load(folder, data, options))

    def reported(data: Any, **options: str) -> Stimulus:
        return files(lambda folder: [str(remark) for remark in load(folder, data, options).report])

    return loaded, reported


def wired(wire: Wire) -> Stimulus:
    """Wire a flow and check it."""

    def stimulus() -> object:
        f = Flow("f")
        wire(f)
        return f.check()

    return stimulus


def document(text: str, name: str = "flow.yaml") -> Stimulus:
    """Read a document as YAML, or as JSON by its name, and check it; `...` is how each begins."""

    return lambda: _flow_of(text, name).check()


def played(text: str) -> Stimulus:
    """Run a document."""

    return lambda: _flow_of(text, "flow.yaml").run_sync()


def _flow_of(text: str, name: str) -> Flow:
    wiring = reader.load(text.replace("...", "dataflow: 1", 1), name, nest)
    return Flow.from_wiring(wiring, find_type, import_function)


def configuring(config: Callable[..., object], **settings: Any) -> Stimulus:
    """Make a config, and return the problems that its validators raise."""

    def stimulus() -> object:
        try:
            return config(**settings)
        except ValidationError as error:
            return [fault["ctx"]["error"] for fault in error.errors()]

    return stimulus


def dumped(wire: Wire) -> Stimulus:
    """Wire a flow and write it as a document."""

    def stimulus() -> object:
        f = Flow("f")
        wire(f)
        return dump(f.wiring)

    return stimulus


def failing(wire: Wire, **inputs: Any) -> Stimulus:
    """Wire a flow and run it."""

    def stimulus() -> object:
        f = Flow("f")
        wire(f)
        return f.run_sync(**inputs)

    return stimulus
