# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator"
"""What is said of files, of the Python that documents name, and of flows that cannot be written (S20)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from unittest.mock import patch

from pydantic import ValidationInfo, field_validator

from dataflow import Flow, Retry, each, node
from dataflow.cli.targets import find_flow
from dataflow.core.config import Config
from dataflow.core.public_names import public_module
from dataflow.core.wiring import Carried, Literally, LoopBlock
from dataflow.loading import read_document
from tests.behaviour.flow_parts import inc
from tests.messages.telling import Row, Stimulus, dumped, files

__all__ = ["ROWS"]


class Options(Config):
    made: Any = None


async def configured(options: Options, x: int = 1) -> int:
    return 1


async def dated(day: date, x: Any = 1) -> int:
    return 1


class Odd:
    def __repr__(self) -> str:
        return "<odd>"


def used(python: str | None, uses: str = "./own.py", name: str = "own.f") -> Stimulus:
    """Load a document that uses a Python file."""

    def make(folder: Path) -> object:
        if python is not None:
            (folder / "own.py").write_text(python)
        (folder / "flow.yaml").write_text(
            f"dataflow: 1\nuses: {{own: {uses}}}\nnodes: {{a: {{type: {name}}}}}\n"
        )
        return Flow.load(folder / "flow.yaml")

    return files(make)


def loaded(text: str, **options: Any) -> Stimulus:
    def make(folder: Path) -> object:
        (folder / "flow.yaml").write_text(text)
        return Flow.load(folder / "flow.yaml", **options)

    return files(make)


def target(python: str, name: str = "") -> Stimulus:
    def make(folder: Path) -> object:
        (folder / "own.py").write_text(python)
        return find_flow(f"{folder / 'own.py'}{name}")

    return files(make)


def stored_as(name: str) -> Callable[[], object]:
    def use() -> object:
        package: Any = ModuleType("acme")
        package.__stored_as__ = name
        with patch.dict(sys.modules, acme=package):
            return public_module("acme")

    return use


def unseen(folder: Path) -> object:
    (folder / "flow.yaml").write_text(
        "dataflow: 1\nuses: {own: ./own.py}\nnodes: {a: {type: own.f}, b: {type: own.g}}\n"
    )
    return Flow.from_wiring(*read_document(folder / "flow.yaml", Flow.from_wiring, imports=False)).compile()


def recursive(folder: Path) -> object:
    (folder / "own.py").write_text(
        "from pathlib import Path\nfrom dataflow import Flow\nf = Flow.load(Path(__file__).parent / 'flow.yaml')\n"
    )
    (folder / "flow.yaml").write_text("dataflow: 1\nuses: {own: ./own.py}\nnodes: {a: {type: own.f}}\n")
    return Flow.load(folder / "flow.yaml")


def a_loop_without_a_next_value(f: Flow) -> None:
    loop = LoopBlock("l", limit=1, carries={"c": Carried(Literally(1), None)})
    f.wiring.block.nodes["l"] = loop


def of_a_pack() -> Any:
    """Return a function of a module that is called like a pack of the engine."""

    def read_text(item: object) -> str:
        return str(item)

    read_text.__module__, read_text.__qualname__ = "control", "read_text"
    return read_text


class Sized(Config):
    size: int

    @field_validator("size")
    @classmethod
    def _is_small(cls, size: int, info: ValidationInfo) -> int:
        if info.mode == "json":
            raise ValueError("too large")
        return size


async def sized(sized: Sized) -> int:
    return 1


# fmt: off
ROWS: Final = [
    Row("a missing file", files(lambda folder: Flow.load(folder / 'flow.yaml'))),
    Row("a folder", files(Flow.load)),
    Row("a device", lambda: Flow.load('/dev/zero')),
    Row("a name with a NUL", lambda: Flow.load('a\x00'), hide="(?<=read: ).*"),
    Row("a format", loaded('dataflow: 1', format='visio')),
    Row("a file in itself", loaded('dataflow: 1\nnodes: {a: {flow: flow.yaml}}')),
    Row("a file with problems in it", loaded('dataflow: 1\nnodes: {a: {flow: {dataflow: 1, nodez: 1}}}')),
    Row("not looked into", files(unseen)),
    Row("a missing Python file", used(None)),
    Row("a file that leaves", used('raise SystemExit')),
    Row("no function in it", used('f = 3\ndef g(): ...')),
    Row("no function that can be seen", used('class C:\n    def __call__(self): ...\n    def __getattr__(self, name): raise KeyError(name)\nf = C()')),
    Row("a module that cannot be one", used(None, '..own')),
    Row("a flow that uses itself", files(recursive)),
    Row("no flow", target('x = 1')),
    Row("no such flow", target("from dataflow import Flow\nf = Flow('f')", ':g')),
    Row("several flows", target("from dataflow import Flow\nf = Flow('f')\ng = Flow('g')")),
    Row("no such module", lambda: find_flow('nowhere:f')),
    Row("a public name that is none", stored_as("no:name")),
    Row("a public name of the engine", stored_as("agent")),
    Row("a constant without a form", dumped(lambda f: f.add(dated, x=Odd(), day=date(2026, 1, 2)))),
    Row("a long number", dumped(lambda f: f.add(dated, x=10 ** 1000, day=date(2026, 1, 2)))),
    Row("a key that is no text", dumped(lambda f: f.add(dated, x={1: 2}, day=date(2026, 1, 2)))),
    Row("half a surrogate pair", dumped(lambda f: f.add(dated, x='\ud800', day=date(2026, 1, 2)))),
    Row("a default without a form", dumped(lambda f: f.input('x', Any, Odd()))),
    Row("a type without a schema", dumped(lambda f: f.input('x', Odd))),
    Row("a lambda of a branch", dumped(lambda f: f.when(1, lambda x: x > 0))),
    Row("a function of a module like a pack", dumped(lambda f: f.add(inc, x=each([1], key=of_a_pack())))),
    Row("a config without a form", dumped(lambda f: f.add(configured, Options(made=Odd())))),
    Row("a config that is read as another", dumped(lambda f: f.add(configured, Options(made=(1, 2))))),
    Row("before of a retry", dumped(lambda f: f.add(node(retries=Retry(1, before=print))(inc), x=1))),
    Row("a default of a policy", dumped(lambda f: f.add(node(default=Odd())(inc), x=1))),
    Row("no next value", dumped(a_loop_without_a_next_value)),
    Row("a name that is no text", dumped(lambda f: f.wiring.meta.update(a=Odd()))),
    Row("an empty id", dumped(lambda f: f.add(node(inc).with_(name=''), x=1))),
]
# fmt: on
