"""The parts of an AgentFlow file, and reading them: nodes with their settings, edges, conditions."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from dataflow import Config
from dataflow.authoring import PartReader, foreign, qualified_model, unique_ids
from dataflow_formats.agentflow.diagnostics import SECOND_START

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from dataflow.authoring import DocumentPath, JsonDict, Notes

__all__ = [
    "AGENT",
    "APPROVAL",
    "OUTPUT",
    "START",
    "SUBAGENT",
    "Condition",
    "EdgePart",
    "NodePart",
    "Workflow",
    "checks",
    "read_workflow",
    "text_of",
]

START: Final = "start"
AGENT: Final = "agent"
IF: Final = "if"
APPROVAL: Final = "approval"
KINDS: Final = (START, AGENT, IF, APPROVAL)
#: The port of nodes that do not branch.
OUTPUT: Final = "output"
#: The handle of edges that make an agent a tool of another.
SUBAGENT: Final = "subagent"
Operator: TypeAlias = Literal["equal", "contains"]
OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
#: The system prompt of an agent that has none.
SYSTEM: Final = "You are a helpful assistant."
MODEL: Final = "gpt-5"
EFFORT: Final = "low"
EFFORTS: Final = ("none", "minimal", "low", "medium", "high")
QUESTION: Final = "Approve?"
#: The present node types by their former names.
LEGACY: Final = {"input": APPROVAL}
#: The keys of a node that are kept for drawing it.
SHOWN: Final = ("x", "y")
#: The former handle of the first branch, and the present one.
TRUE: Final = "true"
FIRST: Final = "condition-0"


class Condition(Config):
    """A condition on the previous output; a condition with a blank value never holds."""

    operator: Operator = "equal"
    value: str = ""

    def holds(self, text: str) -> bool:
        """Return whether a text satisfies the condition, ignoring case and blanks around the value."""
        wanted, found = self.value.strip().lower(), text.lower()
        if not wanted:
            return False
        return wanted in found if self.operator == "contains" else wanted == found


@dataclass(frozen=True, slots=True)
class NodePart:
    """A node with its settings; `exits` are its output ports."""

    id: str
    kind: str
    path: DocumentPath
    settings: Mapping[str, Any] = field(default_factory=dict)
    exits: tuple[str, ...] = (OUTPUT,)
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def branches(self) -> bool:
        """Whether a firing takes one of the exits instead of all."""
        return self.kind in (IF, APPROVAL)


@dataclass(frozen=True, slots=True)
class EdgePart:
    """An edge; `handle` is its output as the file spells it, and `port` the output port that this means."""

    source: str
    target: str
    path: DocumentPath
    handle: str = ""
    target_handle: str = ""
    port: str = OUTPUT


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow: `edges` are followed, `below` make agents tools of others, `dead` are never followed."""

    nodes: Mapping[str, NodePart]
    edges: tuple[EdgePart, ...]
    below: tuple[EdgePart, ...]
    dead: tuple[EdgePart, ...]

    @property
    def start(self) -> NodePart:
        """The start node."""
        return next(node for node in self.nodes.values() if node.kind == START)


def read_workflow(data: JsonDict, notes: Notes) -> Workflow:
    """Read a file; the result is valid only if no problem is noted."""
    file = PartReader(notes, data)
    parts = file.entries("nodes", "node", needed=True)
    unique_ids(parts)
    read = [_node(part) for part in parts]
    _check_starts(read, notes)
    nodes = {node.id: node for node in read}
    edges = [_edge(part, nodes.keys() - {""}) for part in file.entries("connections", needed=True)]
    below = tuple(edge for edge in edges if edge.handle == SUBAGENT)
    leading = [replace(edge, port=_port(edge, nodes)) for edge in edges if edge.handle != SUBAGENT]
    dead = tuple(edge for edge in leading if not edge.port)
    return Workflow(nodes, tuple(edge for edge in leading if edge.port), below, dead)


def _node(part: PartReader) -> NodePart:
    part.missing("id")
    id, kind = part.string("id"), part.choice("type", KINDS, renamed=LEGACY)
    settings = _settings(kind, part.mapping("data"))
    shown = {name: part.part[name] for name in SHOWN if part.part.get(name) is not None}
    return NodePart(id, kind, part.path, settings, _exits(kind, settings), shown)


def _exits(kind: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    if kind == IF:
        return (*(f"condition-{number}" for number in range(len(settings["conditions"]))), "false")
    return ("approve", "reject") if kind == APPROVAL else (OUTPUT,)


def _check_starts(nodes: list[NodePart], notes: Notes) -> None:
    """Note a missing start and each further one."""
    starts = [node for node in nodes if node.kind == START]
    if not starts:
        notes.problem(("nodes",), foreign.FOREIGN_START_MISSING(expected="one node of the type start"))
    for node in starts[1:]:
        notes.problem(node.path, SECOND_START(f"node {node.id!r}", first=starts[0].id))


def _edge(part: PartReader, nodes: Collection[str]) -> EdgePart:
    source, target = part.endpoint(("source",), "from", nodes), part.endpoint(("target",), "to", nodes)
    return EdgePart(source, target, part.path, part.string("sourceHandle"), part.string("targetHandle"))


def _port(edge: EdgePart, nodes: Mapping[str, NodePart]) -> str:
    """Return the output port of an edge, an empty string if its handle is unknown."""
    node = nodes.get(edge.source)
    if node is None or not node.branches:
        return OUTPUT
    handle = FIRST if edge.handle == TRUE and node.kind == IF else edge.handle
    return handle if handle in node.exits else ""


def _settings(kind: str, data: PartReader) -> JsonDict:
    """Read the settings of a node of the given type."""
    if kind == START:
        return {"initial_input": data.part.get("initialInput") or ""}  # also for false and 0
    if kind == AGENT:
        return _agent(data)
    if kind == IF:
        return {"conditions": _conditions(data)}
    return {"prompt": data.string("prompt") or QUESTION} if kind == APPROVAL else {}


def _agent(data: PartReader) -> JsonDict:
    tools = data.mapping("tools", "a mapping with `web_search` and `subagents`")
    written = data.string("model").strip() or MODEL
    model = qualified_model(written)
    if model is None:
        data.problem(foreign.FOREIGN_MODEL_UNKNOWN(found=repr(written)), "model")
    return {
        "name": data.string("agentName").strip() or "Agent",
        "system": data.string("systemPrompt") or SYSTEM,
        "user_prompt": data.string("userPrompt"),
        "model": model or "",
        "reasoning_effort": data.choice("reasoningEffort", EFFORTS, EFFORT),
        "web_search": _flag(tools, "web_search"),
        "subagents": _flag(tools, "subagents"),
    }


def _flag(tools: PartReader, key: str) -> bool:
    given = tools.part.get(key)
    if not isinstance(given, bool | None):
        tools.expected("true or false", given, key)
    return given is True


def _conditions(data: PartReader) -> list[JsonDict]:
    """Read the conditions; an older file has one string instead, which the text has to contain."""
    given = data.entries("conditions", what="a mapping with `operator` and `value`")
    if not data.part.get("conditions"):
        old = data.string("condition")
        return [{"operator": "contains", "value": old}] if old else []
    return [
        {"operator": one.choice("operator", OPERATORS, OPERATORS[0]), "value": one.string("value")}
        for one in given
    ]


def checks(conditions: Sequence[Condition], text: str) -> list[bool]:
    """Return whether each condition holds, up to the first that does."""
    found: list[bool] = []
    for condition in conditions:
        found.append(condition.holds(text))
        if found[-1]:
            break
    return found


def text_of(value: Any) -> str:
    """Return a string unchanged, an empty string for None, and any other value as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
