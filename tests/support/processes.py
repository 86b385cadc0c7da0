"""Programs of their own, for tests of what a fresh process does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def modules_after(code: str) -> list[str]:
    """Run a program and return the modules that it has imported."""
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


def build(root: Path, kind: str, folder: Path) -> Path:
    """Build the archive of a project with the build backend itself; return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    done = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = folder.iterdir()
    return archive
