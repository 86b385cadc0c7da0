"""What the tests of workflows share: small ones, and their runs with answers that repeat the question."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import DataflowError, Event, Flow, FlowInvalid, Result, Run, RunFailed
from dataflow_agent import ModelRequest, ScriptedAnswer, scripted
from dataflow_formats.agentflow.words import AgentFlowWords
from tests.support.codes import codes

PREVIOUS: Final = "{{PREVIOUS_OUTPUT}}"
Answer = str | ScriptedAnswer | Exception | Callable[[ModelRequest], Any]


def start(value: Any = "x", id: str = "s") -> dict[str, Any]:
    return {"id": id, "type": "start", "data": {"initialInput": value}}


def agent(id: str, prompt: str | None = None, **data: Any) -> dict[str, Any]:
    told = f"{id.upper()} {PREVIOUS}" if prompt is None else prompt
    return {"id": id, "type": "agent", "data": {"agentName": id.upper(), "userPrompt": told, **data}}


def if_(id: str, *conditions: tuple[str, str], **data: Any) -> dict[str, Any]:
    written = [{"operator": operator, "value": value} for operator, value in conditions]
    return {"id": id, "type": "if", "data": {"conditions": written, **data}}


def approval(id: str, type: str = "approval") -> dict[str, Any]:
    return {"id": id, "type": type, "data": {"prompt": f"{id}?"}}


def edge(written: str) -> dict[str, Any]:
    source, target = written.split(">")
    id, _, handle = source.partition(".")
    return {"source": id, "target": target, **({"sourceHandle": handle} if handle else {})}


def workflow(nodes: Sequence[Any], edges: str, **more: Any) -> dict[str, Any]:
    """Make a workflow; a node that is a text is an agent with that id, edges stand in one text."""
    placed = [agent(node) if isinstance(node, str) else node for node in nodes]
    return {"nodes": placed, "connections": [edge(one) for one in edges.split()], **more}


def flow_of(data: Any, *, text: str | None = None, **options: str) -> Flow:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.json"
        path.write_text(text or json.dumps(data, indent=1), encoding="utf-8")
        return Flow.load(path, format="agentflow", **options)


def problems(data: Any, **options: str) -> list[str]:
    with pytest.raises(FlowInvalid) as raised:
        flow_of(data, **options)
    return codes(raised.value)


def repeated(request: ModelRequest) -> str:
    return f"R[{request.messages[-1].content}]"


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that has ended or paused, and what the models were asked."""

    result: Result
    requests: Sequence[ModelRequest]
    error: DataflowError | None = None

    @property
    def outputs(self) -> dict[str, Any]:
        return dict(self.result.outputs)

    @property
    def prompts(self) -> list[str]:
        return [str(request.messages[-1].content) for request in self.requests]


def ran(data: Any, *answers: Answer, **options: str) -> Ran:
    """Run a workflow; without answers each agent repeats what it was told."""
    flow = flow_of(data, **options)
    with scripted(*(answers or (repeated,))) as script:
        try:
            result = flow.run_sync()
        except RunFailed as failed:
            return Ran(failed.result, script.requests, failed)
    return Ran(result, script.requests)


async def told(running: Any, words: AgentFlowWords) -> tuple[list[Any], dict[str, Any], Result]:
    lines: list[str] = []
    async with running as run:
        assert isinstance(run, Run)
        events: list[Event] = [event async for event in run.events()]
        lines += [line for event in events for line in words.see(event)]
        try:
            result = await run
        except RunFailed as failed:
            result = failed.result
    entries = [json.loads(line) for line in lines]
    (record,) = (json.loads(line) for line in words.end(result.outputs))
    return [(entry["nodeId"], entry["type"], entry["content"]) for entry in entries], record, result
