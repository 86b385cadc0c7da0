"""The page of the agent pack and the pack say the same of every type."""

from __future__ import annotations

import re
from typing import Any, Final

from dataflow_agent import pack
from tests.nodes.pages import config_cell, input_cell, output_cell, rows_of

TYPES: Final = {f"agent.{name}": pack.find(name) for name in pack.nodes}
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
#: As do the outputs of these: test_chat.py, test_routing.py and test_call_server_tool.py beside this file.
OUTPUTS: Final = {
    "agent.call_tool": "`text: str`, `images: list[Image]`",
    "agent.chat": "`text: str`, `context: ExecutionContext`, `answer` of its `answer`",
    "agent.intent_router": "`context: ExecutionContext`, two of each of its `routes`",
}


def test_the_page_has_a_row_for_each_type_with_its_ports_and_config() -> None:
    rows = rows_of("agent")
    assert sorted(rows) == sorted(TYPES)
    assert {name: row[1:] for name, row in rows.items()} == {
        name: (OPEN.get(name) or input_cell(one), config_cell(one), OUTPUTS.get(name) or output_cell(one))
        for name, one in TYPES.items()
    }


def test_each_field_of_a_config_is_described_in_its_json_schema() -> None:
    for name, node_type in TYPES.items():
        model = node_type.parameters.config
        assert model is not None
        fields: dict[str, Any] = model.model_json_schema()["properties"]
        assert not [field for field, schema in fields.items() if not schema.get("description")]
        assert re.match(rf"Config of `{name}`", model.__doc__ or "")
