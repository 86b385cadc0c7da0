"""The measures of the house style that can be counted, and what is in the wheel."""

from __future__ import annotations

import ast
import re
import tarfile
import zipfile
from collections.abc import Iterator
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path
from typing import Final, TypeVar

import pytest

from tests.support.processes import build
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


ROOT = Path(__file__).parents[2]
FOREIGN = ("agentflow", "agentron", "cagent", "clickweave", "hifide")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the text of every file in the wheel."""
    with zipfile.ZipFile(build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def recorded(wheel: dict[str, str], file: str) -> str:
    (text,) = (text for name, text in wheel.items() if name.endswith(f".dist-info/{file}"))
    return text


def test_a_wheel_holds_the_source_of_the_typed_packages_and_nothing_else(wheel: dict[str, str]) -> None:
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert wheel.keys() >= {f"{package}/py.typed" for package in PACKAGES}
    inside = [name for name in wheel if ".dist-info/" not in name]
    assert not [name for name in inside if Path(name).suffix not in (".json", ".py", ".pyi", ".typed")]


def test_a_wheel_has_the_entry_points_and_the_licence(wheel: dict[str, str]) -> None:
    points = ConfigParser()
    points.read_string(recorded(wheel, "entry_points.txt"))
    assert points["console_scripts"]["dataflow"] == "dataflow.cli:main"
    assert dict(points["dataflow.packs"]) == {
        "control": "dataflow_control:pack",
        "agent": "dataflow_agent:pack",
        **{name: f"dataflow_formats.{name}.listing:pack" for name in FOREIGN},
    }
    assert dict(points["dataflow.formats"]) == {
        name: f"dataflow_formats.{name}.translation:FORMAT" for name in FOREIGN
    }
    metadata = Parser().parsestr(recorded(wheel, "METADATA"))
    assert metadata["License-Expression"] == "Apache-2.0"
    assert recorded(wheel, "licenses/LICENSE") == (ROOT / "LICENSE").read_text(encoding="utf-8")


def test_a_source_archive_holds_what_the_tests_need(tmp_path: Path) -> None:
    with tarfile.open(build(ROOT, "sdist", tmp_path)) as archive:
        names = {name.split("/")[1] for name in archive.getnames()}
    folders = {"benchmarks", "dataflow", "docs", "nodes", "tests"}
    files = {"LICENSE", "README.md", "mkdocs.yml", "pyproject.toml"}
    assert names - {".gitignore", "PKG-INFO"} == folders | files
