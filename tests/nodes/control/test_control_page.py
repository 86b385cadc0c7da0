"""The page of the control pack and the pack say the same of every type."""

from __future__ import annotations

from typing import Any, Final

from dataflow.builder.builtin import BUILT_IN
from dataflow_control import pack
from tests.nodes.pages import config_cell, input_cell, output_cell, rows_of

TYPES: Final = {**BUILT_IN, **{f"control.{name}": pack.find(name) for name in pack.nodes}}


def test_the_page_has_a_row_for_each_type_with_its_ports_and_config() -> None:
    rows = rows_of("control")
    assert sorted(rows) == sorted(TYPES)
    assert {name: row[1:] for name, row in rows.items()} == {
        name: (input_cell(one), config_cell(one), output_cell(one)) for name, one in TYPES.items()
    }


def test_each_field_of_a_config_is_described_in_its_json_schema() -> None:
    for name in [*pack.nodes, "ask", "user_input"]:
        model = TYPES[f"control.{name}"].parameters.config
        fields: dict[str, Any] = model.model_json_schema()["properties"] if model is not None else {}
        assert not [field for field, schema in fields.items() if not schema.get("description")]
