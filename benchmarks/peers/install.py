"""Install the peers, about 1 GB: `python -m benchmarks.peers.install FOLDER`, an environment each."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.peers.known import PEERS, python_of


def main(folder: Path) -> None:
    """Install each, or bring it up to date; raises CalledProcessError if pip cannot."""
    for name, peer in PEERS.items():
        python = python_of(folder, peer)
        if not python.exists():
            venv.create(python.parents[1], with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--upgrade", peer.distribution]
        subprocess.run(pip, check=True)
        print(f"{name} is in {python.parents[1]}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.peers.install FOLDER")
    main(Path(sys.argv[1]).resolve())
