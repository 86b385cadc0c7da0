"""How the tables of messages get at a message: by what is raised, by the problems of a check, by a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import iscoroutinefunction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, ParamSpec, TypeAlias

import anyio
from pydantic import ValidationError

from dataflow import DataflowError, Diagnostic, Flow, FlowInvalid, NameUnknown, RunFailed
from dataflow.core.functions import import_function
from dataflow.diagnostics.diagnostic import NOWHERE
from dataflow.formats.native import reader
from dataflow.formats.native.writer import dump
from dataflow.packs.registry import find_type
from tests.formats.nesting import nest

#: Raises, or returns problems or a text.
Stimulus: TypeAlias = Callable[[], object]
Wire: TypeAlias = Callable[[Flow], object]
P = ParamSpec("P")


class Row(NamedTuple):
    """A situation and what brings it about; the snapshot of its table has the message.

    `hide` is a pattern of what differs from run to run or is not the engine's; the snapshot has `…` there.
    """

    name: str
    stimulus: Stimulus
    hide: str = ""


def later(work: Callable[P, object]) -> Callable[P, Stimulus]:
    """Have a function, which may be async, return what does its work."""

    def given(*args: P.args, **kwargs: P.kwargs) -> Stimulus:
        doing: Any = partial(work, *args, **kwargs)
        return partial(anyio.run, doing) if iscoroutinefunction(work) else doing

    return given


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


@later
def files(make: Callable[[Path], object]) -> str:
    """Do something in a folder of its own, which is told as DIR."""
    with TemporaryDirectory() as folder:
        return told(lambda: make(Path(folder))).replace(folder, "DIR")


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


@later
def wired(wire: Wire) -> object:
    f = Flow("f")
    wire(f)
    return f.check()


def document(text: str, name: str = "flow.yaml") -> Stimulus:
    """Read a document as YAML, or as JSON by its name, and check it; `...` is how each begins."""

    return lambda: _flow_of(text, name).check()


def played(text: str) -> Stimulus:
    return lambda: _flow_of(text, "flow.yaml").run_sync()


def _flow_of(text: str, name: str) -> Flow:
    wiring = reader.load(text.replace("...", "dataflow: 1", 1), name, nest)
    return Flow.from_wiring(wiring, find_type, import_function)


@later
def configuring(config: Callable[..., object], **settings: Any) -> object:
    try:
        return config(**settings)
    except ValidationError as error:
        return [fault["ctx"]["error"] for fault in error.errors()]


@later
def dumped(wire: Wire) -> object:
    f = Flow("f")
    wire(f)
    return dump(f.wiring)


@later
def failing(wire: Wire, **inputs: Any) -> object:
    f = Flow("f")
    wire(f)
    return f.run_sync(**inputs)
