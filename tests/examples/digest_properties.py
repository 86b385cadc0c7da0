"""What a digest must be, its golden files, and the digest flow as a plain loop to hold the engine against."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
GOLDEN = ROOT / "tests" / "golden"

sys.path.insert(0, str(EXAMPLES))

import digest_nodes  # noqa: E402 - an example is no package: its folder comes first

__all__ = ["GOLDENS", "LIMIT", "Golden", "Outcome", "digest_nodes", "misplaced", "plain_loop", "problems_of"]

LIMIT = 5
KEEP = 8

# Cuts at least wherever a sentence may end, so each piece of a right digest lies within one sentence.
_CUT = re.compile(
    r"""(?<= [.!?…؟۔।॥։።\])}"'”’»›*_] ) \s+
      | (?<= [。！？｡\])}"'”’»›*_」』）】》〉] )
      | (?: \r?\n ){2,}""",
    re.VERBOSE,
)


class Golden(NamedTuple):
    """An input, the target it is digested with, and the number of rounds that takes."""

    name: str
    target: int
    rounds: int

    @property
    def path(self) -> Path:
        return GOLDEN / self.name

    @property
    def source(self) -> str:
        return self.path.read_bytes().decode()

    @property
    def digest(self) -> str:
        return self.path.with_suffix(".digest.txt").read_bytes().decode()


class Outcome(NamedTuple):
    """What the loop ended with: the text of each round, the last one's being the digest."""

    texts: list[str]
    ended_by_limit: bool

    @property
    def digest(self) -> str:
        return self.texts[-1]


GOLDENS = (
    Golden("station_manual.md", target=2000, rounds=4),
    Golden("voices.txt", target=1200, rounds=2),
    Golden("write_ahead.md", target=2000, rounds=4),
)


async def plain_loop(source: str, target: int, limit: int = LIMIT, keep: int = KEEP) -> Outcome:
    """Do what the flow does: round after round, until the digest is short enough or the limit is reached."""
    doc = source
    texts: list[str] = []
    for _ in range(limit):
        parts = await digest_nodes.split(doc)
        briefs = [await digest_nodes.summarise(chunk, keep) for chunk in parts.chunks]
        doc = await digest_nodes.join(parts.title, briefs)
        texts.append(doc)
        short, keep = await digest_nodes.grade(doc, target, keep)
        if short:
            return Outcome(texts, ended_by_limit=False)
    return Outcome(texts, ended_by_limit=True)


def problems_of(digest: str, source: str, target: int, ended_by_limit: bool) -> list[str]:
    """List what is wrong with a digest: its length, what is not in the source, what is in another order."""
    problems = []
    if not source.strip() and digest:
        problems.append(f"a blank source has a digest of {len(digest)} characters")
    if len(digest) > target and not ended_by_limit:
        problems.append(f"{len(digest)} characters, over the target of {target}")
    if len(digest) <= target and ended_by_limit:
        problems.append("went on to the limit though it was short enough")
    title, body = take_title(digest, source)
    if title not in source:
        problems.append(f"the title {title!r} is not in the source")
    return problems + misplaced(body, source)


def take_title(digest: str, source: str) -> tuple[str, str]:
    """Part the title that the digest itself has written as a heading from the rest.

    It comes first wherever it stood, and had another form if it was underlined in the source.
    """
    if not digest.startswith("# "):
        return "", digest
    line, _, body = digest.partition("\n")
    return line.removeprefix("# ").strip(), body


def misplaced(body: str, source: str) -> list[str]:
    """List the pieces that are not in the source behind the piece before them."""
    problems = []
    position = 0
    for piece in pieces(body):
        found = source.find(piece, position)
        if found >= 0:
            position = found + len(piece)
        elif piece in source:
            problems.append(f"out of order: {piece!r}")
        else:
            problems.append(f"not in the source: {piece!r}")
    return problems


def pieces(text: str) -> Iterator[str]:
    """Yield the sentences and headings of a text, cut rather too often than too seldom."""
    return (piece.strip() for piece in _CUT.split(text) if piece.strip())
