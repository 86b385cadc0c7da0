"""`dataflow nodes`: list node types and describe one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, assert_never

import typer

from dataflow.base.failure import traceback_of
from dataflow.base.wording import visible
from dataflow.cli.output import Refused, problems_in, result_stream, tell, write
from dataflow.cli.targets import make_importable, refusing
from dataflow.errors import PackError

if TYPE_CHECKING:
    from typing import TextIO

    from dataflow.packs.registry import InstalledPack

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
        bool, typer.Option("--traceback", help="Show the traceback of a pack that failed.")
    ] = False,
) -> None:
    """List the node types of the installed packs, or describe one type with its ports, config and docstring.

    Listing imports no node type. A pack that cannot be loaded is reported and does not affect the others. The
    environment variable DATAFLOW_DISABLE_PACKS names packs that are not loaded, * for all.
    """
    with result_stream(alone=as_json) as out:
        try:
            if name is not None and {".", ":"} & set(name):
                _describe(name, out, as_json=as_json)
            else:
                _list(name, out, as_json=as_json, tracebacks=tracebacks)
        except Refused as refused:
            if tracebacks and refused.trace:
                tell(visible(refused.trace.rstrip()))
            raise


def _describe(id: str, out: TextIO | None, *, as_json: bool) -> None:
    from dataflow.cli.json_output import write_json
    from dataflow.cli.node_types import object_of, text_of
    from dataflow.packs.registry import find_type

    make_importable(id)
    with refusing(""):  # the messages name the type
        found = find_type(id)
    if as_json:
        write_json(out, object_of(found))
    else:
        write(out, visible(text_of(found)))


def _list(name: str | None, out: TextIO | None, *, as_json: bool, tracebacks: bool) -> None:
    from dataflow.builder.builtin import BUILT_IN
    from dataflow.cli.json_output import write_json
    from dataflow.packs.registry import installed_packs, shared_ids, unknown_pack

    built_in = sorted(id for id in BUILT_IN if name in (None, id.partition(".")[0]))
    with refusing(""):
        packs = installed_packs(name)
    if name is not None and not packs and not built_in:
        raise Refused(problems_in(PackError(name, unknown_pack(name))))
    shared = shared_ids(packs)
    if as_json:
        listed = [_object_of(pack, tracebacks=tracebacks) for pack in packs]
        write_json(out, {"built_in": built_in, "packs": listed, "offered_twice": shared})
        return
    if built_in:
        write(out, "\n".join(["built in", *(f"  {id}" for id in built_in)]))
    for pack in packs:
        write(out, visible(_text_of(pack)))
        if tracebacks and (trace := _trace_of(pack)):
            tell(visible(trace))
    for id, labels in shared.items():
        tell(f"warning: {visible(id)} is offered by {visible(' and '.join(labels))}")


def _text_of(pack: InstalledPack) -> str:
    from dataflow.core.discovery import PackStatus

    head = f"{pack.offer.pack} ({pack.offer.label})"
    match pack.status:
        case PackStatus.OK:
            return "\n".join([head, *(f"  {id}" for id in pack.types)])
        case PackStatus.EMPTY:
            return f"{head}: has no node types"
        case PackStatus.ERROR | PackStatus.DISABLED:
            assert pack.fault is not None, "it has not been loaded"
            kind = "error: " if pack.status is PackStatus.ERROR else ""
            return f"{head}: {kind}{pack.fault.reason}"
        case status:
            assert_never(status)


def _object_of(pack: InstalledPack, *, tracebacks: bool) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": pack.offer.pack,
        "distribution": pack.offer.distribution,
        "version": pack.offer.version,
        "status": pack.status.value,
        "types": list(pack.types),
        "error": None if pack.fault is None else pack.fault.reason,
    }
    if tracebacks:
        described["traceback"] = _trace_of(pack)
    return described


def _trace_of(pack: InstalledPack) -> str:
    """Return the traceback of a failed import of a pack; empty if it has not failed."""
    error = None if pack.fault is None else pack.fault.error
    if error is None:
        return ""
    shown = error.__cause__ or error
    return traceback_of(shown, shown.__traceback__).rstrip()
