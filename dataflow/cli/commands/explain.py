"""`dataflow explain`: the meaning of the code of a problem, an example of it and its cure."""

from __future__ import annotations

import sys
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dataflow.base.wording import nearest, visible
from dataflow.cli.output import ExitCode, Refused, write
from dataflow.diagnostics.commands import CODE_UNKNOWN

if TYPE_CHECKING:
    from dataflow.diagnostics.diagnostic import Kind

__all__ = ["explain"]

MOST_SIMILAR: Final = 3  # codes


def explain(
    code: Annotated[str, typer.Argument(metavar="CODE", help="As in a message.", show_default=False)],
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False,
) -> None:
    """Explain the code of a problem, such as DF0601: its meaning, an example and what to do."""
    from dataflow.diagnostics.catalogue import by_code  # loads the tables
    from dataflow.packs.registry import installed_diagnostics

    kinds = by_code(*installed_diagnostics())
    kind = kinds.get(code.strip().upper())
    if kind is None:
        similar = nearest(kinds, code.upper())[:MOST_SIMILAR]
        raise Refused([CODE_UNKNOWN(found=code, available=similar)], ExitCode.USAGE)
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        fields = {name: getattr(kind, name) for name in ("code", "meaning", "example", "cure")}
        write_json(sys.stdout, {**fields, "text": kind.outline})
    else:
        write(sys.stdout, visible(_text_of(kind)))


def _text_of(kind: Kind) -> str:
    return "\n".join(
        [
            f"{kind.code}: {kind.outline}",
            "",
            kind.meaning,
            "",
            "Example:",
            indent(kind.example, "    "),
            "",
            kind.cure,
        ]
    )
