"""Packs in wheels, built and installed into an environment of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow.core.discovery import OWN_PACKS
from tests.support.processes import build

ROOT: Final = Path(__file__).parents[2]
PYPROJECT: Final = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
version = "{version}"
dependencies = ["dataflow-engine"]

[project.entry-points."dataflow.packs"]
{entry}

[tool.hatch.build.targets.wheel]
packages = [{packages}]
"""


@dataclass(frozen=True, slots=True)
class Project:
    """The source of a distribution that offers one pack: `files` are texts by path."""

    name: str
    entry: str
    files: dict[str, str]
    version: str = "1.0"

    def build(self, folder: Path) -> Path:
        root = folder / self.name
        for path, text in self.files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, encoding="utf-8")
        tops = sorted({f'"{Path(path).parts[0]}"' for path in self.files})
        project = PYPROJECT.format(
            name=self.name, version=self.version, entry=self.entry, packages=", ".join(tops)
        )
        (root / "pyproject.toml").write_text(project, encoding="utf-8")
        return build(root, "wheel", folder / "wheels" / self.name)


def executed(command: Sequence[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Environment:
    """A fresh virtual environment. The libraries that the engine needs are those of the tests' own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        venv.create(folder / "env", with_pip=False)
        self.python = folder / "env" / "bin" / "python"
        site = folder / "env" / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
        (site / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")

    def install(self, *wheels: Path) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        executed([*pip, "--no-index", "--no-deps", "--force-reinstall", *map(str, wheels)], self.folder)

    def run(self, program: str, *arguments: str) -> str:
        """Run a program in the environment, away from the source of the project; return what it prints."""
        return executed([str(self.python), "-P", program, *arguments], self.folder)

    def dataflow(self, *arguments: str, disabled: str = "") -> subprocess.CompletedProcess[str]:
        given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [self.folder / "env" / "bin" / "dataflow", *arguments],
            cwd=self.folder,
            env={**given, "DATAFLOW_DISABLE_PACKS": disabled},
            capture_output=True,
            text=True,
            check=False,
        )


GOLDEN: Final = ROOT / "tests" / "golden" / "stored_names"
pytestmark = pytest.mark.timeout(900)  # wheels are built, and installed into a fresh environment

GOOD: Final = """
from dataflow import Pack

pack = Pack(
    "good", version="1.0", api=1, nodes={"double": "good_pack.texts:double", "far": "good_pack.far:far"}
)
"""
DOUBLE: Final = """
async def double(text: str) -> str:
    '''Write a text twice.'''
    return text * 2
"""
LISTED: Final = """
from dataflow import Pack

async def half(text: str) -> str:
    return text[: len(text) // 2]

pack = Pack("{name}", version="1.0", api=1, nodes=[half])
"""
GOOD_FILES: Final = {
    "good_pack/__init__.py": GOOD,
    "good_pack/texts.py": DOUBLE,
    "good_pack/far.py": "raise RuntimeError('imported too early')\n",
}


def halving(distribution: str, pack: str, module: str, version: str = "1.0") -> Project:
    """Make a project whose pack has a node type `half`."""
    text = LISTED.format(name=pack)
    return Project(distribution, f'{pack} = "{module}:pack"', {f"{module}/__init__.py": text}, version)


PROJECTS: Final = [
    Project("good-pack", 'good = "good_pack:pack"', GOOD_FILES, "1.5"),
    Project("broken-pack", 'broken = "broken_pack:pack"', {"broken_pack/__init__.py": "import not_there\n"}),
    halving("first-half", "half", "half_one"),
    halving("second-half", "half", "half_two", "2.0"),
    halving("left-twin", "left", "twin"),
    halving("right-twin", "right", "twin"),
    halving("usurper", "control", "usurper"),
]
#: Load each entry point of the engine, make every node type of a pack, read a file with a format.
ENTRY_POINTS: Final = """
import json
import sys
from importlib.metadata import distribution
from pathlib import Path

from dataflow import Flow
from dataflow.authoring import InstalledNode

FOLDER = Path(sys.argv[1])
OPTIONS = {"agentron": {"model": "openai/gpt-5"}, "clickweave": {"server": "desk", "model": "openai/gpt-5"}}


def use(point):
    found = point.load()
    if point.group == "dataflow.packs":
        return len([InstalledNode(f"{point.name}.{name}").type for name in found.nodes])
    if point.group == "dataflow.formats":
        [path] = (path for path in FOLDER.glob(f"{point.name}.*") if len(path.suffixes) == 1)
        flow = Flow.load(path, format=point.name, **OPTIONS.get(point.name, {}))
        return len(flow.to_dict()["nodes"]) if flow.check() == [] else 0
    return int(callable(found))


points = distribution("dataflow-engine").entry_points
print(json.dumps({f"{point.group} {point.name}": use(point) for point in points}))
"""
FLOW: Final = """\
dataflow: 1
inputs: {text: {type: string}}
nodes: {it: {type: "TYPE", inputs: {text: $in.text}}}
outputs: {text: it}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("packs")
    made = Environment(folder)
    made.install(build(ROOT, "wheel", folder / "engine"), *(project.build(folder) for project in PROJECTS))
    return made


@pytest.fixture(scope="module")
def packs(environment: Environment) -> dict[str, Any]:
    done = environment.dataflow("nodes", "--json", "--traceback")
    assert done.returncode == 0, done.stderr
    listed: dict[str, Any] = json.loads(done.stdout)
    return listed


def run(environment: Environment, id: str, disabled: str = "") -> tuple[int, str, str]:
    file = environment.folder / "flow.yaml"
    file.write_text(FLOW.replace("TYPE", id), encoding="utf-8")
    done = environment.dataflow("run", str(file), "abcd", disabled=disabled)
    return done.returncode, done.stdout, done.stderr.replace(str(file), "flow.yaml")


def test_the_list_has_each_pack_with_its_status_and_tracebacks_and_imports_no_node_type(
    packs: dict[str, Any],
) -> None:
    found = {(pack["name"], pack["distribution"], pack["version"], pack["status"]) for pack in packs["packs"]}
    assert found == {
        *((name, "dataflow-engine", "0.1.0", "ok") for name in OWN_PACKS if name != "desktop"),
        ("broken", "broken-pack", "1.0", "error"), ("control", "usurper", "1.0", "error"),
        ("good", "good-pack", "1.5", "ok"), ("half", "first-half", "1.0", "ok"),
        ("half", "second-half", "2.0", "ok"), ("left", "left-twin", "1.0", "error"),
        ("right", "right-twin", "1.0", "error"),
    }  # fmt: skip
    assert packs["offered_twice"] == {"half.half": ["first-half 1.0", "second-half 2.0"]}
    (broken,) = [pack for pack in packs["packs"] if pack["name"] == "broken"]
    assert broken["traceback"].startswith("Traceback (most recent call last):")
    assert broken["traceback"].endswith("ModuleNotFoundError: No module named 'not_there'")
    (good,) = [pack for pack in packs["packs"] if pack["name"] == "good"]
    assert good["types"] == ["good.double", "good.far"]


def test_a_good_pack_works_beside_others_that_are_reported_by_name(environment: Environment) -> None:
    """What is said of each kind of pack is in test_registry.py and in tests/messages/writing.py."""
    for disabled in ("", "broken, half"):
        assert run(environment, "good.double", disabled)[:2] == (0, "text: abcdabcd\n")
    assert run(environment, "Second_Half:half.half")[:2] == (0, "text: ab\n")
    for id, disabled, problem in [
        ("broken.x", "", "DF0428 it: broken.x: pack 'broken' of broken-pack 1.0: "),
        ("good.far", "", "DF0428 it: good.far of good-pack 1.5: good_pack.far:far: "),
        ("left.half", "", "DF1318 it: left.half: pack 'left' of left-twin 1.0: "),
        ("good.double", "*", "DF1315 it: good.double: pack 'good' of good-pack 1.5: "),
    ]:
        exit_code, out, err = run(environment, id, disabled)
        assert (exit_code, out, f": {problem}" in err, "Traceback" in err) == (1, "", True, False)


def test_every_entry_point_of_the_engine_works_and_names_are_imported_on_first_use(
    environment: Environment,
) -> None:
    program = Path(environment.folder, "entry_points.py")
    program.write_text(ENTRY_POINTS, encoding="utf-8")
    used: dict[str, int] = json.loads(environment.run(str(program), str(GOLDEN)))
    systems = ("agentflow", "agentron", "cagent", "clickweave", "hifide")
    packs = [f"dataflow.packs {name}" for name in ("agent", "control", *systems)]
    formats = [f"dataflow.formats {name}" for name in systems]
    assert sorted(used) == sorted(["console_scripts dataflow", *packs, *formats])
    assert not [name for name, count in used.items() if count == 0]
    program = Path(environment.folder, "program.py")
    program.write_text("from dataflow import *\nprint(Flow.__name__, each.__name__)\n", encoding="utf-8")
    assert environment.run(str(program)) == "Flow each\n"
