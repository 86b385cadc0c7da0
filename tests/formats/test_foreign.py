"""Files of other systems: found by their content, translated, with a report and the places of problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dataflow import Flow, FlowInvalid, FormatError
from dataflow.core.wiring import Remark
from dataflow.formats.foreign import formats
from tests.support.codes import codes
from tests.support.installed import install


def written(folder: Path, data: Any, name: str = "flow.json") -> Path:
    file = folder / name
    file.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return file


def test_the_five_formats_come_with_the_engine() -> None:
    assert [one.name for one in formats()] == ["agentflow", "agentron", "cagent", "clickweave", "hifide"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("agentflow", {"nodes": [{"id": "s", "type": "start"}], "connections": []}),
        ("agentron", {"nodes": [{"id": "a", "type": "agent", "config": {}}], "edges": [], "maxRounds": 2}),
        ("agentron", {"nodes": [{"id": "a", "type": "agent", "config": {}}], "edges": []}),
        ("cagent", {"workflow": [{"type": "agent", "name": "writer"}]}),
        ("clickweave", {"id": "1", "nodes": [{"id": "2", "node_type": {"type": "Click"}}], "edges": []}),
        ("hifide", {"nodes": [{"id": "s", "nodeType": "userInput"}], "edges": []}),
        ("hifide", {"nodes": [{"id": "s", "type": "user_input"}], "edges": [{"source": "s", "target": "s"}]}),
        ("hifide", {"nodes": [{"id": "s", "kind": "Chat"}], "edges": []}),
        ("hifide", {"nodes": [{"id": "s", "data": {"nodeType": "chat"}}], "edges": []}),
        ("hifide", {"nodes": [{"id": "userInput-1"}, {"id": "s", "type": "budgetGuard"}], "edges": []}),
        ("agentron", {"nodes": [{"id": "chat-1", "type": "agent"}], "edges": []}),
        ("clickweave", {"nodes": [{"id": "cache-1", "node_type": {"type": "Click"}}], "edges": []}),
        ("clickweave", {"nodes": [{"id": "1", "kind": "tools", "params": {}}], "edges": []}),
        (
            "hifide",
            {"nodes": [{"id": "s", "type": "chat"}], "edges": [{"source": "s", "sourceOutput": "context"}]},
        ),
    ],
)
def test_one_format_takes_a_file_for_its_own(name: str, data: Any) -> None:
    assert [one.name for one in formats() if one.recognises(data)] == [name]


@pytest.mark.parametrize(
    "data",
    [
        None,
        1,
        "x",
        [],
        {},
        {"nodes": 1},
        {"nodes": [1, None]},
        {"nodes": [{"data": 1}], "edges": {}},
        {"nodes": [{"id": "a", "type": "chat.bot"}, {"id": "b", "kind": "x"}], "edges": []},
    ],
)
def test_what_is_nothing_of_theirs_is_taken_by_no_format(data: Any) -> None:
    assert [one.name for one in formats() if one.recognises(data)] == []


def test_a_file_is_translated_and_runs(toy: Path) -> None:
    flow = Flow.load(written(toy, {"toy": ["a", "b"]}))
    assert flow.run_sync().outputs == {"a": "a", "b": "b"}
    assert list(flow.report) == []


def test_what_means_something_else_is_in_the_report(toy: Path) -> None:
    flow = Flow.load(written(toy, {"toy": ["a", "B"]}))
    assert flow.report == [Remark("B", "shouts", "is quiet")]
    assert str(flow.report[0]) == "node 'B': originally shouts; here is quiet"
    assert str(Remark("", "shouts", "is quiet")) == "originally shouts; here is quiet"


def test_the_report_of_a_flow_is_also_that_of_the_files_in_it(toy: Path) -> None:
    written(toy, {"toy": ["B"]}, "loud.json")
    outer = toy / "outer.yaml"
    outer.write_text("dataflow: 1\nnodes: {part: {flow: loud.json}}\n", encoding="utf-8")
    assert [remark.node for remark in Flow.load(outer).report] == ["B"]


def test_problems_of_a_file_are_told_at_once_with_their_places(toy: Path) -> None:
    with pytest.raises(FlowInvalid) as caught:
        Flow.load(written(toy, {"toy": [1, "a", 2]}))
    assert codes(list(caught.value.problems)) == ["DF4001 toy[0]", "DF4001 toy[2]"]


def test_a_problem_that_checking_finds_has_the_place_of_its_node(toy: Path) -> None:
    with pytest.raises(FlowInvalid, match=r"4:3 node 'bad': control\.valu: "):
        Flow.load(written(toy, {"toy": ["a", "bad"]}))


def test_a_problem_that_checking_finds_has_the_place_of_its_edge(toy: Path) -> None:
    install(toy / "site", "edges", "edges = tests.formats.toy:EDGES\n", group="dataflow.formats")
    with pytest.raises(FlowInvalid) as caught:
        Flow.load(written(toy, {"toy": ["a b", "c b"]}), format="edges")
    assert list(caught.value.problems) == ["4:3 port 'b.value' reads 'c.out': no node 'c'; choices: a, b"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({}, "cannot translate it: KeyError: 'returns'"),
        ({"returns": None}, "translates it to null; expected a document"),
        ({"returns": ["a"]}, "translates it to a list of 1; expected a document"),
    ],
)
def test_a_format_that_fails_is_named(toy: Path, data: Any, told: str) -> None:
    install(toy / "site", "faulty", "faulty = tests.formats.toy:FAULTY\n", group="dataflow.formats")
    file = written(toy, {"toy": data})
    with pytest.raises(FormatError) as caught:
        Flow.load(file, format="faulty")
    assert str(caught.value) == f"{file}: format 'faulty' {told}"


def test_a_meta_of_a_translated_document_that_is_no_mapping_is_a_problem(toy: Path) -> None:
    install(toy / "site", "faulty", "faulty = tests.formats.toy:FAULTY\n", group="dataflow.formats")
    with pytest.raises(FlowInvalid, match="DF0122 meta:"):
        Flow.load(written(toy, {"toy": {"returns": {"dataflow": 1, "meta": 3}}}), format="faulty")


def test_a_format_is_told_what_it_knows_besides(toy: Path) -> None:
    file = written(toy, {"toy": ["a"]})
    assert Flow.load(file, branch="x").run_sync()["a"] == "x"
    with pytest.raises(FlowInvalid, match="DF0134"):
        Flow.load(file, brunch="x")


def test_a_native_document_has_no_options(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="DF0134"):
        Flow.load(written(tmp_path, {"dataflow": 1}), branch="x")


def test_a_format_can_be_named(toy: Path) -> None:
    file = written(toy, {"toy": ["a"]})
    assert Flow.load(file, format="toy").run_sync()["a"] == "a"
    with pytest.raises(FlowInvalid, match="DF0120"):
        Flow.load(file, format="native")
    known = "native, agentflow, agentron, cagent, clickweave, hifide, toy"
    with pytest.raises(FormatError, match="DF0135"):
        Flow.load(file, format="visio")


def test_a_file_of_no_format_is_told_those_that_there_are(toy: Path) -> None:
    known = "agentflow, agentron, cagent, clickweave, hifide, toy"
    told = f"1:1: is a file of no known format: write `dataflow: 1`, or say the format; choices: {known}"
    with pytest.raises(FormatError) as caught:
        Flow.load(written(toy, {"nodes": [1, 2]}))
    assert str(caught.value).endswith(told)


def test_of_two_formats_that_take_a_file_one_has_to_be_named(toy: Path) -> None:
    install(toy / "site", "twins", "twin = tests.formats.toy:TWIN\n", group="dataflow.formats")
    file = written(toy, {"toy": ["a"]})
    with pytest.raises(FormatError, match="DF0137"):
        Flow.load(file)
    assert Flow.load(file, format="twin").run_sync()["a"] == "a"


def test_a_broken_format_takes_no_other_along(toy: Path) -> None:
    install(toy / "site", "broken", "broken = tests.formats.nowhere:FORMAT\n", group="dataflow.formats")
    assert Flow.load(written(toy, {"toy": ["a"]})).run_sync()["a"] == "a"
    with pytest.raises(FormatError, match="DF0138"):
        Flow.load(written(toy, {"tay": ["a"]}))


def test_what_is_offered_as_a_format_has_to_be_one(toy: Path) -> None:
    install(toy / "site", "broken", "broken = tests.formats.toy:translate\n", group="dataflow.formats")
    with pytest.raises(FormatError, match="DF0138"):
        Flow.load(written(toy, {"tay": ["a"]}))
