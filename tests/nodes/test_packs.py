"""The packs of agents and of control as a whole: what they list and import, and what their pages say."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, Final, NoReturn

import dataflow_agent
import dataflow_control
from dataflow.builder.builtin import BUILT_IN
from dataflow.core.functions import import_function
from dataflow.core.inputs import ASK_ID, USER_INPUT_ID
from dataflow.core.nodetype import NodeType
from dataflow.core.ports import MISSING, InPort, OutPort
from dataflow.types.shapes import type_name
from tests.docs.pages import DOCS
from tests.support.processes import modules_after


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


PACKS: Final = (dataflow_agent.pack, dataflow_control.pack)
#: The inputs of these types follow from their config.
OPEN: Final = {
    "agent.merge_conversations": "its branches",
    "agent.chat": "`prompt`, `context = null`",
    "agent.intent_router": "`prompt`, `context = null`",
    "agent.prior_outputs": '`prompt = ""`, its steps',
    "agent.fill_prompt": "its placeholders",
    "agent.call_tool": "`arguments`, `tools`",
    "agent.agent": "`prompt`, `context`, `tools`, of which only the first has to be wired",
}
#: As do the outputs of these: test_chat.py, test_routing.py and test_call_server_tool.py of agents.
OUTPUTS: Final = {
    "agent.call_tool": "`text: str`, `images: list[Image]`",
    "agent.chat": "`text: str`, `context: ExecutionContext`, `answer` of its `answer`",
    "agent.intent_router": "`context: ExecutionContext`, two of each of its `routes`",
}


def test_the_page_has_a_row_for_each_type_with_its_ports_and_config() -> None:
    for pack in PACKS:
        types = {f"{pack.name}.{name}": pack.find(name) for name in pack.nodes}
        if pack.name == "control":
            types |= BUILT_IN
        assert {name: row[1:] for name, row in rows_of(pack.name).items()} == {
            name: (OPEN.get(name) or input_cell(one), config_cell(one), OUTPUTS.get(name) or output_cell(one))
            for name, one in types.items()
        }


def test_each_type_has_the_name_of_its_function_and_it_and_its_config_are_described() -> None:
    for pack in PACKS:
        for name, place in pack.nodes.items():
            function: Any = import_function(place)
            described = inspect.getdoc(function) or ""
            assert re.match(r"[A-Z][a-z]+\b.+[.:]", described), described
            found = pack.find(name)
            assert (found.name, found.id) == (name, f"{pack.name}.{name}")
            if (config := found.parameters.config) is not None:
                assert re.match(rf"Config of `{found.id}`", config.__doc__ or "")
    configs = [one.parameters.config for pack in PACKS for one in map(pack.find, pack.nodes)]
    for config in (*configs, BUILT_IN["control.ask"].parameters.config):
        fields: dict[str, Any] = config.model_json_schema().get("properties", {}) if config else {}
        assert not [field for field, schema in fields.items() if not schema.get("description")]


def test_listing_a_pack_imports_none_of_its_types() -> None:
    for pack in PACKS:
        found = modules_after(f"from dataflow_{pack.name} import pack; assert list(pack.nodes)")
        loaded = {name for name in found if name.startswith(f"dataflow_{pack.name}.")}
        listing = {f"dataflow_{pack.name}.listing"}
        assert {name for name in loaded if ".diagnostics" not in name} == listing
