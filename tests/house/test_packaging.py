"""What is in the wheel and the source archive."""

from __future__ import annotations

import tarfile
import zipfile
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path

import pytest

from tests.support.processes import build
from tests.support.source import PACKAGES

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
