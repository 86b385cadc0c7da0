# ruff: noqa: E501 - a row is a line, and messages are compared whole
"""What each type of node does: its call, its AI step, its caches, its checks; runs in its own words (row CW20)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import anyio

from dataflow import Flow
from dataflow.secrets.known import know
from dataflow_agent import ScriptedAnswer, ScriptedCall, scripted
from dataflow_formats.clickweave.checks import folder_name
from dataflow_formats.clickweave.folders import RunFolder
from dataflow_formats.clickweave.nodes.action import ElementNotFound
from dataflow_formats.clickweave.trace import ClickweaveWords
from tests.nodes.formats.clickweave.workflows import (
    Done,
    always,
    listened,
    loop,
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
from tests.support.known_secrets import forgetting


def one(type: str, **config: Any) -> dict[str, Any]:
    return workflow([node("a", "It", type, **config)])


#: Nodes, and the calls that they make.
CALLS: Final[list[tuple[str, dict[str, Any], str, dict[str, Any]]]] = [
    ("TakeScreenshot", {"mode": "Region"}, "take_screenshot", {"mode": "region", "include_ocr": True}),
    ("FindText", {"search_text": "OK", "match_mode": "Exact", "scope": "x", "select_result": "y"}, "find_text", {"text": "OK"}),
    ("FindImage", {"template_image": None}, "find_image", {"threshold": 0.88, "max_results": 3}),
    ("FindImage", {"template_image": "aGk=", "threshold": 0.5, "max_results": 1}, "find_image", {"threshold": 0.5, "max_results": 1, "template_image_base64": "aGk="}),
    ("Click", {"target": "OK", "x": 1, "y": 2, "button": "Right", "click_count": 2}, "click", {"button": "right", "click_count": 2, "x": 1.0, "y": 2.0}),
    ("TypeText", {"text": "hi"}, "type_text", {"text": "hi"}),
    ("PressKey", {"key": "a", "modifiers": ["shift"]}, "press_key", {"key": "a", "modifiers": ["shift"]}),
    ("PressKey", {"key": "a", "modifiers": []}, "press_key", {"key": "a"}),
    ("Scroll", {"delta_y": -3, "x": 1, "y": 2}, "scroll", {"delta_y": -3, "x": 1.0, "y": 2.0}),
    ("ListWindows", {"app_name": "Calc"}, "list_windows", {"app_name": "Calc"}),
    ("ListWindows", {}, "list_windows", {}),
    ("FocusWindow", {"method": "WindowId", "value": "12"}, "focus_window", {"window_id": 12}),
    ("FocusWindow", {"method": "Pid", "value": "7"}, "focus_window", {"pid": 7}),
    ("FocusWindow", {"method": "Pid", "value": "seven"}, "focus_window", {}),
    ("McpToolCall", {"tool_name": "launch_app", "arguments": None}, "launch_app", {}),
    ("AppDebugKitOp", {"operation_name": "launch_app", "parameters": {"app_name": "Calc"}}, "launch_app", {"app_name": "Calc"}),
]  # fmt: skip


def variables(done: Done) -> dict[str, Any]:
    return {name.removeprefix("it."): value for name, value in done.variables.items()}


#: Answers, and the variables that are made of them.
ANSWERS: Final[list[tuple[Any, dict[str, Any]]]] = [
    ("", {"success": True, "result": ""}),
    ("hello", {"success": True, "result": "hello"}),
    (3, {"success": True, "result": 3}),
    ({"a": 1, "success": 0}, {"success": 0, "a": 1, "result": {"a": 1, "success": 0}}),
    (
        [{"count": 9}, 2],
        {"success": True, "found": True, "count": 9, "windows": [{"count": 9}, 2], "result": [{"count": 9}, 2]},
    ),
]  # fmt: skip


def test_a_node_makes_the_call_of_its_type_and_variables_of_the_answer(tmp_path: Path) -> None:
    nodes = [node(f"n{n}", f"N {n}", kind, **config) for n, (kind, config, *_) in enumerate(CALLS)]
    assert run(tmp_path, workflow(nodes)).calls == [(tool, arguments) for *_, tool, arguments in CALLS]
    nodes = [node(f"n{n}", f"N{n}", "ListWindows") for n, _ in enumerate(ANSWERS)]
    found = run(tmp_path, workflow(nodes), list_windows=[answer for answer, _ in ANSWERS]).variables
    assert found == {
        f"n{n}.{name}": value for n, (_, expected) in enumerate(ANSWERS) for name, value in expected.items()
    }
    done = run(tmp_path, one("FindImage"), find_image=[[{"x": 1}]])
    assert variables(done)["matches"] == [{"x": 1}]
    done = run(
        tmp_path,
        one("FindText", search_text="OK"),
        "null",
        find_text=['[]\n{"available_elements": ["Cancel"]} and more'],
    )
    assert (variables(done)["found"], variables(done)["count"]) == (False, 0)
    assert done.tools == ["find_text"]


APPS: Final = [[{"name": "Calc", "pid": 7}]]
CALC: Final = '{"name": "Calc", "pid": 7}'


def focusing(id: str, **fields: Any) -> dict[str, Any]:
    return node(id, id, "FocusWindow", method="AppName", value="calc", bring_to_front=True, _=fields)


def clicking(id: str, **fields: Any) -> dict[str, Any]:
    return node(id, id, "Click", target="OK", x=None, y=None, button="Left", click_count=1, _=fields)


def test_an_app_is_found_among_those_that_run_and_the_same_way_by_a_screenshot(tmp_path: Path) -> None:
    done = run(tmp_path, workflow([focusing("a")]), CALC, list_apps=APPS)
    assert sorted(done.calls[:2]) == [("list_apps", {"user_apps_only": True}), ("list_windows", {})]
    assert done.calls[2:] == [("focus_window", {"pid": 7})]
    assert "Calc" in done.requests[0].messages[-1].content
    shot = node("a", "a", "TakeScreenshot", mode="Window", target="calc", include_ocr=False)
    done = run(tmp_path, workflow([shot, focusing("b")]), CALC, list_apps=APPS)
    assert ("take_screenshot", {"mode": "window", "include_ocr": False, "app_name": "Calc"}) in done.calls
    assert len(done.requests) == 1


NONE: Final = '[]\n{"available_elements": ["Okay", {"name": "Cancel"}]}'
MATCH: Final = [{"text": "Okay", "x": 10, "y": 20}]


def test_a_chosen_name_is_remembered_for_the_next_click_and_search(tmp_path: Path) -> None:
    nodes = [clicking("a"), clicking("b"), node("c", "c", "FindText", search_text="OK")]
    done = run(tmp_path, workflow(nodes), '{"name": "Okay"}', find_text=[NONE, MATCH])
    asked = [given["text"] for name, given in done.calls if name == "find_text"]
    assert (asked, len(done.requests)) == (["OK", "Okay", "Okay", "Okay"], 1)


def test_a_quoted_answer_has_no_half_of_a_secret() -> None:
    with forgetting():
        know("KEY", "hunter2-hunter2")
        assert "hunter2" not in str(ElementNotFound("OK", f"{'x' * 110}hunter2-hunter2{'x' * 90}"))


def step(**config: Any) -> dict[str, Any]:
    given = {"prompt": "Press a.", "allowed_tools": None, "max_tool_calls": None, **config}
    return workflow([node("a", "It", "AiStep", **given)])


def pressing(*keys: str) -> ScriptedAnswer:
    return ScriptedAnswer(
        tool_calls=tuple(ScriptedCall(name="press_key", arguments={"key": key}) for key in keys)
    )


def test_an_ai_step_calls_tools_until_it_is_done_and_sets_its_text(tmp_path: Path) -> None:
    done = run(tmp_path, step(button_text="A"), pressing("a"), "pressed")
    assert done.calls == [("press_key", {"key": "a"})]
    assert variables(done) == {"success": True, "result": "pressed"}
    asked = done.requests[0].messages
    assert [one.role for one in asked] == ["system", "user"]
    assert "'A'" in asked[-1].content
    assert len(done.requests[0].tools) > 5


def test_a_flow_nested_in_one_of_python_is_written_with_paths_that_are_found(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    calling = node("a", "a", "McpToolCall", tool_name="launch_app", arguments={"path": "a/b.png"})
    inner = Flow.load(saved(tmp_path, workflow([calling])), server=server(tmp_path))
    with Flow("outer") as outer:
        outer.add(inner)
    made = tmp_path / "elsewhere/outer.json"
    made.write_text(json.dumps(outer.to_dict()), encoding="utf-8")
    Flow.load(made).run_sync()
    called = json.loads((tmp_path / "calls.jsonl").read_text(encoding="utf-8"))
    assert called == ["launch_app", {"path": str(tmp_path / "a/b.png")}]


def check(name: str, on_fail: str = "FailNode") -> dict[str, Any]:
    return {"name": name, "check_type": "TextPresent", "params": {"text": "OK"}, "on_fail": on_fail}


def says(**verdicts: str) -> str:
    told = [{"name": name, "verdict": verdict, "reasoning": "seen"} for name, verdict in verdicts.items()]
    return json.dumps({"checks": told})


def verdicts(folder: Path, nodes: list[dict[str, Any]], *answers: Any) -> list[list[str]]:
    done = run(folder, workflow(nodes), *answers)
    return [[result["verdict"] for result in one["check_results"]] for one in done.outputs["checks"]]


#: What happens on failure, the answer of the model, and the verdict.
JUDGED: Final[list[tuple[str, Any, str]]] = [
    ("FailNode", says(A="pass"), "Pass"),
    ("FailNode", says(A="fail"), "Fail"),
    ("WarnOnly", says(A="fail"), "Warn"),
    ("WarnOnly", says(A="perhaps"), "Fail"),
    ("WarnOnly", says(), "Fail"),
    ("WarnOnly", says(**{" a ": "PASS"}), "Pass"),
    ("WarnOnly", "no idea", "Fail"),
    ("WarnOnly", ScriptedAnswer(error="model_unavailable"), "Fail"),
]


def test_a_check_and_an_expected_outcome_have_the_verdict_of_the_model(tmp_path: Path) -> None:
    found = [
        verdicts(tmp_path, [typing("a", checks=[check("A", on_fail)])], answer)
        for on_fail, answer, _ in JUDGED
    ]
    assert found == [[[verdict]] for *_, verdict in JUDGED]
    nodes = [typing("a", expected_outcome="it is typed")]
    assert verdicts(tmp_path, nodes, says(**{"Expected outcome": "fail"})) == [["Fail"]]


def test_the_model_is_shown_the_answers_and_the_screen(tmp_path: Path) -> None:
    data = workflow([typing("a", checks=[check("A")])])
    picture = {"text": "", "images": 1}
    done = run(tmp_path, data, says(A="pass"), type_text=["typed it"], take_screenshot=[picture])
    assert done.calls[-1] == ("take_screenshot", {"format": "png"})
    contents = [message.content for message in done.requests[0].messages]
    assert "typed it" in contents[-1]
    assert any(not isinstance(part, str) for content in contents for part in content)


BROKEN: Any = {"press_key": [{"error": "it is broken"}]}


def judged_after_failure(folder: Path, data: dict[str, Any], *answers: Any) -> Any:
    done = run(folder, data, *answers, **BROKEN)
    assert done.error is not None
    ((node, message),) = [(one.node, one.message) for one in done.error.failures]
    assert node == "end"
    assert re.match(r"DF4418 (l\[0\]/)?b/call: .*ToolFailed: DF2214 .*: it is broken$", message)
    return done.error.result.outputs["checks"]


def test_checks_in_a_loop_that_fails_are_judged_too(tmp_path: Path) -> None:
    nodes = [*loop("l", never, 2), typing("a", checks=[check("A")]), press("b"), typing("c")]
    data = workflow(nodes, "l a LoopBody", "a b", "b l_end", "l_end l", "l c LoopDone")
    (verdict,) = judged_after_failure(tmp_path, data, says(A="pass"))
    assert verdict["node_name"] == "a"


def test_an_ai_step_is_offered_what_it_may_call_sees_images_and_stops_at_its_most_calls(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, step(allowed_tools=["press_key"]), "nothing to do")
    assert [tool.name for tool in done.requests[0].tools] == ["press_key"]
    done = run(tmp_path, step(max_tool_calls=1), pressing("a"), pressing("b"))
    assert (done.tools, done.error) == (["press_key"], None)
    done = run(tmp_path, step(), pressing("a"), "seen", press_key=[{"text": "look", "images": 1}])
    content = done.requests[1].messages[-1].content
    assert any(not isinstance(part, str) for part in content)


def told(folder: Path, data: dict[str, Any], *says: Any, **answers: list[Any]) -> list[dict[str, Any]]:
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
