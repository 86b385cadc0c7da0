"""Building small distributions with packs in them, and a virtual environment that they are installed in."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
        """Build the wheel with the build backend itself; return its path."""
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


def run(command: Sequence[str], folder: Path) -> str:
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
        """Install wheels, and nothing that they depend on."""
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        run([*pip, "--no-index", "--no-deps", "--force-reinstall", *map(str, wheels)], self.folder)

    def run(self, program: str, *arguments: str) -> str:
        """Run a program in the environment, away from the source of the project; return what it prints."""
        return run([str(self.python), "-P", program, *arguments], self.folder)

    def dataflow(self, *arguments: str, disabled: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command line in the environment."""
        given = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(
            [self.folder / "env" / "bin" / "dataflow", *arguments],
            cwd=self.folder,
            env={**given, "DATAFLOW_DISABLE_PACKS": disabled},
            capture_output=True,
            text=True,
            check=False,
        )
