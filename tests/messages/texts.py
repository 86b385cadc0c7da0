"""The texts of messages in the source: every text in a function that raises or adds a problem."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from dataflow import errors
from dataflow.core.discovery import offers
from dataflow.packs.registry import find_type
from tests.support.source import modules_of

__all__ = ["EXEMPT", "UNSHOWN", "texts_of_messages"]

#: Functions and classes that are given a message.
REPORTS: Final = {
    "problem",
    "_problem",
    "fail",
    "_fail",
    "warn",
    "_invalid",
    "Problem",
    "Refused",
    "Unreadable",
    "Fault",
    *(name for name, kind in vars(errors).items() if isinstance(kind, type)),
}
#: What a connection to a database is told by; the first argument of each is a statement, and no message.
EXECUTES: Final = {"execute", "executemany", "executescript"}
#: Texts that are told where no test can go, or are no messages, with the reason.
EXEMPT: Final[dict[str, str]] = {
    "internal error: nothing is running and these ports never settled:": "it cannot come about",
    "internal error: nothing is running and port": "as above",
    "Value error,": "taken off what pydantic says",
    "a part of the kind": "of what a later jinja2 may parse",
    "nesting depth": "recognised in what libyaml says",
}
#: Codes that no row shows, with the reason.
UNSHOWN: Final[dict[str, str]] = {
    "DF1109": "raised in a forked process, in tests/stores/test_sqlite_files.py",
}
#: Modules whose messages depend on what is installed, and where those are compared whole.
ELSEWHERE: Final = {
    offers.__module__: "tests/packs/test_registry.py",
    find_type.__module__: "tests/packs/test_registry.py",
}
LEAST: Final = 6  # characters of a text that means something


def texts_of_messages() -> Iterator[tuple[str, str]]:
    """Give each text of the engine with its module; of an f-string the longest constant part."""
    found: dict[tuple[str, str], None] = {}
    for module in modules_of("dataflow"):
        if module.name.startswith("dataflow.cli") or module.name in ELSEWHERE:
            continue
        for function in ast.walk(module.tree()):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and _reports(function):
                for text in _texts(ast.Module(function.body, [])):
                    if len(text) >= LEAST and " " in text:
                        found[module.name, text] = None
    yield from found


def _reports(function: ast.AST) -> bool:
    for part in ast.walk(function):
        if isinstance(part, ast.Raise) and part.exc is not None and not _is_ours(part):
            return True
        if isinstance(part, ast.Call) and (_called(part) in REPORTS or _adds_a_problem(part)):
            return True
    return False


def _is_ours(part: ast.Raise) -> bool:
    """Tell whether what is raised tells a mistake of the engine's own."""
    text = ast.unparse(part)
    return "AssertionError" in text or "NotImplementedError" in text


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _adds_a_problem(call: ast.Call) -> bool:
    return _called(call) in ("append", "extend") and "problems" in ast.unparse(call.func)


def _texts(part: ast.AST) -> Iterator[str]:
    match part:
        case ast.Assert() | ast.arg() | ast.Expr(value=ast.Constant()):
            return
        case ast.Raise() if part.exc is not None and _is_ours(part):
            return
        case ast.AnnAssign(value=value):
            if value is not None:
                yield from _texts(value)
        case ast.Constant(value=str(text)):
            yield text.strip()
        case ast.JoinedStr(values=values):
            constants = [str(value.value) for value in values if isinstance(value, ast.Constant)]
            if constants:
                yield max(constants, key=len).strip()
            for value in values:
                if isinstance(value, ast.FormattedValue):
                    yield from _texts(value.value)
        case _:
            for inner in _inner(part):
                yield from _texts(inner)


def _inner(part: ast.AST) -> Iterable[ast.AST]:
    """Return what a part consists of, without the statements that a database is told."""
    if isinstance(part, ast.Call) and _called(part) in EXECUTES:
        return part.args[1:]
    return ast.iter_child_nodes(part)
