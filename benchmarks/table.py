"""The table as text: a row for each workload and for how its cost grows, for a terminal or for a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from benchmarks.question import Question, Way
from benchmarks.timing import exponent

if TYPE_CHECKING:
    from benchmarks.measuring import Figures

__all__ = ["markdown", "peers_table", "plain", "table"]

Rows = list[list[str]]

OURS: Final = Way.ASYNCIO
HEAD: Final = ["workload", "unit", "target", *Way]
FAILED: Final = "failed"
NONE: Final = "–"


def table(questions: Iterable[Question], figures: Figures, peers: Sequence[str] = ()) -> Rows:
    """Return the rows of the table, the first of them its head; with peers, the fastest is a column."""
    rows = [HEAD + (["fastest peer", "× ours"] if peers else [])]
    for question in questions:
        for size in question.sizes:
            row = [question.title.format(size), question.unit, at_most(question.target)]
            row += [_shown(figures, question.name, size, way) for way in Way]
            rows.append(row + (_fastest(figures, question.name, size, peers) if peers else []))
        if question.growth is not None:
            rows.append(_growth(question, figures) + ([NONE, NONE] if peers else []))
    return rows


def peers_table(questions: Iterable[Question], figures: Figures, peers: Sequence[str]) -> Rows:
    """Return a table of this engine and each peer, of the workloads that any of them was given."""
    rows = [["workload", "unit", "dataflow", *peers]]
    for question in questions:
        for size in question.sizes:
            shown = [_shown(figures, question.name, size, peer) for peer in peers]
            if set(shown) != {NONE}:
                ours = _shown(figures, question.name, size, OURS)
                rows.append([question.title.format(size), question.unit, ours, *shown])
    return rows


def at_most(bound: float | None) -> str:
    """Show a target."""
    return NONE if bound is None else f"≤ {bound:g}"


def number(figure: float | None) -> str:
    """Show a figure with as many digits as mean something."""
    if figure is None:
        return NONE
    digits = 2 if abs(figure) < 10 else 1 if abs(figure) < 100 else 0
    return f"{figure:,.{digits}f}"


def _shown(figures: Figures, question: str, size: int, way: str) -> str:
    return FAILED if figures.has_failed(question, size, way) else number(figures.median(question, size, way))


def _growth(question: Question, figures: Figures) -> list[str]:
    """Return a row of exponents, from the first size to the last."""
    small, large = question.sizes[0], question.sizes[-1]
    row = [f"growth of {question.name} from {small:,} to {large:,}", "exponent", at_most(question.growth)]
    for way in Way:
        first, last = (figures.median(question.name, size, way) for size in (small, large))
        row.append(NONE if first is None or last is None else number(exponent((small, large), (first, last))))
    return row


def _fastest(figures: Figures, question: str, size: int, peers: Sequence[str]) -> list[str]:
    """Return the fastest peer with its figure, and how many times slower than this engine it is."""
    known = [(found, peer) for peer in peers if (found := figures.median(question, size, peer)) is not None]
    if not known:
        return [NONE, NONE]
    figure, peer = min(known)
    ours = figures.median(question, size, OURS)
    return [f"{peer} {number(figure)}", NONE if ours is None else f"{figure / ours:.1f}"]


def plain(rows: Rows) -> str:
    """Show the rows in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(width) if place < 2 else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown(rows: Rows) -> str:
    """Show the rows as a table of Markdown."""
    head, *rest = rows
    rule = ["---" if place < 2 else "---:" for place in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rest])
