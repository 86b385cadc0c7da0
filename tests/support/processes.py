"""Programs in fresh processes, and distributions as an installer leaves them behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


def modules_after(code: str) -> list[str]:
    program = f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    found: list[str] = json.loads(done.stdout)
    return found


def printed_with(hash_seed: str, code: str) -> str:
    """Run a program in a process with another order of sets; return what it prints."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def printed_in(
    folder: Path, *arguments: str, answer: str = "", environment: Mapping[str, str] = os.environ
) -> list[str]:
    """Run Python in a folder, with the packs to import, and return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "nodes")])},
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def build(root: Path, kind: str, folder: Path) -> Path:
    """Build the archive of a project with the build backend itself; return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    done = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = folder.iterdir()
    return archive


def install(
    folder: Path,
    name: str,
    entries: str,
    version: str = "1.0",
    files: tuple[str, ...] = (),
    group: str = "dataflow.packs",
    requires: str = "",
) -> None:
    """Write the metadata of a distribution with its entry points and the files it has installed."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    head += f"Requires-Dist: {requires}\n" if requires else ""
    (info / "METADATA").write_text(head, encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entries}", encoding="utf-8")
    record = "".join(f"{file},sha256=0,1\n" for file in files)
    (info / "RECORD").write_text(record, encoding="utf-8")
