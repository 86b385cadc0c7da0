"""The page of the control pack and the pack say the same of every type."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

import pytest

from dataflow.asks import ASK_ID, USER_INPUT_ID
from dataflow.built_in import BUILT_IN
from dataflow.nodetype import NodeType
from dataflow.ports import MISSING, InPort, OutPort
from dataflow.type_names import type_name
from dataflow_control import pack
from tests.docs.pages import DOCS

PAGE: Final = (DOCS / "control.md").read_text(encoding="utf-8")
TYPES: Final = {**BUILT_IN, **{f"control.{name}": pack.find(name) for name in pack.nodes}}
EACH_TYPE: Final = pytest.mark.parametrize("node_type", TYPES.values(), ids=TYPES)


def rows() -> dict[str, tuple[str, ...]]:
    """Return what the page says of each type: what it does, inputs, config, outputs."""
    found: dict[str, tuple[str, ...]] = {}
    for line in PAGE.splitlines():
        if match := re.match(r"\| `(control\.\w+)` \|(.+)\|$", line):
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


def test_the_page_has_a_row_for_each_type() -> None:
    assert sorted(rows()) == sorted(TYPES)


@EACH_TYPE
def test_ports_and_config_of_a_type_are_as_the_page_says(node_type: NodeType) -> None:
    _, inputs, config, outputs = rows()[node_type.id]
    assert (inputs, config, outputs) == (
        input_cell(node_type),
        config_cell(node_type),
        output_cell(node_type),
    )


@pytest.mark.parametrize("name", [*pack.nodes, "ask", "user_input"])
def test_each_field_of_a_config_is_described_in_its_json_schema(name: str) -> None:
    model = TYPES[f"control.{name}"].parameters.config
    fields: dict[str, Any] = model.model_json_schema()["properties"] if model is not None else {}
    assert not [field for field, schema in fields.items() if not schema.get("description")]
