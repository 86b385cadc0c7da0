"""`dataflow explain`: the meaning of the code of a problem, an example of it and its cure."""

from __future__ import annotations

import sys
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dataflow.base.wording import nearest, visible
from dataflow.cli.output import ExitCode, Refused, tell, write
from dataflow.diagnostics.commands import CODE_SHARED, CODE_UNKNOWN

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

    tables = {"the engine": by_code().values(), **installed_diagnostics()}
    found = [(owner, kind) for owner, table in tables.items() for kind in table]
    whole = _whole(code.strip().upper())
    meant = {owner: kind for owner, kind in found if kind.code == whole}
    kinds = list(meant.values())
    if not kinds:
        similar = nearest(dict.fromkeys(kind.code for _, kind in found), whole)[:MOST_SIMILAR]
        raise Refused([CODE_UNKNOWN(found=code, available=similar)], ExitCode.USAGE)
    if len(kinds) > 1:
        tell(f"warning: {CODE_SHARED(kinds[0].code, packs=' and '.join(meant))}")
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        first, *others = map(_as_json, kinds)
        write_json(sys.stdout, {**first, "others": others} if others else first)
    else:
        write(sys.stdout, visible("\n\n".join(map(_text_of, kinds))))


def _whole(code: str) -> str:
    """Complete digits to a code of the engine: 302 to DF0302."""
    digits = code.removeprefix("DF")
    return f"DF{digits:0>4}" if digits.isdecimal() else code


def _as_json(kind: Kind) -> dict[str, str]:
    fields = {name: getattr(kind, name) for name in ("code", "meaning", "example", "cure")}
    return {**fields, "text": kind.outline}


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
