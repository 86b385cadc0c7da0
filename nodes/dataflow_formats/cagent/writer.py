"""Write a workflow, or the conversation with one agent, as a native document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dataflow.authoring import foreign, free_name, get_mapping, write_edge
from dataflow_formats.cagent.conditions import placeholders
from dataflow_formats.cagent.file import META, AgentStep, Back, ConditionStep, ParallelStep
from dataflow_formats.cagent.reader import read_agents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.cagent.file import AgentDefinition, Retry, Step, Workflow
    from dataflow_formats.cagent.order import Order, Ran

__all__ = ["AGENT", "conversation", "workflow_document"]

#: The names that an input for an earlier output cannot have.
TAKEN: Final = frozenset({"config", "prompt", "state"})
#: The option that names the agent.
AGENT: Final = "agent"
#: The default prompt of a run.
GO_ON: Final = "Please go on."
PROMPT: Final = {"type": "string", "default": GO_ON}
#: A source of the state of a workflow: a node and its port.
Source: TypeAlias = tuple[str, str]


def workflow_document(
    data: JsonDict, workflow: Workflow, steps: tuple[Step, ...], order: Order, notes: Notes
) -> JsonDict:
    """Return the document of a workflow whose steps are arranged."""
    block = _Block(workflow, order, (), notes)
    begin, end = block.free("start"), block.free("end")
    block.nodes[begin] = {"type": "cagent.start", "inputs": {"prompt": "$in.prompt"}}
    ends = block.walk(steps, [(begin, "out")])
    outputs = {}
    if ends:  # else the workflow always leads back
        block.place(end, {"type": "cagent.finish"}, ends, ("workflow",))
        outputs = {"steps": f"{end}.steps", "output": f"{end}.output"}
    meta = {key: data[key] for key in ("version", "metadata") if key in data}
    return {
        "dataflow": 1,
        "inputs": {"prompt": PROMPT},
        "nodes": block.nodes,
        "edges": block.edges,
        "outputs": outputs,
        **({"meta": {META: meta}} if meta else {}),
    }


def conversation(data: JsonDict, name: str, notes: Notes) -> JsonDict:
    """Return a document in which an agent answers a prompt, and then each reply of the user."""
    agents = get_mapping(data, "agents")
    if not name or name not in agents:
        named = [str(agent) for agent in agents if agent]
        unknown = foreign.FOREIGN_CHOICE_UNKNOWN(key="agent", value=name, available=named, near=name)
        notes.problem(("agents",), unknown)
        return {}
    definition = read_agents(data, (name,), notes)[name]
    begin, reply = (free_name(word, {name}) for word in ("begin", "reply"))
    system = {"config": {"system": definition.instruction}} if definition.instruction else {}
    notes.origin(name, ("agents", name))
    return {
        "dataflow": 1,
        "inputs": {"prompt": PROMPT},
        "nodes": {
            begin: {"type": "agent.context", **system},
            name: {"type": "agent.chat", "config": {"model": definition.model, **definition.config}},
            reply: {"type": "control.user_input"},
        },
        "edges": [
            write_edge("$in", "prompt", name, "prompt"),
            write_edge(begin, "out", name, "context"),
            write_edge(name, "text", reply, "show"),
            write_edge(name, "context", reply, "context"),
            write_edge(reply, "out", name, "prompt", feedback=True, limit=None),
            write_edge(reply, "context", name, "context", feedback=True, limit=None),
        ],
        "meta": {META: {AGENT: name}},
    }


class _Block:
    """The nodes and edges of a workflow, or of a parallel block in it."""

    def __init__(self, workflow: Workflow, order: Order, around: tuple[str, ...], notes: Notes) -> None:
        self.workflow = workflow
        self.order = order
        self.around = around
        self.notes = notes
        self.nodes: JsonDict = {}
        self.edges: list[JsonDict] = []

    def free(self, name: str) -> str:
        """Return a name that no step of the block has."""
        taken = {path[-1] for path in self.order.begins if path[:-1] == self.around}
        return free_name(name, taken)

    def place(self, id: str, node: JsonDict, sources: list[Source], path: Any, port: str = "state") -> None:
        """Place a node after alternative sources."""
        self.nodes[id] = node
        if not self.around:
            self.notes.origin(id, path)
        self.connect(sources, id, port)

    def connect(self, sources: list[Source], id: str, port: str, **more: Any) -> None:
        self.edges += [write_edge(*source, id, port, **more) for source in sources]

    def walk(self, steps: tuple[Step, ...], sources: list[Source]) -> list[Source]:
        """Place steps in sequence, and return the sources of the state after the last."""
        for step in steps:
            sources = self._step(step, sources)
        return sources

    def _step(self, step: Step, sources: list[Source]) -> list[Source]:
        path = (*self.around, step.id)
        match step:
            case AgentStep():
                definition = self.workflow.agents[step.agent]
                node = _agent_node(step, path, definition, [*self.order.before(path)])
                self.place(step.id, node, sources, step.path)
                return [(step.id, "state")]
            case ConditionStep():
                node = {"type": "cagent.condition", "config": {"condition": step.condition}}
                self.place(step.id, node, sources, step.path)
                yes = self.walk(step.yes, [(step.id, "true")])
                return yes + self.walk(step.no, [(step.id, "false")])
            case ParallelStep():
                self.place(step.id, self._parallel(step, path), sources, step.path)
                return [(step.id, "state")]
            case Back():
                self._back(step, sources)
                return []

    def _back(self, step: Back, sources: list[Source]) -> None:
        target = str(step.target)
        inner = self.order.inner_loops((*self.around, target))
        config = {"step": target, "limit": self.workflow.limit, **({"inner": inner} if inner else {})}
        self.place(step.id, {"type": "cagent.back", "config": config}, sources, step.path)
        self.connect([(step.id, "out")], target, "state", feedback=True, limit=None)

    def _parallel(self, step: ParallelStep, path: tuple[str, ...]) -> JsonDict:
        """Return the node of a parallel block: a subflow whose branches are the children."""
        block = _Block(self.workflow, self.order, path, self.notes)
        end = block.free("end")
        entry = [("$in", "state")]
        ends = [source for child in step.steps for source in block.walk((child,), entry)]
        ids = [ran.path[len(path)] for ran in self.order.ran if ran.agent and ran.path[: len(path)] == path]
        config = {"path": [*path], "order": [*dict.fromkeys(ids)]}
        block.place(end, {"type": "cagent.gather", "config": config}, entry, step.path, "before")
        block.connect(ends, end, "after")
        parts = {"nodes": block.nodes, "edges": block.edges, "outputs": {"state": f"{end}.state"}}
        return {**_subflow(parts), **_policy(step.retry)}


def _agent_node(
    step: AgentStep, path: tuple[str, ...], definition: AgentDefinition, before: Sequence[Ran]
) -> JsonDict:
    """Return the node of a step that runs an agent: a subflow that adds its output to the state."""
    names = _names(before)
    nodes: JsonDict = {"given": _given(names, before)}
    if before:
        nodes["prompt"] = _prompt(names, before)
    nodes |= _call_model(step, definition, "prompt" if before else "given.prompt")
    nodes["done"] = {
        "type": "cagent.record",
        "config": {"path": [*path], "agent": step.agent},
        "inputs": {"state": "$in.state", "text": "agent.text"},
    }
    return _subflow({"nodes": nodes, "outputs": {"state": "done"}})


def _given(names: Sequence[str], before: Sequence[Ran]) -> JsonDict:
    steps = {name: [*ran.path] for name, ran in zip(names, before, strict=True)}
    config = {"config": {"steps": steps}} if steps else {}
    return {"type": "cagent.outputs", **config, "inputs": {"state": "$in.state"}}


def _prompt(names: Sequence[str], before: Sequence[Ran]) -> JsonDict:
    steps: list[JsonDict] = []
    for name, ran in zip(names, before, strict=True):
        path = "/".join(ran.path)
        steps.append({"name": name, "agent": ran.agent} | ({"path": path} if path != name else {}))
    inputs = {"prompt": "given.prompt", **{name: f"given.{name}" for name in names}}
    return {"type": "agent.prior_outputs", "config": {"steps": steps}, "inputs": inputs}


def _names(before: Sequence[Ran]) -> list[str]:
    """Name the inputs for earlier outputs: by the ids of the steps if these are valid and unique names."""
    found: list[str] = []
    used = set(TAKEN)
    for number, ran in enumerate(before):
        name = ran.path[-1]
        if name in used or not name.isidentifier():
            name = free_name(f"step_{number}", used)
        found.append(name)
        used.add(name)
    return found


def _call_model(step: AgentStep, definition: AgentDefinition, prompt: str) -> JsonDict:
    """Return the node that calls the model, and those that fill the references in its instruction."""
    config: dict[str, Any] = {"model": definition.model}
    inputs = {"prompt": prompt}
    before: JsonDict = {}
    if placeholders(definition.instruction):
        before = {
            "instruction": {
                "type": "cagent.instruction",
                "config": {"text": definition.instruction},
                "inputs": {"state": "$in.state"},
            },
            "context": {"type": "agent.context", "inputs": {"system": "instruction"}},
        }
        inputs["context"] = "context"
    elif definition.instruction:
        config["system"] = definition.instruction
    config |= definition.config
    agent = {"type": "agent.chat", "config": config, "inputs": inputs, **_policy(step.retry)}
    return {**before, "agent": agent}


def _subflow(block: JsonDict) -> JsonDict:
    """Return a node with a subflow that takes the state."""
    return {"flow": {"dataflow": 1, "inputs": {"state": {}}, **block}}


def _policy(retry: Retry | None) -> JsonDict:
    """Return the policy of a native node for a retry, nothing without one."""
    if retry is None:
        return {}
    written: JsonDict = {"retries": retry.attempts}
    if retry.on:
        written["on"] = [*retry.on]
    if retry.backoff != "none":
        written["backoff"] = retry.backoff
        written["first"] = retry.first
    return {"policy": {"retry": written}}
