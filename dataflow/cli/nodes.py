"""`dataflow nodes`: what node types there are, and one of them with its ports, config and description."""

from __future__ import annotations

import sys
import traceback
from typing import TYPE_CHECKING, Annotated, Any, assert_never

import typer

from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.streams import tell, write
from dataflow.cli.texts import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.registry import InstalledPack

__all__ = ["nodes"]


def nodes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A node type, as pack.name or module:qualname, or a pack.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False,
    tracebacks: Annotated[
        bool, typer.Option("--traceback", help="Tell where in the code a pack has failed.")
    ] = False,
) -> None:
    """List the node types of the installed packs, or describe one type with its ports, config and text.

    Listing imports no node type: a pack that cannot be used is told, and takes nothing else along. The
    environment variable DATAFLOW_DISABLE_PACKS names packs that are not to be loaded, * for all.
    """
    if name is None or name.isidentifier():
        _list(name, as_json=as_json, tracebacks=tracebacks)
    else:
        _describe(name, as_json=as_json, tracebacks=tracebacks)


def _describe(id: str, *, as_json: bool, tracebacks: bool) -> None:
    from dataflow.cli.node_types import object_of, text_of
    from dataflow.errors import DataflowError
    from dataflow.registry import find_type

    try:
        found = find_type(id)
    except DataflowError as error:
        if tracebacks:
            tell(visible("".join(traceback.format_exception(error)).rstrip()))
        raise Refused([Problem(str(error))]) from error
    if as_json:
        _write_json(object_of(found))
    else:
        write(sys.stdout, visible(text_of(found)))


def _list(name: str | None, *, as_json: bool, tracebacks: bool) -> None:
    from dataflow.built_in import BUILT_IN
    from dataflow.errors import choices
    from dataflow.registry import installed_packs, shared_ids

    packs = [pack for pack in installed_packs() if name in (None, pack.name)]
    if not packs and name is not None:
        known = sorted({pack.name for pack in installed_packs()})
        raise Refused([Problem(f"no installed pack is called {name!r}; {choices(known)}")], ExitCode.FAILED)
    built_in = sorted(id for id in BUILT_IN if name in (None, id.partition(".")[0]))
    shared = shared_ids(packs)
    if as_json:
        listed = [_object_of(pack, tracebacks=tracebacks) for pack in packs]
        _write_json({"built_in": built_in, "packs": listed, "offered_twice": shared})
        return
    if built_in:
        write(sys.stdout, "\n".join(["built in", *(f"  {id}" for id in built_in)]))
    for pack in packs:
        write(sys.stdout, visible(_text_of(pack)))
        if tracebacks and pack.error is not None:
            tell(visible(_trace_of(pack.error)))
    for id, labels in shared.items():
        tell(f"warning: {visible(id)} is offered by {visible(' and '.join(labels))}")


def _text_of(pack: InstalledPack) -> str:
    from dataflow.registry import PackStatus

    head = f"{pack.name} ({pack.distribution} {pack.version})"
    match pack.status:
        case PackStatus.OK:
            return "\n".join([head, *(f"  {id}" for id in pack.types)])
        case PackStatus.EMPTY:
            return f"{head}: has no node types"
        case PackStatus.ERROR | PackStatus.DISABLED:
            assert pack.error is not None, "it has not been loaded"
            return f"{head}: {pack.status.value}: {pack.error.reason}"
        case status:
            assert_never(status)


def _object_of(pack: InstalledPack, *, tracebacks: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": pack.name,
        "distribution": pack.distribution,
        "version": pack.version,
        "status": pack.status.value,
        "types": list(pack.types),
        "error": None if pack.error is None else pack.error.reason,
    }
    if tracebacks and pack.error is not None:
        described["traceback"] = _trace_of(pack.error)
    return described


def _trace_of(error: BaseException) -> str:
    return "".join(traceback.format_exception(error.__cause__ or error)).rstrip()


def _write_json(value: dict[str, Any] | Sequence[Any]) -> None:
    from dataflow.cli.carrying import json_line

    write(sys.stdout, json_line(value, sys.stdout.encoding if sys.stdout else None))
