"""What is told of workflows of Clickweave, and of runs of them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from dataflow import Flow
from tests.messages.saving import files
from tests.messages.telling import Row, Stimulus
from tests.nodes.formats.clickweave.test_loading import REFUSED, TWO
from tests.nodes.formats.clickweave.workflows import node, run, saved, typing, workflow

__all__ = ["ROWS"]


def loaded(data: Any, **options: str) -> Stimulus:
    return files(lambda folder: Flow.load(saved(folder, data), format="clickweave", **options))


def ran(type: str, *says: str, answers: dict[str, Any], **config: Any) -> Stimulus:
    def stimulus() -> object:
        with tempfile.TemporaryDirectory() as folder:
            done = run(Path(folder), workflow([node("a", "It", type, **config)]), *says, **answers)
            assert done.error is not None
            raise done.error

    return stimulus


def failed_with_checks() -> object:
    with tempfile.TemporaryDirectory() as folder:
        done = run(
            Path(folder), workflow([typing("a", expected_outcome="it is typed")]), type_text=[{"error": "no"}]
        )
        assert done.error is not None
        raise done.error


FOCUS: Final[dict[str, Any]] = {"method": "AppName", "value": "calc"}
APPS: Final = {"list_apps": [[{"name": "Calc", "pid": 7}]]}
OLD: Final = {"id": "1", "name": "old", "nodes": [{"id": "2", "kind": "Start", "params": {}}], "edges": []}
# fmt: off
ROWS: Final = [
    *(Row(name, loaded(data)) for name, (data, expected) in REFUSED.items()),
    Row("the older form", loaded(OLD)),
    Row("a server that is no command", loaded(TWO, server="'")),
    Row("an empty server", loaded(TWO, server="")),
    Row("models that are none", loaded(TWO, model="house", vision_model="a b")),
    Row("no app runs", ran("FocusWindow", answers={"list_apps": [[]]}, **FOCUS)),
    Row("an app that does not run", ran("FocusWindow", "null", answers=APPS, **FOCUS)),
    Row("an answer that is no JSON", ran("FocusWindow", "Calculator", answers=APPS, **FOCUS)),
    Row("an app that is not listed", ran("FocusWindow", '{"name": "Mail"}', answers=APPS, **FOCUS)),
    Row("an app without a process", ran("FocusWindow", '{"name": "Calc"}', answers=APPS, **FOCUS)),
    Row("a walk with checks that fails", failed_with_checks),
    Row("nothing to click on", ran("Click", answers={"find_text": ["[]"]}, target="OK")),
]
# fmt: on
