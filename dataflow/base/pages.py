"""Write what a notebook shows of an object: plain text, and HTML in which everything is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from dataflow.base.wording import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["bundle", "caption", "pre", "table"]


def bundle(plain: str, parts: Iterable[str]) -> dict[str, str]:
    """Return the forms of an object by MIME type, as `_repr_mimebundle_` returns them."""
    return {"text/plain": plain, "text/html": "\n".join(["<div>", *parts, "</div>"])}


def caption(text: str) -> str:
    """Write a line in bold."""
    return f"<p><b>{escape(visible(text))}</b></p>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; nothing if it has no rows."""
    lines = [_row("td", row) for row in rows]
    return "\n".join(["<table>", _row("th", head), *lines, "</table>"]) if lines else ""


def pre(text: str, kind: str) -> str:
    """Write a text with its line breaks, of a class."""
    return f'<pre class="{escape(kind)}">{escape(visible(text))}</pre>'


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_cell(visible(cell))}</{tag}>" for cell in cells) + "</tr>"


def _cell(text: str) -> str:
    """Return the HTML of a cell; a text of several lines, such as a data frame, keeps them."""
    return f"<pre>{escape(text)}</pre>" if "\n" in text else escape(text)
