"""The measures of the house style that can be counted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final, TypeVar

from tests.support.source import PACKAGES, modules_of

N = TypeVar("N", bound=ast.AST)
FUNCTION_LINES: Final = 60
WORDS_THAT_SAY_NOTHING: Final = {"Base", "Handler", "Helper", "Helpers", "Manager", "Util", "Utils"}
#: Cut by hand in a prompt, which has secrets in clear and the form of another system.
FOR_MODELS: Final = {"settings['system'][:MOST_TOLD]"}

TREES: Final = {module.name: module.tree() for package in PACKAGES for module in modules_of(package)}


def nodes_of(*kinds: type[N]) -> Iterator[tuple[str, N]]:
    """Yield the parts of these kinds of every module, each with a name for messages."""
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield f"{name}:{node.lineno}", node  # type: ignore[attr-defined]


def test_functions_are_short() -> None:
    """Decorators are not counted."""
    functions = nodes_of(ast.FunctionDef, ast.AsyncFunctionDef)
    lengths = {place: (node.end_lineno or node.lineno) - node.lineno + 1 for place, node in functions}
    assert {place: lines for place, lines in lengths.items() if lines > FUNCTION_LINES} == {}


def test_modules_say_what_they_are_for() -> None:
    assert [name for name, tree in TREES.items() if not ast.get_docstring(tree)] == []


def test_names_of_classes_say_something() -> None:
    classes = ((place, set(re.findall("[A-Z][a-z]*", node.name))) for place, node in nodes_of(ast.ClassDef))
    assert [place for place, words in classes if WORDS_THAT_SAY_NOTHING & words] == []


def test_strings_in_messages_are_not_cut_by_hand() -> None:
    """`shortened` masks secrets first; what is cut before could be half of one (S12.4)."""
    cut = [(place, node.value) for place, node in nodes_of(ast.FormattedValue) if is_cut(node.value)]
    assert [(place, ast.unparse(one)) for place, one in cut if ast.unparse(one) not in FOR_MODELS] == []


def is_cut(value: ast.expr) -> bool:
    """Return whether a value is `text[:MOST_SHOWN]`, with any such constant."""
    if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Slice):
        return False
    return isinstance(value.slice.upper, ast.Name) and value.slice.upper.id.startswith("MOST_")
