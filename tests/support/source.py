"""The project's own source, for the tests that read it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

PACKS: Final = ("dataflow_control", "dataflow_agent", "dataflow_formats")
PACKAGES: Final = ("dataflow", *PACKS)


@dataclass(frozen=True, slots=True)
class Module:
    """One file of a package, with its dotted name."""

    name: str
    path: Path

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    def tree(self) -> ast.Module:
        return ast.parse(self.text(), filename=str(self.path))

    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Import:
    """One name that a module imports: `name` is None for `import module`."""

    module: str
    name: str | None
    line: int


def home_of(definition: Any) -> ModuleType:
    return sys.modules[definition.__module__]


def modules_of(package: str) -> list[Module]:
    spec = importlib.util.find_spec(package)
    assert spec is not None, f"{package} is not installed"
    assert spec.origin is not None, f"{package} has no __init__.py"
    root = Path(spec.origin).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found.append(Module(".".join((package, *parts)).removesuffix(".__init__"), path))
    return found


def imports_of(module: Module, *, for_types: bool = False) -> Iterator[Import]:
    """Yield what a module imports, inside functions too; `for_types` adds what only type checkers read."""
    todo: list[ast.AST] = [module.tree()]
    while todo:
        node = todo.pop()
        match node:
            case ast.Import(names=names):
                yield from (Import(alias.name, None, node.lineno) for alias in names)
            case ast.ImportFrom(names=names):
                origin = _origin(module, node)
                yield from (Import(origin, alias.name, node.lineno) for alias in names)
            case ast.If(test=test, orelse=orelse) if _is_type_checking(test) and not for_types:
                todo += orelse
            case _:
                todo += ast.iter_child_nodes(node)


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".")
    kept = package[: len(package) - node.level + module.is_package]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
