"""Random workflows of cagent convert to the same flow, and run as a plain reading of them says."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataflow import Flow, RunFailed
from dataflow.formats.native.writer import dump_yaml
from dataflow_agent import ModelRequest, scripted
from tests.nodes.formats.cagent.workflows import outputs_in

LIMIT: Final = 3
MOST_STEPS: Final = 4


class Drawing:
    """Draws one workflow: each agent step has an agent of its own, which its answers are known by."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.count = 0

    def id(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def steps(self, known: list[str], above: list[str], around: str, depth: int) -> list[Any]:
        """Draw a list: conditions read a step before them, and branches may lead back to one."""
        found: list[Any] = []
        for _ in range(self.draw(st.integers(1, MOST_STEPS))):
            step = self.step(known, above, around, depth)
            found.append(step)
            above = [*above, step["id"]]
        return found

    def step(self, known: list[str], above: list[str], around: str, depth: int) -> dict[str, Any]:
        kinds = [
            "agent", "agent", *(["condition"] if known and depth else []), *(["parallel"] if depth else []),
        ]  # fmt: skip
        kind = self.draw(st.sampled_from(kinds))
        id = self.id(kind[0])
        if kind == "agent":
            known.append(f"{around}{id}")
            return {"id": id, "type": "agent", "name": id}
        if kind == "parallel":
            inside = f"{around}{id}.outputs."
            children = [
                self.step([*known], [], inside, depth - 1) for _ in range(self.draw(st.integers(0, 3)))
            ]
            return {"id": id, "type": "parallel", "steps": children}
        read = self.draw(st.sampled_from(known))
        step: dict[str, Any] = {"id": id, "type": "condition", "condition": f"{{{{ $steps.{read}.output }}}}"}
        for key in ("true", "false"):
            if self.draw(st.booleans()):
                step[key] = self.steps([*known], [*above, id], around, depth - 1)
        if self.draw(st.booleans()) and above:
            step.setdefault("false", []).append({"goto": self.draw(st.sampled_from(above))})
        return step


@st.composite
def workflows(draw: Any) -> dict[str, Any]:
    drawing = Drawing(draw)
    steps = drawing.steps([], [], "", 3)
    agents = {f"a{n}": {"model": "openai/gpt", "instruction": f"a{n}"} for n in range(1, drawing.count + 1)}
    return {"agents": agents, "workflow": {"steps": steps, "max_loop_iterations": LIMIT}}


def answer(agent: str, count: int) -> str:
    """Say what an agent answers when it is asked again and again: each third one says no for a while."""
    return "no" if int(agent[1:]) % 3 == 0 and count < int(agent[1:]) % 4 else "yes"


class Failed(Exception):
    """What ends a plain reading."""


class Back(Exception):
    """Leads back to a step."""


class Reading:
    """Reads a workflow plainly, one step after the other."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.passes: dict[str, int] = {}

    def list(self, steps: list[Any], store: dict[str, Any], around: str) -> None:
        index = 0
        ids = [step.get("id") for step in steps]
        while index < len(steps):
            try:
                self.step(steps[index], store, around)
            except Back as back:
                target = str(back)
                if target not in ids:
                    raise
                index = ids.index(target)
            else:
                index += 1

    def step(self, step: dict[str, Any], store: dict[str, Any], around: str) -> None:
        if "goto" in step:
            self.passes[step["goto"]] = self.passes.get(step["goto"], 1) + 1
            if self.passes[step["goto"]] > LIMIT:
                raise Failed("max loop iterations")
            later = int(step["goto"][1:])
            self.passes = {id: count for id, count in self.passes.items() if int(id[1:]) <= later}
            raise Back(step["goto"])
        path = f"{around}{step['id']}"
        match step["type"]:
            case "agent":
                self.counts[step["id"]] += 1
                store[path] = answer(step["id"], self.counts[step["id"]])
            case "parallel":
                inside = f"{path}.outputs."
                for child in step["steps"]:
                    own = dict(store)
                    self.list([child], own, inside)
                    store |= {key: value for key, value in own.items() if key.startswith(inside)}
            case _:
                read = step["condition"].removeprefix("{{ $steps.").removesuffix(".output }}")
                if read not in store:
                    raise Failed("no step")
                self.list(step.get("true" if store[read] == "yes" else "false", []), store, around)


def loaded(text: str, name: str = "flow.yaml") -> Flow:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        return Flow.load(path)


@settings(max_examples=25)
@given(workflows())
def test_a_workflow_converts_to_a_document_of_the_same_flow(data: dict[str, Any]) -> None:
    flow = loaded(json.dumps(data), "flow.json")
    assert flow.check() == []
    assert loaded(dump_yaml(flow.wiring)).to_dict() == flow.to_dict()


@settings(max_examples=25)
@given(workflows())
def test_a_workflow_runs_as_a_plain_reading_of_it(data: dict[str, Any]) -> None:
    reading, store, counts, failed = Reading(), dict[str, Any](), Counter[str](), ""
    try:
        reading.list(data["workflow"]["steps"], store, "")
    except Failed as error:
        failed = str(error)

    def play(request: ModelRequest) -> str:
        agent = request.messages[0].content
        counts[agent] += 1
        return answer(agent, counts[agent])

    with scripted(play):
        flow = loaded(json.dumps(data), "flow.json")
        if failed:
            with pytest.raises(RunFailed, match=failed):
                flow.run_sync(prompt="P")
        else:
            result = flow.run_sync(prompt="P")
            found = {
                path.replace("/", ".outputs."): output for path, output in outputs_in(result["steps"]).items()
            }
            assert (found, counts) == (store, reading.counts)
