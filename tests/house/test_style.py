"""The measures of the house style that can be counted."""

from __future__ import annotations

import ast
import re
from typing import Final

import pytest

from tests.support.source import PACKAGES, Module, modules_of

FUNCTION_LINES: Final = 60
WORDS_THAT_SAY_NOTHING: Final = {"Base", "Handler", "Helper", "Helpers", "Manager", "Util", "Utils"}
#: What is cut by hand in a prompt, which has secrets in clear and is as the other system writes it.
TOLD_TO_MODELS: Final = {"settings['system'][:MOST_TOLD]"}

EACH_MODULE: Final = pytest.mark.parametrize(
    "module",
    [module for package in PACKAGES for module in modules_of(package)],
    ids=lambda module: module.name,
)


@EACH_MODULE
def test_a_function_is_short(module: Module) -> None:
    """Decorators are not counted."""
    lengths = {
        f"line {node.lineno}: {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(module.tree())
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES}


@EACH_MODULE
def test_a_module_says_what_it_is_for(module: Module) -> None:
    assert ast.get_docstring(module.tree())


@EACH_MODULE
def test_the_name_of_a_class_says_something(module: Module) -> None:
    classes = [node.name for node in ast.walk(module.tree()) if isinstance(node, ast.ClassDef)]
    assert not [name for name in classes if WORDS_THAT_SAY_NOTHING & set(re.findall("[A-Z][a-z]*", name))]


@EACH_MODULE
def test_what_a_text_shows_is_not_cut_by_hand(module: Module) -> None:
    """`shortened` takes secrets out first; what is cut before could be half of one (S12.4)."""
    shown = [node.value for node in ast.walk(module.tree()) if isinstance(node, ast.FormattedValue)]
    cut = [ast.unparse(value) for value in shown if is_cut(value)]
    assert [text for text in cut if text not in TOLD_TO_MODELS] == []


def is_cut(value: ast.expr) -> bool:
    """Tell whether a value is `text[:MOST_SHOWN]`, with whatever is the most."""
    if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Slice):
        return False
    return isinstance(value.slice.upper, ast.Name) and value.slice.upper.id.startswith("MOST_")
