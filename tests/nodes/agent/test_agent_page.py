"""The page of the agent pack and the pack say the same of every type."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from dataflow.core.nodetype import NodeType
from dataflow_agent import pack
from tests.nodes.pages import config_cell, input_cell, output_cell, rows_of

TYPES: Final = {f"agent.{name}": pack.find(name) for name in pack.nodes}
EACH_TYPE: Final = pytest.mark.parametrize("node_type", TYPES.values(), ids=TYPES)
#: The inputs of these types follow from their config.
OPEN: Final = {
    "agent.merge_contexts": "its branches",
    "agent.chat": "`prompt`, `context = null`",
    "agent.intent_router": "`prompt`, `context = null`",
    "agent.prior_outputs": '`prompt = ""`, its steps',
    "agent.fill_prompt": "its placeholders",
    "agent.call_tool": "`arguments`, `tools`",
    "agent.agent": "`prompt`, `context`, `tools`, of which only the first has to be wired",
}
#: As do the outputs of these: test_chat.py, test_routing.py and test_call_tool.py in tests/nodes/agent.
OUTPUTS: Final = {
    "agent.call_tool": "`text: str`, `images: list[Image]`",
    "agent.chat": "`text: str`, `context: ExecutionContext`, `answer` of its `answer`",
    "agent.intent_router": "`context: ExecutionContext`, two of each of its `routes`",
}


def test_the_page_has_a_row_for_each_type() -> None:
    assert sorted(rows_of("agent")) == sorted(TYPES)


@EACH_TYPE
def test_ports_and_config_of_a_type_are_as_the_page_says(node_type: NodeType) -> None:
    _, inputs, config, outputs = rows_of("agent")[node_type.id]
    expected = OPEN.get(node_type.id) or input_cell(node_type)
    outputs_given = OUTPUTS.get(node_type.id) or output_cell(node_type)
    assert (inputs, config, outputs) == (expected, config_cell(node_type), outputs_given)


@EACH_TYPE
def test_each_field_of_a_config_is_described_in_its_json_schema(node_type: NodeType) -> None:
    model = node_type.parameters.config
    assert model is not None
    fields: dict[str, Any] = model.model_json_schema()["properties"]
    assert not [field for field, schema in fields.items() if not schema.get("description")]
    assert re.match(rf"Config of `{node_type.id}`", model.__doc__ or "")
