"""Files of other systems are recognised, translated, reported on, and their problems located."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid
from dataflow.core.wiring import Remark
from dataflow.formats.foreign import formats
from tests.support.codes import located
from tests.support.processes import install


def written(folder: Path, data: Any, name: str = "flow.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return file


def node(**fields: Any) -> Any:
    return {"nodes": [{"id": "a", **fields}], "edges": []}


#: Files, and the format that recognises each.
FILES: Final[list[tuple[str, Any]]] = [
    ("agentflow", {"nodes": [{"id": "s", "type": "start"}], "connections": []}),
    ("agentron", {**node(type="agent", config={}), "maxRounds": 2}),
    ("agentron", node(type="agent", config={})),
    ("agentron", {"nodes": [{"id": "chat-1", "type": "agent"}], "edges": []}),
    ("cagent", {"workflow": [{"type": "agent", "name": "writer"}]}),
    ("clickweave", {"id": "1", **node(node_type={"type": "Click"})}),
    ("clickweave", {"nodes": [{"id": "cache-1", "node_type": {"type": "Click"}}], "edges": []}),
    ("clickweave", node(kind="tools", params={})),
    ("hifide", node(nodeType="userInput")),
    ("hifide", {**node(type="user_input"), "edges": [{"source": "a", "target": "a"}]}),
    ("hifide", node(kind="Chat")),
    ("hifide", node(data={"nodeType": "chat"})),
    ("hifide", {"nodes": [{"id": "userInput-1"}, {"id": "s", "type": "budgetGuard"}], "edges": []}),
    ("hifide", {**node(type="chat"), "edges": [{"source": "a", "sourceOutput": "context"}]}),
]
OTHERS: Final[list[Any]] = [
    None, 1, "x", [], {}, {"nodes": 1}, {"nodes": [1, None]}, {"nodes": [{"data": 1}], "edges": {}},
    {"nodes": [{"id": "a", "type": "chat.bot"}, {"id": "b", "kind": "x"}], "edges": []},
]  # fmt: skip


def test_each_file_is_recognised_by_its_format_alone() -> None:
    found = [[one.name for one in formats() if one.recognises(data)] for _, data in FILES]
    assert found == [[name] for name, _ in FILES]
    assert [data for data in OTHERS if any(one.recognises(data) for one in formats())] == []


def test_a_file_is_translated_and_runs(toy: Path) -> None:
    flow = Flow.load(written(toy, {"toy": ["a", "b"]}))
    assert flow.run_sync().outputs == {"a": "a", "b": "b"}
    assert list(flow.report) == []


def test_what_behaves_differently_is_in_the_report(toy: Path) -> None:
    flow = Flow.load(written(toy, {"toy": ["a", "B"]}))
    assert flow.report == [Remark("B", "shouts", "is quiet")]
    assert str(flow.report[0]) == "node 'B': originally shouts; here is quiet"
    assert str(Remark("", "shouts", "is quiet")) == "originally shouts; here is quiet"


def add_format(toy: Path, name: str, value: str) -> None:
    install(toy / "site", name, f"{name} = tests.formats.{value}\n", group="dataflow.formats")


def test_all_problems_of_a_file_are_reported_with_their_locations(toy: Path) -> None:
    file = written(toy, {"toy": [1, "a", 2]})
    with pytest.raises(FlowInvalid) as caught:
        Flow.load(file)
    assert located(caught.value) == ["3:3 DF4001 toy[0]", "5:3 DF4001 toy[2]"]
    assert {problem.location.file for problem in caught.value.diagnostics} == {str(file)}


def test_problems_of_the_translated_flow_have_the_locations_of_the_file(toy: Path) -> None:
    with pytest.raises(FlowInvalid, match="4:3"):
        Flow.load(written(toy, {"toy": ["a", "bad"]}))
    add_format(toy, "edges", "toy:EDGES")
    with pytest.raises(FlowInvalid, match="4:3") as caught:
        Flow.load(written(toy, {"toy": ["a b", "c b"]}), format="edges")
    assert len(caught.value.problems) == 1


def test_the_meta_of_a_translated_document_is_checked(toy: Path) -> None:
    add_format(toy, "faulty", "toy:FAULTY")
    with pytest.raises(FlowInvalid, match="DF0122 meta:"):
        Flow.load(written(toy, {"toy": {"returns": {"dataflow": 1, "meta": 3}}}), format="faulty")


def test_a_broken_format_does_not_affect_the_others(toy: Path) -> None:
    add_format(toy, "missing", "nowhere:FORMAT")
    add_format(toy, "wrong", "toy:translate")
    assert Flow.load(written(toy, {"toy": ["a"]})).run_sync()["a"] == "a"
