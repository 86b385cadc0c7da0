"""What the tests of HiFide share: small flows, and their runs with scripted models and replies."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from dataflow import Event, EventKind, Flow, FlowInvalid, NodeState, Result, RunFailed
from dataflow_agent import ModelRequest, scripted
from tests.support.codes import codes


def node(id: str, type: str, /, **config: Any) -> dict[str, Any]:
    return {"id": id, "nodeType": type, "config": config}


def edge(ends: str) -> dict[str, Any]:
    """Write an edge told as `a.data b.message`; without ports it is of the context."""
    source, target = (end.partition(".") for end in ends.split(" "))
    return {
        "id": ends, "source": source[0], "target": target[0], "sourceHandle": source[2],
        "targetHandle": target[2],
    }  # fmt: skip


def file_of(nodes: Sequence[Any], *edges: str) -> dict[str, Any]:
    return {"name": "n", "version": "9.0.0", "nodes": [*nodes], "edges": [edge(ends) for ends in edges]}


def flow_of(nodes: Sequence[Any] | Mapping[str, Any], *edges: str, **options: str) -> Flow:
    data = nodes if isinstance(nodes, Mapping) else file_of(nodes, *edges)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flow.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        return Flow.load(path, format="hifide", **options)


def problems(nodes: Sequence[Any] | Mapping[str, Any], *edges: str, **options: str) -> list[str]:
    with pytest.raises(FlowInvalid) as raised:
        flow_of(nodes, *edges, **options)
    return codes(raised.value)


def chatting() -> list[dict[str, Any]]:
    start = node("s", "defaultContextStart", provider="openai", model="gpt-5")
    return [start, node("u", "userInput"), node("q", "llmRequest")]


@dataclass
class Played:
    """A run: which nodes of the flow have ended, what models were asked, and how it failed if it did."""

    result: Result
    requests: list[ModelRequest]
    events: list[Event] = field(default_factory=list)
    error: str = ""

    @property
    def done(self) -> list[str]:
        ended = [event.path for event in self.events if event.kind is EventKind.NODE_FINISHED]
        return [path for path in ended if self.result.states.get(path) is NodeState.DONE]

    def value(self, port: str) -> Any:
        return self.result.get(port)


async def play(
    flow: Flow, *replies: str, answer: str | Callable[[ModelRequest], Any] = "hello", **inputs: Any
) -> Played:
    requests: list[ModelRequest] = []
    events: list[Event] = []

    def answered(request: ModelRequest) -> Any:
        requests.append(request)
        return answer(request) if callable(answer) else answer

    with scripted(answered):
        try:
            async with flow.start(**inputs) as run:
                events += [event async for event in run.events()]
                result = await run
            for reply in replies:
                result = await flow.resume(result, {result.asks[0].id: reply})
        except RunFailed as failed:
            return Played(failed.result, requests, events, str(failed))
    return Played(result, requests, events)


def said_in(request: ModelRequest) -> list[str]:
    return [f"{message.role}:{message.content}" for message in request.messages]
