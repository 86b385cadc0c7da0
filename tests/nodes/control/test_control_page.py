"""The page of the control pack and the pack say the same of every type."""

from __future__ import annotations

from typing import Any, Final

import pytest

from dataflow.builder.builtin import BUILT_IN
from dataflow.core.nodetype import NodeType
from dataflow_control import pack
from tests.nodes.pages import config_cell, input_cell, output_cell, rows_of

TYPES: Final = {**BUILT_IN, **{f"control.{name}": pack.find(name) for name in pack.nodes}}
EACH_TYPE: Final = pytest.mark.parametrize("node_type", TYPES.values(), ids=TYPES)


def test_the_page_has_a_row_for_each_type() -> None:
    assert sorted(rows_of("control")) == sorted(TYPES)


@EACH_TYPE
def test_ports_and_config_of_a_type_are_as_the_page_says(node_type: NodeType) -> None:
    _, inputs, config, outputs = rows_of("control")[node_type.id]
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
