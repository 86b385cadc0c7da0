"""Workflows of Clickweave for tests, and runs of them against a scripted desktop."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import anyio

from dataflow import Event, Flow, Result, RunFailed
from dataflow_agent import scripted

DESK: Final = Path(__file__).with_name("desk.py")


def node(id: str, name: str, type: str, *, _: dict[str, Any] | None = None, **config: Any) -> dict[str, Any]:
    """Write a node; `_` are its own fields, the others those of its type."""
    return {
        "id": id, "name": name, "node_type": {"type": type, **config}, "position": {"x": 0, "y": 0},
        "enabled": True, "timeout_ms": None, "settle_ms": None, "retries": 0, "trace_level": "Minimal",
        "expected_outcome": None, "checks": [], **(_ or {}),
    }  # fmt: skip


def typing(id: str, name: str = "", text: str = "", **fields: Any) -> dict[str, Any]:
    return node(id, name or id, "TypeText", text=text or id, _=fields)


def press(id: str, name: str = "", key: str = "", **fields: Any) -> dict[str, Any]:
    return node(id, name or id, "PressKey", key=key or id, modifiers=[], _=fields)


def loop(id: str, exit_condition: dict[str, Any], limit: int, **fields: Any) -> list[dict[str, Any]]:
    """Write a loop and its end, which is called like it with `_end` behind."""
    return [
        node(id, id, "Loop", exit_condition=exit_condition, max_iterations=limit, _=fields),
        node(f"{id}_end", f"{id} end", "EndLoop", loop_id=id),
    ]


def edge(path: str, output: str = "", case: str = "") -> dict[str, Any]:
    source, target, *more = [*path.split(), *filter(None, [output, case])]
    told = dict(zip(("type", "name"), more, strict=False)) or None
    return {"from": source, "to": target, "output": told}


def looping(exit_condition: dict[str, Any], limit: int, body: dict[str, Any]) -> dict[str, Any]:
    nodes = [*loop("l", exit_condition, limit), body]
    id = body["id"]
    return workflow(nodes, f"l {id} LoopBody", f"{id} l_end", "l_end l")


def literal(value: object) -> dict[str, Any]:
    kind = "Bool" if isinstance(value, bool) else "String" if isinstance(value, str) else "Number"
    return {"type": "Literal", "value": {"type": kind, "value": value}}


def variable(name: str) -> dict[str, Any]:
    return {"type": "Variable", "name": name}


def condition(left: dict[str, Any], operator: str, right: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"left": left, "operator": operator, "right": right or literal("")}


always: Final = condition(literal(True), "Equals", literal(True))
never: Final = condition(literal(True), "Equals", literal(False))


def workflow(
    nodes: list[dict[str, Any]], *edges: str | dict[str, Any], name: str = "My Flow"
) -> dict[str, Any]:
    """Write a workflow; edges are told as by `edge`, without any its nodes stand one behind the other."""
    ids = [one["id"] for one in nodes]
    in_line = [edge(f"{a} {b}") for a, b in pairwise(ids)]
    told = [edge(one) if isinstance(one, str) else one for one in edges]
    return {"id": "w", "name": name, "nodes": nodes, "edges": told or in_line}


def saved(folder: Path, data: Any) -> Path:
    file = folder / "flow.json"
    file.write_text(json.dumps(data, indent=1), encoding="utf-8")
    return file


@dataclass(frozen=True)
class Done:
    """A run that has ended: the calls of tools, the outputs, the events, the requests to models."""

    calls: list[tuple[str, dict[str, Any]]]
    outputs: dict[str, Any]
    events: list[Event]
    requests: list[Any]
    error: RunFailed | None

    @property
    def variables(self) -> dict[str, Any]:
        found: dict[str, Any] = self.outputs.get("variables", {})
        return found

    @property
    def tools(self) -> list[str]:
        return [name for name, _ in self.calls]

    @property
    def typed(self) -> str:
        told = [given.get("text", given.get("key")) for name, given in self.calls if name in TYPING]
        return " ".join(map(str, told))


TYPING: Final = ("type_text", "press_key")


def server(folder: Path, **answers: list[Any]) -> str:
    command = [sys.executable, str(DESK), json.dumps(answers), str(folder / "calls.jsonl")]
    return shlex.join(command)


async def listened(flow: Flow) -> tuple[list[Event], Result | RunFailed]:
    async with flow.start() as started:
        events = [event async for event in started.events()]
        try:
            return events, await started
        except RunFailed as failed:
            return events, failed


def run(folder: Path, data: Any, *says: Any, **answers: list[Any]) -> Done:
    """Load a workflow and run it: `answers` are those of the tools, `says` those of the models."""
    flow = Flow.load(saved(folder, data), server=server(folder, **answers), model="openai/gpt-5")
    with scripted(*says) as script:
        events, outcome = anyio.run(listened, flow)
    outputs = {} if isinstance(outcome, RunFailed) else dict(outcome.outputs)
    error = outcome if isinstance(outcome, RunFailed) else None
    log = folder / "calls.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.is_file() else []
    log.unlink(missing_ok=True)
    return Done([tuple(json.loads(line)) for line in lines], outputs, events, script.requests, error)
