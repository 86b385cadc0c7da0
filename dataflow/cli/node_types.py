"""A node type described: its ports, its config and its text, for people and as JSON."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import PydanticUndefined

from dataflow.checking import json_schema
from dataflow.cli.carrying import carried, shown
from dataflow.formats.native_policy import write_policy
from dataflow.ports import PortKind
from dataflow.type_names import type_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dataflow.config import Config
    from dataflow.nodetype import NodeType
    from dataflow.ports import InPort, OutPort

__all__ = ["object_of", "text_of"]

MOST_COLUMNS: Final = 110
INDENT: Final = "  "
BY_CONFIG: Final = "(further ports follow from the config)"


def text_of(node_type: NodeType) -> str:
    """Describe a node type in lines no wider than the terminal."""
    sections = [
        node_type.id,
        *_wrapped(node_type.text),
        *_section("inputs", map(_input, node_type.inputs.values())),
        *_section("outputs", map(_output, node_type.outputs.values())),
        *([f"\n{BY_CONFIG}"] if node_type.ports_of is not None else []),
        *_section("config", _fields(node_type.parameters.config)),
        *_section("settings", _settings(node_type)),
    ]
    return "\n".join(sections)


def _wrapped(text: str) -> Iterator[str]:
    """Fit paragraphs into the terminal; a paragraph that is indented stays as it is."""
    width = max(min(shutil.get_terminal_size().columns, MOST_COLUMNS) - len(INDENT), 20)
    for number, paragraph in enumerate(text.split("\n\n") if text else []):
        if number:
            yield ""
        if paragraph.startswith(" "):
            yield textwrap.indent(paragraph, INDENT)
        else:
            yield textwrap.fill(
                " ".join(paragraph.split()), width, initial_indent=INDENT, subsequent_indent=INDENT
            )


def _section(head: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield f"\n{head}"
        yield from (f"{INDENT}{line}" for line in found)


def _input(port: InPort) -> str:
    marks = [port.kind.value] if port.kind is not PortKind.DATA else []
    marks += ["many"] if port.many else []
    marks += ["lazy"] if port.lazy else []
    default = "" if port.required else f" = {shown(port.default)}"
    return f"{port.name}: {type_name(port.type)}{default}" + _marked(marks)


def _output(port: OutPort) -> str:
    marks = [port.kind.value] if port.kind is not PortKind.DATA else []
    marks += ["conditional"] if port.conditional else []
    passed = f"that of {port.same_as!r}" if port.same_as else type_name(port.type)
    return f"{port.name}: {passed}" + _marked(marks)


def _marked(marks: list[str]) -> str:
    return f" ({', '.join(marks)})" if marks else ""


def _fields(model: type[Config] | None) -> Iterator[str]:
    """Describe the fields of a config, each with its description."""
    for name, field in model.model_fields.items() if model is not None else ():
        has_default = field.default is not PydanticUndefined
        default = f" = {shown(field.default)}" if has_default else "" if field.is_required() else " = ..."
        about = f"  {field.description}" if field.description else ""
        yield f"{field.alias or name}: {type_name(field.annotation)}{default}{about}"


def _settings(node_type: NodeType) -> Iterator[str]:
    for name, value in write_policy(node_type.policy, node_type.id, []).items():
        yield f"{name}: {json.dumps(value, ensure_ascii=False)}"


def object_of(node_type: NodeType) -> dict[str, Any]:
    """Describe a node type as JSON carries it; the config is a JSON Schema, the ports name theirs."""
    config = node_type.parameters.config
    return {
        "id": node_type.id,
        "version": node_type.version,
        "text": node_type.text,
        "inputs": [
            {
                "name": port.name,
                "kind": port.kind.value,
                "type": type_name(port.type),
                "schema": json_schema(port.type) if port.kind is PortKind.DATA else None,
                "required": port.required,
                "default": None if port.required else carried(port.default),
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
        "config": None if config is None else config.model_json_schema(),
        "settings": write_policy(node_type.policy, node_type.id, []),
    }
