"""Node types that Python code places by their ids."""

from __future__ import annotations

import pytest

from dataflow import Flow, PackError
from dataflow.authoring import InstalledNode


def template(flow: Flow, node: InstalledNode) -> None:
    flow.output("text", flow.add(node, config=node.config(template="hello")).out)


def test_a_node_type_is_placed_by_its_id() -> None:
    flow = Flow("one")
    template(flow, InstalledNode("control.template"))
    assert flow.run_sync()["text"] == "hello"
    assert flow.to_dict()["nodes"] == {
        "template": {"type": "control.template", "config": {"template": "hello"}}
    }


def test_settings_keep_the_type_and_leave_the_first_one_as_it_was() -> None:
    first = InstalledNode("control.template")
    before = first.type.policy
    named = first.with_(name="greeting", retries=2)
    flow = Flow("one")
    template(flow, named)
    assert [*flow.to_dict()["nodes"]] == ["greeting"]
    assert flow.to_dict()["nodes"]["greeting"]["policy"] == {"retry": {"retries": 2}}
    assert first.name == "template"
    assert first.type.policy is before


def test_a_type_that_no_pack_has_is_refused_when_it_is_placed() -> None:
    with pytest.raises(PackError, match=r"DF1306 contrl\.template:"):
        Flow("one").add(InstalledNode("contrl.template"))


def test_a_type_without_a_config_is_given_none() -> None:
    with pytest.raises(PackError, match=r"^DF1310 control\.read_text:"):
        InstalledNode("control.read_text").config(encoding="utf-8")
