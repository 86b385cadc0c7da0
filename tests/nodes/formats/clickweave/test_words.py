"""Runs in the words of Clickweave: its trace events, as lines and in the folder of an execution."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio

from dataflow import Flow
from dataflow_agent import ScriptedAnswer, ScriptedCall, scripted
from dataflow_formats.clickweave.checks import folder_name
from dataflow_formats.clickweave.folders import RunFolder
from dataflow_formats.clickweave.trace import ClickweaveWords
from tests.nodes.formats.clickweave.workflows import (
    Done,
    always,
    listened,
    looping,
    never,
    node,
    press,
    run,
    saved,
    server,
    typing,
    workflow,
)


def told(folder: Path, data: dict[str, Any], *says: Any, **answers: list[Any]) -> list[dict[str, Any]]:
    """Run a workflow, and return what its words are."""
    done = run(folder, data, *says, **answers)
    words = ClickweaveWords(Flow.load(saved(folder, data)).to_dict())
    return [json.loads(line) for event in done.events for line in words.see(event)]


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["event_type"] for event in events]


def payloads(events: list[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [event["payload"] for event in events if event["event_type"] == type]


def test_a_node_tells_its_start_its_tool_and_its_variables(tmp_path: Path) -> None:
    events = told(tmp_path, workflow([typing("a", "Say")]), type_text=["done"])
    assert types(events) == [
        "node_started", "tool_call", "tool_result", "variable_set", "variable_set", "node_completed",
        "workflow_completed",
    ]  # fmt: skip
    assert payloads(events, "tool_call") == [{"name": "type_text", "args": {"text": "a"}, "index": 0}]
    assert payloads(events, "tool_result") == [
        {"name": "type_text", "text": "done", "text_len": 4, "image_count": 0}
    ]
    assert payloads(events, "variable_set") == [
        {"variable": "say.success", "value": True},
        {"variable": "say.result", "value": "done"},
    ]


def test_what_was_looked_up_is_told(tmp_path: Path) -> None:
    focusing = node("f", "f", "FocusWindow", method="AppName", value="calc", bring_to_front=True)
    clicking = node("c", "c", "Click", target="OK", x=None, y=None, button="Left", click_count=1)
    events = told(
        tmp_path,
        workflow([focusing, clicking]),
        '{"name": "Calc", "pid": 7}',
        '{"name": "Okay"}',
        list_apps=[[{"name": "Calc", "pid": 7}]],
        find_text=['[]\n{"available_elements": ["Okay"]}', [{"text": "Okay", "x": 1, "y": 2}]],
    )
    assert payloads(events, "app_resolved") == [{"name": "Calc", "pid": 7}]
    assert payloads(events, "element_resolved") == [{"name": "Okay"}]
    assert payloads(events, "target_resolved") == [{"x": 1, "y": 2}]


def kept(folder: Path, data: dict[str, Any], **answers: list[Any]) -> tuple[Path, Done]:
    """Run a workflow, and return the folder of the execution."""
    done = run(folder, data, **answers)
    writer = RunFolder(Flow.load(saved(folder, data)).to_dict(), folder)
    for event in done.events:
        writer.see(event)
    assert writer.execution is not None
    return writer.execution, done


def test_an_execution_has_a_folder_by_workflow_time_and_node(tmp_path: Path) -> None:
    execution, _ = kept(tmp_path, workflow([typing("a", "Click #5")]))
    assert execution.parent == tmp_path / ".clickweave" / "runs" / "my-flow"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_[0-9a-f]{8}-[0-9a-f]{3}", execution.name)
    record = json.loads((execution / "click-5" / "run.json").read_text(encoding="utf-8"))
    assert (record["node_name"], record["status"], record["trace_level"]) == ("Click #5", "Ok", "Minimal")
    assert record["started_at"] <= record["ended_at"]
    assert (execution / "click-5" / "artifacts").is_dir()


def test_events_stand_with_their_node_or_with_the_execution(tmp_path: Path) -> None:
    """A second pass through a node has a record of its own."""
    execution, _ = kept(tmp_path, looping(never, 2, typing("n")))
    assert json.loads((execution / "n" / "2" / "run.json").read_text(encoding="utf-8"))["status"] == "Ok"
    own = (execution / "n" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert types([json.loads(line) for line in own])[0] == "node_started"
    shared = (execution / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert types([json.loads(line) for line in shared])[-2:] == ["loop_exited", "workflow_completed"]


def test_the_description_of_an_image_is_told(tmp_path: Path) -> None:
    pressing = ScriptedAnswer(tool_calls=(ScriptedCall(name="press_key", arguments={"key": "a"}),))
    data = workflow([node("a", "a", "AiStep", prompt="Look.")])
    flow = Flow.load(
        saved(tmp_path, data),
        server=server(tmp_path, press_key=[{"text": "look", "images": 1}]),
        model="openai/gpt-5",
        vision_model="openai/eyes",
    )
    words = ClickweaveWords(flow.to_dict())
    with scripted(pressing, "a red square", "seen") as script:
        events, _ = anyio.run(listened, flow)
    lines = [json.loads(line) for event in events for line in words.see(event)]
    (summary,) = payloads(lines, "vision_summary")
    assert "a red square" in summary["text"]
    assert [request.model for request in script.requests] == ["openai/gpt-5", "openai/eyes", "openai/gpt-5"]
    (call,) = payloads(lines, "tool_call")
    assert (call["name"], call["args"]) == ("press_key", {"key": "a"})
    (result,) = payloads(lines, "tool_result")
    assert (result["name"], result["image_count"]) == ("press_key", 1)


def test_a_node_that_has_failed_tells_its_error_and_is_kept_as_failed(tmp_path: Path) -> None:
    execution, done = kept(tmp_path, workflow([typing("a"), press("b")]), type_text=[{"error": "no"}])
    words = ClickweaveWords(Flow.load(tmp_path / "flow.json").to_dict())
    events = [json.loads(line) for event in done.events for line in words.see(event)]
    (failed,) = payloads(events, "node_failed")
    assert "no" in failed["error"]
    assert json.loads((execution / "a" / "run.json").read_text(encoding="utf-8"))["status"] == "Failed"
    assert not (execution / "b").exists()


def test_images_and_what_tools_read_of_the_screen_are_kept_unless_the_trace_is_off(tmp_path: Path) -> None:
    for level, images in (("Minimal", ["artifacts/image-1.png"]), ("Off", [])):
        data = workflow([typing("a", trace_level=level)])
        execution, _ = kept(tmp_path, data, type_text=[{"text": "", "images": 1}])
        record = json.loads((execution / "a" / "run.json").read_text(encoding="utf-8"))
        assert record["artifacts"] == images
        assert [f"artifacts/{path.name}" for path in (execution / "a" / "artifacts").iterdir()] == images
    data = workflow([node("a", "a", "TakeScreenshot", mode="Screen", target=None)])
    execution, _ = kept(tmp_path, data, take_screenshot=[{"text": "OK at 1, 2", "images": 1}])
    artifacts = execution / "a" / "artifacts"
    assert sorted(path.name for path in artifacts.iterdir()) == ["image-1.png", "ocr-1.txt"]
    assert (artifacts / "ocr-1.txt").read_text(encoding="utf-8") == "OK at 1, 2"


def test_a_folder_has_a_name_that_file_systems_take() -> None:
    names = {"Click #5": "click-5", "x" * 300: "x" * 100, "é" * 300: "unnamed", "..": "unnamed"}
    assert {name: folder_name(name) for name in names} == names


def test_an_if_a_loop_and_a_retry_tell_what_has_become_of_them(tmp_path: Path) -> None:
    nodes = [node("i", "Seen?", "If", condition=always), typing("yes"), typing("no")]
    events = told(tmp_path, workflow(nodes, "i yes IfTrue", "i no IfFalse"))
    assert payloads(events, "branch_evaluated") == [
        {
            "node_id": "i", "node_name": "Seen?", "condition": always, "resolved_left": True,
            "resolved_right": True, "result": True, "output_taken": "IfTrue",
        }
    ]  # fmt: skip
    events = told(tmp_path, looping(never, 2, typing("n")))
    about = {"node_id": "l", "node_name": "l"}
    assert payloads(events, "loop_iteration") == [{**about, "iteration": 0}, {**about, "iteration": 1}]
    assert payloads(events, "loop_exited") == [
        {**about, "reason": "max_iterations", "iterations_completed": 2}
    ]
    (left,) = payloads(told(tmp_path, looping(always, 2, typing("n"))), "loop_exited")
    assert (left["reason"], left["iterations_completed"]) == ("condition_met", 1)
    events = told(tmp_path, workflow([typing("a", retries=1)]), type_text=[{"error": "no"}, "ok"])
    (retry,) = payloads(events, "retry")
    assert retry["attempt"] == 1
    assert "no" in retry["error"]


def test_a_switch_tells_the_case_that_it_has_taken(tmp_path: Path) -> None:
    nodes = [node("s", "s", "Switch", cases=[{"name": "a", "condition": always}]), typing("t")]
    (told_of,) = payloads(told(tmp_path, workflow(nodes, "s t SwitchCase a")), "branch_evaluated")
    assert told_of["output_taken"] == "SwitchCase(a)"
    assert [*ClickweaveWords(Flow.load(tmp_path / "flow.json").to_dict()).end({})] == []
