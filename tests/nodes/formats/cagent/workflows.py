"""What the tests of cagent share: small workflows, and their runs with scripted agents."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import pytest

from dataflow import Event, EventKind, Flow, FlowInvalid, RunFailed
from dataflow_agent import ModelRequest, scripted
from dataflow_formats.cagent.words import StepContext
from tests.support.codes import codes

#: Agents whose instructions are their names, by which scripts know them.
AGENTS: Final = "agents:\n" + "".join(
    f"  {name}: {{model: openai/gpt, instruction: {name}}}\n" for name in "xyz"
)

#: What an agent answers: always the same, one after the other, or what a function makes.
Answers = str | Exception | Sequence[Any] | Callable[[], Awaitable[str]]


def flow_of(workflow: str, agents: str = AGENTS) -> Flow:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flow.yaml"
        path.write_text(dedent(agents) + dedent(workflow), encoding="utf-8")
        return Flow.load(path)


def problems(workflow: str, agents: str = AGENTS) -> list[str]:
    with pytest.raises(FlowInvalid) as raised:
        flow_of(workflow, agents)
    return codes(raised.value)


@dataclass
class Played:
    """A run that has ended: what the steps gave, what the agents were asked, and how it failed if it did."""

    steps: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    prompts: list[tuple[str, str]] = field(default_factory=list)  # by agent, in order
    error: str = ""
    events: list[Event] = field(default_factory=list)

    @property
    def order(self) -> str:
        return "".join(agent for agent, _ in self.prompts)

    @property
    def outputs(self) -> dict[str, str]:
        return outputs_in(self.steps)

    @property
    def waits(self) -> list[float]:
        failed = [event for event in self.events if event.kind is EventKind.ATTEMPT_FAILED]
        return [event.data["delay"] for event in failed]


def outputs_in(steps: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for id, entry in steps.items():
        if "steps" in entry:
            found |= {f"{id}/{path}": output for path, output in outputs_in(entry["steps"]).items()}
        else:
            found[id] = entry["output"]
    return found


async def play(flow: Flow, prompt: str = "P", **answers: Answers) -> Played:
    """Run a workflow; each agent answers what is given for it, else its own name in capitals."""
    played = Played()
    left = {name: iter(given) for name, given in answers.items() if isinstance(given, list)}

    def answer(request: ModelRequest) -> Any:
        system, asked = request.messages[0].content, request.messages[-1].content
        name = system[0] if request.messages[0].role == "system" else ""
        played.prompts.append((name, asked))
        given = answers.get(name, name.upper())
        if name in left:
            given = next(left[name])
        if isinstance(given, Exception):
            raise given
        return given() if callable(given) else given

    with scripted(answer):
        async with flow.start(prompt=prompt) as run:
            async for event in run.events():
                played.events.append(event)
            try:
                result = await run
            except RunFailed as failed:
                played.error = str(failed)
                played.steps = told_at_the_end(flow, played.events)
            else:
                played.steps, played.output = result["steps"], result["output"]
    return played


def told_at_the_end(flow: Flow, events: Sequence[Event]) -> dict[str, Any]:
    words = StepContext(flow.to_dict())
    for event in events:
        assert [*words.see(event)] == []
    heading, told = words.end({})
    assert heading == "--- Step Context ---"
    steps: dict[str, Any] = json.loads(told)
    return steps


def block(*entries: str, prompt: str = "P") -> str:
    told = [entry.replace("]: ", "]:\n", 1) for entry in entries]
    return "\n\n".join(["--- Prior Step Outputs ---", *told, "--- End Prior Step Outputs ---", prompt])
