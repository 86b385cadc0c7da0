"""`FORMAT`: recognise cagent files, translate them to native documents, and report differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, free_name, write_edge
from dataflow_formats.cagent.conditions import placeholders
from dataflow_formats.cagent.file import (
    BACK,
    META,
    AgentStep,
    Back,
    ConditionStep,
    ParallelStep,
    Step,
    Unresolved,
    Workflow,
    find,
    policy_of,
    read_reference,
    steps_in,
)
from dataflow_formats.cagent.order import Order, arranged, ends, order_of, shape_of
from dataflow_formats.cagent.reader import read_workflow
from dataflow_formats.cagent.words import StepContext
from dataflow_formats.cagent.writer import AGENT, agent_node, conversation, flow_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow.authoring import FormatOptions, JsonDict, Notes


__all__ = ["FORMAT", "check_instructions", "remark_on"]

#: The prompt of a run that is given none.
GO_ON: Final = "Please go on."
PROMPT: Final = {"type": "string", "default": GO_ON}
#: Where the state of a workflow comes from: a node and its port.
Source = tuple[str, str]


def recognises(data: Any) -> bool:
    """Tell whether what a file holds is an agent file with a workflow of cagent."""
    if not isinstance(data, dict):
        return False
    if "workflow" not in data and "dataflow" not in data and _has_agents(data):
        return True  # and told what it lacks
    return ("workflow" in data and ("agents" in data or isinstance(data["workflow"], list))) or (
        "workflows" in data and "agents" in data
    )


def _has_agents(data: dict[Any, Any]) -> bool:
    agents = data.get("agents")
    return isinstance(agents, dict) and bool(agents) and all(isinstance(one, dict) for one in agents.values())


def translate(data: Any, options: FormatOptions, notes: Notes) -> JsonDict:
    """Translate a file that has been read into a native document."""
    if not isinstance(data, dict):
        notes.problem((), "is no file of cagent; expected a mapping with `agents` and `workflow`")
        return {}
    if AGENT in options:
        return conversation(data, options[AGENT], PROMPT, notes)
    workflow = read_workflow(data, notes)
    if not workflow.is_whole:
        return {}
    steps = arranged(workflow, notes)
    check_instructions(workflow, notes)
    if notes.problems:
        return {}
    order = order_of(steps)
    remark_on(workflow, steps, order, notes)
    return _document(data, _Block(workflow, order, (), notes), steps)


def _document(data: JsonDict, block: _Block, steps: tuple[Step, ...]) -> JsonDict:
    begin, end = block.free("start"), block.free("end")
    block.nodes[begin] = {"type": "cagent.start", "inputs": {"prompt": "$in.prompt"}}
    ends = block.walk(steps, [(begin, "out")])
    outputs = {}
    if ends:  # else the workflow only ever goes round
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


class _Block:
    """The nodes and edges of a workflow, or of what runs side by side in it."""

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
        """Place a node behind others, of which one runs."""
        self.nodes[id] = node
        if not self.around:
            self.notes.origin(id, path)
        self.connect(sources, id, port)

    def connect(self, sources: list[Source], id: str, port: str, **more: Any) -> None:
        self.edges += [write_edge(*source, id, port, **more) for source in sources]

    def walk(self, steps: tuple[Step, ...], sources: list[Source]) -> list[Source]:
        """Place steps one behind the other, and return where their state comes from in the end."""
        for step in steps:
            sources = self._step(step, sources)
        return sources

    def _step(self, step: Step, sources: list[Source]) -> list[Source]:
        path = (*self.around, step.id)
        match step:
            case AgentStep():
                definition = self.workflow.agents[step.agent]
                node = agent_node(step, path, definition, [*self.order.before(path)])
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
        """Make the node of a parallel block: a flow with its children beside each other."""
        block = _Block(self.workflow, self.order, path, self.notes)
        end = block.free("end")
        entry = [("$in", "state")]
        ends = [source for child in step.steps for source in block.walk((child,), entry)]
        ids = [ran.path[len(path)] for ran in self.order.ran if ran.agent and ran.path[: len(path)] == path]
        config = {"path": [*path], "order": [*dict.fromkeys(ids)]}
        block.place(end, {"type": "cagent.gather", "config": config}, entry, step.path, "before")
        block.connect(ends, end, "after")
        parts = {"nodes": block.nodes, "edges": block.edges, "outputs": {"state": f"{end}.state"}}
        return {**flow_of(parts), **policy_of(step.retry)}


FORMAT: Final = Format(
    "cagent", recognises, translate, frozenset({AGENT}), words=StepContext, takes_words=True
)


def remark_on(workflow: Workflow, steps: tuple[Step, ...], order: Order, notes: Notes) -> None:
    """Note what is worth a remark in a workflow without problems."""
    everywhere = [*_all_steps(steps)]
    shape = shape_of(workflow.steps)
    _remark_on_names(everywhere, notes)
    if ends(steps):
        notes.remark("", "has no end", "it ends only at a limit of loops")
    for path, step in everywhere:
        match step:
            case Back():
                _remark_on_way(step, path, everywhere, notes)
            case ConditionStep():
                _remark_on_condition(step, path, workflow, order, shape, notes)
            case AgentStep() if step.id.startswith(BACK):
                here = f"it does so too, as there is no step {step.id.removeprefix(BACK)!r} to lead back to"
                notes.remark(step.id, f"runs agent {step.agent!r}", here)
            case _:
                pass


def _all_steps(steps: tuple[Step, ...]) -> Iterator[tuple[tuple[str, ...], Step]]:
    """Go through all steps, each with its path, those of parallel blocks too."""
    todo: list[tuple[tuple[str, ...], tuple[Step, ...]]] = [((), steps)]
    while todo:
        around, block = todo.pop()
        for step in steps_in(block):
            yield (*around, step.id), step
            if isinstance(step, ParallelStep):
                todo.append(((*around, step.id), step.steps))


def _remark_on_names(everywhere: list[tuple[tuple[str, ...], Step]], notes: Notes) -> None:
    unnamed = [
        "/".join(path) for path, step in everywhere if isinstance(step, AgentStep) and not step.is_named
    ]
    if len(unnamed) > 1:
        original = "steps without an id can share one, and a later output takes an earlier one's place"
        notes.remark("", original, f"each has an id of its own: {', '.join(unnamed)}")


def _remark_on_way(
    step: Back, path: tuple[str, ...], everywhere: list[tuple[tuple[str, ...], Step]], notes: Notes
) -> None:
    target = next(one for where, one in everywhere if where == (*path[:-1], step.target))
    runs = f"runs agent {step.agent!r} once more" if step.agent else f"`{step.written}` does not lead back"
    # the node of a way back has an id that the file need not have, and the condition around it has
    around = next((one.id for _, one in everywhere if one.path == step.path[:-2]), step.id)
    here = f"it leads back to step {step.target!r}"
    if step.agent and isinstance(target, AgentStep) and target.agent != step.agent:
        here += f", which runs agent {target.agent!r}"
    node = step.id if step.agent else around
    notes.remark(node, f"{runs}, and the steps behind the condition follow", here)


def _remark_on_condition(
    step: ConditionStep,
    path: tuple[str, ...],
    workflow: Workflow,
    order: Order,
    shape: dict[str, object],
    notes: Notes,
) -> None:
    found = _followed(step.condition, shape)
    if found is None:
        return
    read, agent, keys = found
    if not any(ran.path == read for ran in order.before(path)):
        what = f"reads {'/'.join(read)!r}, which has given nothing when it is evaluated"
        notes.remark(step.id, what, "the run fails there")
    declared = workflow.agents[agent].keys if agent in workflow.agents else None
    if keys and (declared is None or (declared and keys[0] not in declared)):
        what = f"reads {keys[0]!r}, which no structured_output of agent {agent!r} declares"
        here = "an output that is no JSON object counts as a whole, and a missing part is false"
        notes.remark(step.id, what, here)


def _followed(text: str, shape: dict[str, object]) -> tuple[tuple[str, ...], str, tuple[str, ...]] | None:
    try:
        path, entry, keys = find(read_reference(text), shape)
    except Unresolved:
        return None  # it is a problem, which has been noted
    return path, str(entry["agent"]), keys


def check_instructions(workflow: Workflow, notes: Notes) -> None:
    """Note references in the instructions of agents that lead nowhere."""
    shape = shape_of(workflow.steps)
    for name, agent in workflow.agents.items():
        for text in placeholders(agent.instruction):
            try:
                find(read_reference(text), shape)
            except Unresolved as error:
                notes.problem(("agents", name, "instruction"), f"agent {name!r}: {text}: {error}")
