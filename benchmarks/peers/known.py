"""The peers, what they are asked, and the environments they are installed in."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.measuring import Cell

__all__ = ["PEERS", "NotInstalled", "Peer", "peer_cells", "python_of", "version_of"]


@dataclass(frozen=True, slots=True)
class Peer:
    """An engine: its script here, its distribution, and the sizes at which it is asked each question."""

    script: str
    distribution: str
    sizes: Mapping[str, tuple[int, ...]]


class NotInstalled(Exception):
    """A peer is not where it is said to be."""

    def __init__(self, folder: Path, peer: Peer) -> None:
        super().__init__(
            f"{peer.distribution} is not installed in {folder}: `python -m benchmarks.peers.install {folder}`"
        )


#: What all can do in seconds.
COMMON: Final = {"fan-out": (1_000,), "sleepers": (1_000,), "fixed": (3,), "building": (10_000,)}
#: The fastest is asked at the largest sizes too. A chain of 10,000 takes others minutes.
PEERS: Final[dict[str, Peer]] = {
    "Hamilton": Peer(
        "hamilton",
        "apache-hamilton",
        {
            **COMMON,
            "chain": (1_000, 10_000),
            "fan-out": (1_000, 10_000),
            "layered": (1_000, 10_000),
            "diamonds": (100, 1_000),
        },
    ),
    "pydantic-graph": Peer(
        "pydantic_graph",
        "pydantic-graph",
        {**COMMON, "chain": (1_000, 10_000), "diamonds": (100,), "loop": (100, 1_000)},
    ),
    "LangGraph": Peer(
        "langgraph",
        "langgraph",
        {**COMMON, "chain": (1_000,), "layered": (1_000,), "diamonds": (100,), "loop": (100, 1_000)},
    ),
    "Haystack": Peer(
        "haystack",
        "haystack-ai",
        {**COMMON, "chain": (1_000,), "layered": (1_000, 10_000), "diamonds": (100,), "loop": (100, 1_000)},
    ),
}


def python_of(folder: Path, peer: Peer) -> Path:
    """Return the interpreter of a peer's environment in a folder."""
    return folder / peer.script / "bin" / "python"


def version_of(folder: Path, peer: Peer) -> str:
    """Ask the environment of a peer which version it has; raises NotInstalled."""
    program = f"from importlib.metadata import version; print(version({peer.distribution!r}))"
    try:
        done = subprocess.run(
            [str(python_of(folder, peer)), "-c", program], check=True, capture_output=True, text=True
        )
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        raise NotInstalled(folder, peer) from error
    return done.stdout.strip()


def peer_cells(folder: Path, questions: Iterable[str]) -> list[Cell]:
    """List the cells of the peers, installed in the folder, for the questions that they are asked."""
    asked = set(questions)
    return [
        Cell(question, size, name, (str(python_of(folder, peer)), "-m", script, question, str(size)))
        for name, peer in PEERS.items()
        for script in [f"benchmarks.peers.{peer.script}"]
        for question, sizes in peer.sizes.items()
        if question in asked
        for size in sizes
    ]
