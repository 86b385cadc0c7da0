"""`dataflow nodes`: list node types and describe one."""

from __future__ import annotations

import json
import shutil
import textwrap
import traceback
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, assert_never

import typer
from pydantic_core import PydanticUndefined, ValidationError

from dataflow.base.wording import visible
from dataflow.cli.output import Problem, Refused, result_stream, tell, write
from dataflow.cli.targets import make_importable, refusing
from dataflow.core.policy import Retry
from dataflow.core.ports import PortKind
from dataflow.errors import FlowInvalid
from dataflow.inspection.json_values import json_value, shortened_repr
from dataflow.types.shapes import type_name
from dataflow.types.validation import json_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TextIO

    from pydantic.fields import FieldInfo

    from dataflow.core.config import Config
    from dataflow.core.nodetype import NodeType
    from dataflow.core.ports import InPort, OutPort
    from dataflow.packs.registry import InstalledPack


__all__ = ["nodes", "object_of", "text_of"]

MOST_COLUMNS: Final = 110
INDENT: Final = "  "
BY_CONFIG: Final = "(further ports follow from the config)"
BY_DEFAULT: Final = "(the ports of the config as it stands below; other values may make others)"


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
        raise Refused([Problem(unknown_pack(name))])
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
    return "".join(traceback.format_exception(error.__cause__ or error)).rstrip()


def text_of(node_type: NodeType) -> str:
    """Describe a node type in lines no wider than the terminal."""
    shown, ports = _with_default_ports(node_type)
    sections = [
        node_type.id,
        *_wrapped(node_type.text),
        *_section("inputs", map(_input, shown.inputs.values())),
        *_section("outputs", map(_output, shown.outputs.values())),
        *([f"\n{ports}"] if ports else []),
        *_section("config", _fields(node_type.parameters.config)),
        *_section("settings", _settings(node_type)),
    ]
    return "\n".join(sections)


def _with_default_ports(node_type: NodeType) -> tuple[NodeType, str]:
    """Return the type with the ports of the default config if there is one, and a note on the ports."""
    if node_type.ports_of is None:
        return node_type, ""
    config = node_type.parameters.config
    try:
        return node_type.configured(None if config is None else config()), BY_DEFAULT
    except (ValidationError, FlowInvalid):  # the config has required fields
        return node_type, BY_CONFIG


def _wrapped(text: str) -> Iterator[str]:
    """Wrap paragraphs to the terminal; an indented paragraph is unchanged."""
    width = _width()
    for number, paragraph in enumerate(text.split("\n\n") if text else []):
        if number:
            yield ""
        if paragraph.startswith(" "):
            yield textwrap.indent(paragraph, INDENT)
        else:
            yield textwrap.fill(
                " ".join(paragraph.split()), width, initial_indent=INDENT, subsequent_indent=INDENT
            )


def _width() -> int:
    return max(min(shutil.get_terminal_size().columns, MOST_COLUMNS) - len(INDENT), 20)


def _section(head: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"\n{head}"
        for line in found:
            yield textwrap.fill(
                line, _width(), initial_indent=INDENT, subsequent_indent=3 * INDENT, break_on_hyphens=False
            )


def _input(port: InPort) -> str:
    marks = [port.kind.value] if port.kind is not PortKind.DATA else []
    marks += ["many"] if port.many else []
    marks += ["lazy"] if port.lazy else []
    default = "" if port.required else f" = {shortened_repr(port.default)}"
    return f"{port.name}: {type_name(port.type)}{default}" + _marked(marks)


def _output(port: OutPort) -> str:
    marks = [port.kind.value] if port.kind is not PortKind.DATA else []
    marks += ["conditional"] if port.conditional else []
    passed = f"that of {port.same_as!r}" if port.same_as else type_name(port.type)
    return f"{port.name}: {passed}" + _marked(marks)


def _marked(marks: list[str]) -> str:
    return f" ({', '.join(marks)})" if marks else ""


def _fields(model: type[Config] | None) -> Iterator[str]:
    """Yield the fields of a config, each with its description."""
    for name, field in model.model_fields.items() if model is not None else ():
        about = f"  {field.description}" if field.description else ""
        yield f"{field.alias or name}: {type_name(field.annotation)}{_default_of(field)}{about}"


def _default_of(field: FieldInfo) -> str:
    if field.default is not PydanticUndefined:
        return f" = {shortened_repr(field.default)}"
    return "" if field.is_required() else " = ..."  # a default factory


def _settings(node_type: NodeType) -> Iterator[str]:
    for name, value in _policy(node_type).items():
        yield f"{name}: {json.dumps(json_value(value), ensure_ascii=False)}"


def _policy(node_type: NodeType) -> dict[str, object]:
    """Return the settings in document form; a value without one is unchanged."""
    given = node_type.policy.given()
    retry = given.get("retry")
    if isinstance(retry, Retry):
        plain = Retry(retry.retries)
        given["retry"] = {"retries": retry.retries} | {
            field.name: getattr(retry, field.name)
            for field in fields(retry)
            if getattr(retry, field.name) != getattr(plain, field.name)
        }
    return given


def _schema_of(make: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """Return a JSON Schema, None for a type without one."""
    try:
        return make()
    except Exception:  # noqa: BLE001 - a user class, as type or default, may raise anything
        return None


def object_of(node_type: NodeType) -> dict[str, Any]:
    """Return the JSON description of a node type; inputs and config with their JSON Schema if any."""
    config = node_type.parameters.config
    node_type, _ = _with_default_ports(node_type)
    return {
        "id": node_type.id,
        "version": node_type.version,
        "text": node_type.text,
        "inputs": [
            {
                "name": port.name,
                "kind": port.kind.value,
                "type": type_name(port.type),
                "schema": _schema_of(partial(json_schema, port.type)) if port.kind is PortKind.DATA else None,
                "required": port.required,
                "default": None if port.required else json_value(port.default),
                "many": port.many,
                "lazy": port.lazy,
            }
            for port in node_type.inputs.values()
        ],
        "outputs": [
            {
                "name": port.name,
                "kind": port.kind.value,
                "type": type_name(port.type),
                "same_as": port.same_as,
                "conditional": port.conditional,
            }
            for port in node_type.outputs.values()
        ],
        "ports_follow_from_config": node_type.ports_of is not None,
        "config": None if config is None else _schema_of(config.model_json_schema),
        "settings": _policy(node_type),
    }
