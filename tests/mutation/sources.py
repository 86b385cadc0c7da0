"""Functions of the engine and the changes that Cosmic Ray's operators make in them."""

from __future__ import annotations

import ast
import difflib
import importlib
import pickle
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from types import CodeType
from typing import Any, Final

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.plugins import get_operator

import dataflow

ENGINE: Final = Path(dataflow.__file__).parent


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a function that an operator changes, counted within that function."""

    function: str
    operator: str
    occurrence: int


@dataclass(frozen=True, slots=True)
class Change:
    """A function with one change in it."""

    site: Site
    file: Path
    text: str
    line: str
    diff: str

    @property
    def code(self) -> CodeType:
        """What the function is compiled to."""
        return _codes(self.text, self.file)[self.site.function]


@dataclass(frozen=True)
class Source:
    """The text of a module."""

    file: Path

    @cached_property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")

    @cached_property
    def codes(self) -> dict[str, CodeType]:
        """What its functions are compiled to."""
        return _codes(self.text, self.file)

    @cached_property
    def _pickled(self) -> bytes:
        return pickle.dumps(get_ast(self.text))

    def tree(self) -> Any:
        """Return a new tree, for operators change it in place."""
        return pickle.loads(self._pickled)

    def change(self, site: Site) -> Change | None:
        """Make the change of a site; return None if it changes nothing that runs, or is not there."""
        tree = self.tree()
        body = next((body for name, body in _functions(tree) if name == site.function), None)
        if body is None:
            return None
        MutationVisitor(site.occurrence, get_operator(site.operator)()).walk(body)
        text = tree.get_code()
        try:
            code = _codes(text, self.file)[site.function]
        except SyntaxError:
            return None
        if _is_same(code, self.codes[site.function]):
            return None
        diff = [
            line
            for line in difflib.unified_diff(self.text.splitlines(), text.splitlines(), lineterm="", n=0)
            if not line.startswith(("---", "+++", "@@"))
        ]
        line = next(line[1:].strip() for line in diff if line[0] == "+")
        return Change(site, self.file, text, line, "\n".join(diff))

    def change_to(self, line: str, site: Site) -> Change | None:
        """Make the change that leads to a line: that of its site, or else of another place of the function.

        Where none leads to it any more it is that of the site.
        """
        own = self.change(site)
        if own is not None and own.line == line:
            return own
        elsewhere = map(self.change, sites_of(self, site.function, site.operator))
        return next((change for change in elsewhere if change and change.line == line), own)

    def position(self, site: Site) -> tuple[int, int]:
        body = next(body for name, body in _functions(self.tree()) if name == site.function)
        positions = _positions(body, get_operator(site.operator)())
        line, column = next(islice(positions, site.occurrence, None))[0]
        return line, column


def sites_of(source: Source, function: str, operator: str) -> Iterator[Site]:
    """Yield the places of a function that an operator can change."""
    changes = get_operator(operator)()
    for found, body in _functions(source.tree()):
        if found == function:
            for occurrence, _ in enumerate(_positions(body, changes)):
                yield Site(found, operator, occurrence)


def find(module: str, function: str) -> str:
    """Return the module that has a function now: the one it was in, else the only other one."""
    files = {
        ".".join(file.relative_to(ENGINE.parent).with_suffix("").parts): file for file in ENGINE.rglob("*.py")
    }
    if module in files and function in read(module).codes:
        return module
    found = [name for name in files if function in read(name).codes]
    return found[0] if len(found) == 1 else module


@cache
def read(module: str) -> Source:
    return Source(Path(str(importlib.import_module(module).__file__)))


def _functions(node: Any, outer: str = "") -> Iterator[tuple[str, Any]]:
    """Yield name and body of each function that is not within another."""
    for child in getattr(node, "children", ()):
        if child.type == "funcdef":
            yield outer + child.name.value, child.children[-1]
        elif child.type == "classdef":
            yield from _functions(child, f"{outer}{child.name.value}.")
        else:
            yield from _functions(child, outer)


def _positions(body: Any, operator: Any) -> Iterator[Any]:
    for node in ast_nodes(body):
        yield from operator.mutation_positions(node)


def _codes(text: str | ast.Module, file: Path) -> dict[str, CodeType]:
    """Compile a module, and return the code of each function that is not within another."""
    codes: dict[str, CodeType] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of what an operator made
        open_codes = [compile(text, str(file), "exec", dont_inherit=True)]
    while open_codes:
        for code in open_codes.pop().co_consts:
            if isinstance(code, CodeType):
                codes.setdefault(code.co_qualname, code)
                open_codes.append(code)
    return codes


def _is_same(one: object, other: object) -> bool:
    """Whether two codes, or constants of two codes, do the same, wherever they are in their lines."""
    if not (isinstance(one, CodeType) and isinstance(other, CodeType)):
        return type(one) is type(other) and one == other
    constants = zip(one.co_consts, other.co_consts, strict=False)
    return (one.co_code, one.co_names, len(one.co_consts)) == (
        other.co_code,
        other.co_names,
        len(other.co_consts),
    ) and all(_is_same(*pair) for pair in constants)


def mark(source: Source, sites: dict[int, Site]) -> dict[str, CodeType]:
    """Return the code of functions that call `__mark__` with a number before the statement of its site."""
    tree = ast.parse(source.text)
    for key, site in sites.items():
        body, statement = _statement_at(tree, source.position(site))
        call = ast.Call(ast.Name("__mark__", ast.Load()), [ast.Constant(key)], [])
        body.insert(body.index(statement), ast.copy_location(ast.Expr(call), statement))
    codes = _codes(ast.fix_missing_locations(tree), source.file)
    return {site.function: codes[site.function] for site in sites.values()}


def _statement_at(tree: ast.Module, position: tuple[int, int]) -> tuple[list[ast.stmt], ast.stmt]:
    """Return the innermost statement at a position, and the list that it is in."""
    found: list[tuple[list[ast.stmt], ast.stmt]] = []
    for node in ast.walk(tree):
        for _, body in ast.iter_fields(node):
            if isinstance(body, list):
                found += [(body, one) for one in body if isinstance(one, ast.stmt) and _spans(one, position)]
    return min(found, key=lambda pair: _extent(pair[1]))


def _spans(node: ast.stmt, position: tuple[int, int]) -> bool:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= position < end


def _extent(node: ast.stmt) -> tuple[int, int]:
    lines = (node.end_lineno or node.lineno) - node.lineno
    return lines, (node.end_col_offset or 0) - (node.col_offset if not lines else 0)
