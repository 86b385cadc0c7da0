"""What the tests of workflows share: small workflows, and their runs with scripted answers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dataflow import DataflowError, Flow, Result, RunFailed
from dataflow_agent import ModelRequest, ScriptedAnswer, scripted

MODEL: Final = "openai/gpt-5"


def agent(id: str, name: str = "", **parameters: Any) -> dict[str, Any]:
    return {"id": id, "type": "agent", "parameters": {"agentName": name or id.upper(), **parameters}}


def edge(source: str, target: str, contains: str | None = None, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"id": f"{source}{target}", "source": source, "target": target, **more}
    if contains is not None:
        made["condition"] = {"type": "content_contains", "value": contains}
    return made


def workflow(nodes: str | Sequence[Any], *ends: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    """Make a workflow of agents with letters for ids, and of edges of two letters each."""
    placed = [agent(one) if isinstance(one, str) else one for one in nodes]
    edges = [edge(*one) if isinstance(one, str) else one for one in ends]
    return {"name": "small", "executionMode": "one_time", "nodes": placed, "edges": edges, **more}


def flow_of(data: Any, *, text: str | None = None, **options: str) -> Flow:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.json"
        path.write_text(text or json.dumps(data, indent=1), encoding="utf-8")
        return Flow.load(path, format="agentron", **{"model": MODEL, **options})


@dataclass(frozen=True, slots=True)
class Ran:
    """A run that has ended or paused: its steps by node, and what the models were asked."""

    result: Result
    requests: Sequence[ModelRequest]
    error: DataflowError | None = None

    @property
    def nodes(self) -> str:
        return " ".join(step["node"] for step in steps(self.result))

    @property
    def prompts(self) -> list[str]:
        return [str(request.messages[-1].content) for request in self.requests]


def steps(result: Result) -> list[dict[str, Any]]:
    found = [dict(told["step"]) for told in result.metadata.values() if "step" in told]
    return sorted(found, key=lambda step: step["order"])


def ran(
    data: Any,
    *answers: str | ScriptedAnswer | Exception,
    inputs: dict[str, Any] | None = None,
    **options: str,
) -> Ran:
    """Run a workflow; without answers each agent gives the text `said`."""
    flow = flow_of(data, **options)
    with scripted(*(answers or (always,))) as script:
        try:
            result = flow.run_sync(inputs=inputs or {})
        except RunFailed as failed:
            return Ran(failed.result, script.requests, failed)
    return Ran(result, script.requests)


def always(request: ModelRequest) -> str:
    return "said"
