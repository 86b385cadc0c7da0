"""What a page of a pack says of each type, and what the pack says."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from dataflow.core.inputs import ASK_ID, USER_INPUT_ID
from dataflow.core.nodetype import NodeType
from dataflow.core.ports import MISSING, InPort, OutPort
from dataflow.types.shapes import type_name
from tests.docs.pages import DOCS


def rows_of(pack: str) -> dict[str, tuple[str, ...]]:
    """Return what the page of a pack says of each type: what it does, inputs, config, outputs."""
    found: dict[str, tuple[str, ...]] = {}
    for line in (DOCS / f"{pack}.md").read_text(encoding="utf-8").splitlines():
        if match := re.match(rf"\| `({pack}\.\w+)` \|(.+)\|$", line):
            assert match[1] not in found, f"{match[1]} has two rows"
            found[match[1]] = tuple(cell.strip() for cell in match[2].split("|"))
    return found


def given(name: str, default: object) -> str:
    """Write a name with its default, as JSON."""
    return f"`{name}`" if default is MISSING else f"`{name} = {json.dumps(default)}`"


def asks(node_type: NodeType) -> bool:
    return node_type.id in (ASK_ID, USER_INPUT_ID)


def input_cell(node_type: NodeType) -> str:
    def written(port: InPort) -> str:
        return f"`{port.name}...`" if port.many else given(port.name, port.default)

    names = ["its names"] if node_type.parameters.open and not asks(node_type) else []
    return ", ".join([*map(written, node_type.inputs.values()), *names])


def config_cell(node_type: NodeType) -> str:
    model = node_type.parameters.config
    fields = model.model_fields if model is not None else {}
    return ", ".join(
        given(name, MISSING if field.is_required() else field.default) for name, field in fields.items()
    )


def output_cell(node_type: NodeType) -> str:
    def written(port: OutPort) -> str:
        if port.type is NoReturn:
            return "nothing"
        return (
            f"`{port.name}` as `{port.same_as}`" if port.same_as else f"`{port.name}: {type_name(port.type)}`"
        )

    answer = ["`out` of its `type`"] if asks(node_type) else []
    return ", ".join([*map(written, node_type.outputs.values()), *answer]) or "its cases as `value`"
