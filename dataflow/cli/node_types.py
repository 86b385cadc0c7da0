"""Describe a node type, as text and as JSON."""

from __future__ import annotations

import json
import shutil
import textwrap
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import TypeAdapter
from pydantic_core import PydanticUndefined, ValidationError

from dataflow.core.config import TypeField
from dataflow.core.policy import Retry
from dataflow.core.ports import PortKind
from dataflow.errors import FlowInvalid
from dataflow.inspection.json_values import json_value, shortened_repr
from dataflow.types.shapes import type_name
from dataflow.types.validation import json_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pydantic.fields import FieldInfo

    from dataflow.core.config import Config
    from dataflow.core.nodetype import NodeType
    from dataflow.core.ports import InPort, OutPort


__all__ = ["object_of", "text_of"]

MOST_COLUMNS: Final = 110
INDENT: Final = "  "
BY_CONFIG: Final = "(further ports follow from the config)"
BY_DEFAULT: Final = "(the ports of the config as it stands below; other values may make others)"


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
        kind = "a type" if _is_type_field(field) else type_name(field.annotation)
        yield f"{field.alias or name}: {kind}{_default_of(field)}{about}"


def _is_type_field(field: FieldInfo) -> bool:
    return all(mark in field.metadata for mark in get_args(TypeField)[1:])


def _default_of(field: FieldInfo) -> str:
    default = field.default
    if default is PydanticUndefined:
        return "" if field.is_required() else " = ..."  # a default factory
    if _is_type_field(field) and not isinstance(default, str | dict):
        default = TypeAdapter(TypeField).dump_python(default)  # as documents name it
    return f" = {shortened_repr(default)}"


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
