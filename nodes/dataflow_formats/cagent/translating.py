"""Files of cagent: recognised by their content, and translated into native documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import Format, free_name, write_edge
from dataflow_formats.cagent.agent_steps import agent_node, flow_of
from dataflow_formats.cagent.arranging import arranged
from dataflow_formats.cagent.parts import META, AgentStep, Back, ConditionStep, ParallelStep, Step, Workflow
from dataflow_formats.cagent.priors import Order, order_of
from dataflow_formats.cagent.reading import read_workflow
from dataflow_formats.cagent.remarking import check_instructions, remark_on
from dataflow_formats.cagent.retries import policy_of
from dataflow_formats.cagent.talking import AGENT, conversation
from dataflow_formats.cagent.words import StepContext

if TYPE_CHECKING:
    from dataflow.authoring import FormatOptions, JsonDict, Notes

__all__ = ["FORMAT"]

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
