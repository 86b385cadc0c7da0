"""F-I08, F-I12, F-R04: installed packs run their own code, and a damaged distribution disables no other."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import dataflow
from tests.support.processes import install

FLOW: Final = """
dataflow: 1
nodes:
  a: {type: blue.letters, values: {text: Ab}}
  b: {type: red.letters, values: {text: Ab}}
outputs: {blue: a, red: b}
"""
PACK: Final = """
from dataflow import Pack

pack = Pack('{name}', version='1.0', api=1, nodes={{'letters': '{name}_pack.texts:letters'}})
"""
TEXTS: Final = """
from {helpers} import change

async def letters(text: str) -> str:
    return change(text)
"""


def install_pack(site: Path, name: str, method: str, helpers: str = "helpers", requires: str = "") -> None:
    """Install a pack whose type calls a helper from a module."""
    package = site / f"{name}_pack"
    package.mkdir(parents=True)
    module = site.joinpath(*helpers.split(".")).with_suffix(".py")
    module.write_text(f"def change(text):\n    return text.{method}()\n", encoding="utf-8")
    (package / "__init__.py").write_text(PACK.format(name=name), encoding="utf-8")
    (package / "texts.py").write_text(TEXTS.format(helpers=helpers), encoding="utf-8")
    files = tuple(str(file.relative_to(site)) for file in (module, *package.iterdir()))
    install(site, f"{name}-pack", f"{name} = {name}_pack:pack", files=files, requires=requires)


def run(folder: Path, *arguments: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dataflow", *arguments]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*map(str, path), os.environ.get("PYTHONPATH", "")])}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_two_packs_with_a_module_of_one_name_are_refused(tmp_path: Path) -> None:
    red, blue = tmp_path / "red", tmp_path / "blue"
    install_pack(red, "red", "upper")
    install_pack(blue, "blue", "lower")
    (tmp_path / "f.yaml").write_text(FLOW, encoding="utf-8")
    for path in ((red, blue), (blue, red)):
        done = run(tmp_path, "check", "f.yaml", path=path)
        assert done.returncode == 1
        lines = [line.split(" ") for line in (done.stdout + done.stderr).splitlines()]
        assert [words[1:3] for words in lines] == [["DF1318", "a:"], ["DF1318", "b:"]]


def test_packs_that_keep_their_modules_in_their_packages_run_their_own_code(tmp_path: Path) -> None:
    install_pack(tmp_path, "red", "upper", "red_pack.helpers", "dataflow-engine>=0.0.1; python_version>'3'")
    install_pack(tmp_path, "blue", "lower", "blue_pack.helpers", "dataflow-engine>=99; extra=='later'")
    (tmp_path / "f.yaml").write_text(FLOW, encoding="utf-8")
    done = run(tmp_path, "run", "f.yaml", "--no-store", path=(tmp_path,))
    assert done.stdout.splitlines() == ["blue: ab", "red: AB"]


def test_a_pack_whose_module_is_hidden_or_that_needs_another_engine_is_refused(tmp_path: Path) -> None:
    site, mine = tmp_path / "site", tmp_path / "mine"
    install_pack(site, "blue", "lower", requires="dataflow-engine >= 99")
    install_pack(site, "red", "upper", "letters")
    mine.mkdir()
    (mine / "letters.py").write_text("", encoding="utf-8")
    (tmp_path / "f.yaml").write_text(FLOW, encoding="utf-8")
    done = run(tmp_path, "check", "f.yaml", path=(mine, site))
    assert [line.split(" ")[1] for line in (done.stdout + done.stderr).splitlines()] == ["DF1322", "DF1321"]
    assert str(mine / "letters.py") in done.stdout + done.stderr


#: A flow that stores values of a class of a library, and keys its memo by the version of another one.
STORING: Final = """
from dataclasses import dataclass
import yaml
from dataflow import Flow, node

@dataclass
class Page:
    text: str

@node(memo="process")
async def write(n: int) -> Page:
    return Page(yaml.safe_dump(n))

with Flow("f") as flow:
    flow.output("a", flow.add(write, n=1).out)
"""
#: Malformed files of a distribution, and whether they keep packs from being found.
DAMAGED: Final = [
    ("entry_points.txt", b"[console_scripts]\nno value\n", True),
    ("entry_points.txt", b"[dataflow.packs]\n= a\n", False),
    ("entry_points.txt", b"[dataflow.codecs]\nbuiltins = \n= \n", False),
    ("top_level.txt", b"\xff", False),
    ("RECORD", b"\xff,,\n", False),
    ("METADATA", b"Name: \xff\n", True),
]


@pytest.mark.parametrize(("file", "damage", "is_reported"), DAMAGED)
def test_a_damaged_distribution_stops_no_run_with_a_store(
    tmp_path: Path, file: str, damage: bytes, is_reported: bool
) -> None:
    install(tmp_path, "odd-pack", "", "1.5")
    (tmp_path / "odd_pack-1.5.dist-info" / file).write_bytes(damage)
    (tmp_path / "f.py").write_text(STORING, encoding="utf-8")
    done = run(tmp_path, "run", "f.py", path=(tmp_path,))
    assert (done.returncode, "DF1320" in done.stderr) == (0, is_reported)
    assert json.loads(run(tmp_path, "nodes", "--json", path=(tmp_path,)).stdout)


@pytest.mark.parametrize("group", ["dataflow.packs", "dataflow.formats", "console_scripts"])
def test_damaged_metadata_disable_nothing_else(tmp_path: Path, group: str) -> None:
    install(tmp_path, "odd-pack", "", "1.5")
    entries = tmp_path / "odd_pack-1.5.dist-info" / "entry_points.txt"
    (tmp_path / "f.yaml").write_text(
        "dataflow: 1\nnodes: {a: {type: control.template, config: {template: x}}}\n"
    )
    for damage in (b"this line has no value\n", b"odd = \xff\xfe:pack\n"):
        entries.write_bytes(f"[{group}]\n".encode() + damage)
        for arguments in (("check", "f.yaml"), ("nodes", "control"), ("run", "f.yaml", "--no-store")):
            done = run(tmp_path, *arguments, path=(tmp_path,))
            assert done.returncode == 0
            assert done.stderr.splitlines()[0].startswith("warning: odd-pack 1.5: DF1320 ")


def test_another_package_of_the_name_is_reported(tmp_path: Path) -> None:
    package = tmp_path / "dataflow"
    shutil.copytree(Path(dataflow.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    install(tmp_path, "dataflow", "", "0.11", files=("dataflow/__init__.py",))
    (package / "__init__.py").write_text("OTHER = 1\n", encoding="utf-8")
    done = run(tmp_path, "schema", path=(tmp_path,))
    assert (done.returncode, done.stderr.split(" ")[1]) == (1, "DF1439")
    assert "dataflow 0.11" in done.stderr
