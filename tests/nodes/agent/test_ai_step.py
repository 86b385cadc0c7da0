"""The step of a user interface's flow that lets a model use tools, as a native document (Clickweave, AiStep).

That engine looks at the limit of calls before each call of the model, which is `may_overshoot` here; without
it an answer that asks for too many ends the turn before any is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import anyio

from dataflow import ExecutionContext, Flow, Result
from dataflow_agent import ModelRequest, ScriptedAnswer, ScriptedCall, Toolbox, scripted, tools

CLICKED: Final[list[str]] = []

DOCUMENT = """
dataflow: 1
uses: {screen: MODULE}
inputs: {prompt: {type: string}}
nodes:
  tools: {type: screen.offer}
  step:
    type: agent.agent
    config: {model: openai/gpt, CONFIG}
    inputs: {prompt: $in.prompt, tools: tools}
outputs: {text: step.text, stopped_by: step.stopped_by, context: step.context}
"""


async def click(target: str) -> str:
    """Click on something."""
    CLICKED.append(target)
    if target == "nothing":
        raise ConnectionError("the screen is gone")
    if target == "slow":
        await anyio.sleep_forever()
    return f"clicked {target}"


async def offer() -> Toolbox:
    return tools(click)


def step(folder: Path, config: str = "") -> Flow:
    CLICKED.clear()
    file = folder / "step.yaml"
    file.write_text(DOCUMENT.replace("MODULE", __name__).replace(", CONFIG", config and f", {config}"))
    return Flow.load(file)


def clicking(*targets: str, text: str = "") -> ScriptedAnswer:
    calls = tuple(ScriptedCall(name="click", arguments={"target": one}) for one in targets)
    return ScriptedAnswer(text=text, tool_calls=calls)


async def run(flow: Flow, *answers: Any) -> tuple[Result, list[ModelRequest]]:
    with scripted(*answers) as script:
        return await flow.run(prompt="Click on OK."), script.requests


def results_in(context: ExecutionContext) -> list[object]:
    return [message.content for message in context.message_history if message.role == "tool"]


async def test_it_ends_when_the_model_calls_no_tool(tmp_path: Path) -> None:
    result, requests = await run(step(tmp_path), clicking("OK"), clicking("Yes"), "Done.")
    assert (result["text"], result["stopped_by"], CLICKED) == ("Done.", "answer", ["OK", "Yes"])
    assert len(requests) == 3


async def test_an_answer_with_more_calls_than_are_left_ends_it_before_they_are_made(tmp_path: Path) -> None:
    """None of its calls is made, and the texts count."""
    flow = step(tmp_path, "max_tool_calls: 2")
    result, _ = await run(flow, clicking("OK", text="First."), clicking("a", "b", text="Then both."))
    assert (result["stopped_by"], CLICKED) == ("max_tool_calls", ["OK"])
    assert result["text"] == "First.\n\nThen both."
    result["context"].check()


async def test_time_that_is_over_is_a_success_with_the_text_so_far(tmp_path: Path) -> None:
    flow = step(tmp_path, "time_limit: 0.5")
    result, requests = await run(flow, clicking("slow", text="I click."))
    assert (result.status, result["stopped_by"], result["text"]) == ("completed", "time_limit", "I click.")
    assert len(requests) == 1


async def test_a_run_that_is_stopped_is_cancelled_and_says_nothing(tmp_path: Path) -> None:
    flow = step(tmp_path)
    with scripted(clicking("slow")):
        async with flow.start(prompt="Click.") as running:
            async for event in running.events():
                if event.path == "step/turn[0]/call[0]":
                    break
            running.cancel()
            result = await running
    assert (result.status, dict(result.outputs)) == ("cancelled", {})


async def test_an_error_of_a_tool_is_the_text_of_its_result(tmp_path: Path) -> None:
    result, requests = await run(step(tmp_path), clicking("nothing", "OK"), "Done.")
    told = ["error: ConnectionError: the screen is gone", "clicked OK"]
    assert results_in(result["context"]) == told
    assert [message.content for message in requests[1].messages if message.role == "tool"] == told


async def test_without_any_call_allowed_the_model_is_asked_once(tmp_path: Path) -> None:
    """A turn has an answer (S10.3), unless it may overshoot."""
    cases: list[Any] = ["Hello.", clicking("OK", text="Hello.")]
    for answer in cases:
        result, requests = await run(step(tmp_path, "max_tool_calls: 0"), answer)
        assert (result["text"], CLICKED, len(requests)) == ("Hello.", [], 1)


NATIVE: Final = "may_overshoot: true, max_tool_calls: {}"


async def test_an_answer_that_may_overshoot_has_all_its_calls_made_and_is_the_last(tmp_path: Path) -> None:
    first, both = clicking("OK", text="First."), clicking("a", "b", text="Then both.")
    result, requests = await run(step(tmp_path, NATIVE.format(2)), first, both)
    assert (result["stopped_by"], CLICKED, len(requests)) == ("max_tool_calls", ["OK", "a", "b"], 2)
    assert result["text"] == "First.\n\nThen both."
    result["context"].check()
    assert result["context"].message_history[-1].content == "[stopped by max_tool_calls]"


async def test_as_many_calls_as_are_allowed_end_it_before_the_model_is_asked_again(tmp_path: Path) -> None:
    result, requests = await run(step(tmp_path, NATIVE.format(2)), clicking("a", "b"))
    assert (result["stopped_by"], result["text"], CLICKED) == ("max_tool_calls", "", ["a", "b"])
    assert len(requests) == 1


async def test_without_any_call_allowed_a_step_that_may_overshoot_asks_nobody(tmp_path: Path) -> None:
    result, requests = await run(step(tmp_path, NATIVE.format(0)))
    assert (result.status, result["text"], result["stopped_by"]) == ("completed", "", "max_tool_calls")
    assert not requests


async def test_a_step_that_may_overshoot_ends_with_an_answer_below_its_limit(tmp_path: Path) -> None:
    result, _ = await run(step(tmp_path, NATIVE.format(2)), clicking("OK"), "Done.")
    assert (result["text"], result["stopped_by"]) == ("Done.", "answer")
