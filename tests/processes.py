"""Programs of their own, for tests of what a fresh process does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

__all__ = ["build", "modules_after"]


def modules_after(code: str) -> list[str]:
    """Run a program and return the modules that it has imported."""
    program = f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    found: list[str] = json.loads(done.stdout)
    return found


def build(root: Path, kind: str, folder: Path) -> Path:
    """Build the archive of a project with the build backend itself; return its path."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    done = subprocess.run(command, cwd=root, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = folder.iterdir()
    return archive
