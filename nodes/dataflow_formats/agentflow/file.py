"""The file of an AgentFlow workflow: its parts, their settings and conditions, and reading them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from dataflow import Config
from dataflow.authoring import PartReader, qualified_model, unique_ids

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from dataflow.authoring import DocumentPath, JsonDict, Notes


__all__ = [
    "AGENT",
    "APPROVAL",
    "IF",
    "KINDS",
    "OPERATORS",
    "OUTPUT",
    "START",
    "SUBAGENT",
    "SYSTEM",
    "Condition",
    "EdgePart",
    "NodePart",
    "Workflow",
    "checks",
    "read_settings",
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
#: What an agent is told that has no system prompt of its own.
SYSTEM: Final = "You are a helpful assistant."
MODEL: Final = "gpt-5"
EFFORT: Final = "low"
EFFORTS: Final = ("none", "minimal", "low", "medium", "high")
QUESTION: Final = "Approve?"
#: What types of nodes have been called.
LEGACY: Final = {"input": APPROVAL}
#: What of a node is kept for those who look at it.
SHOWN: Final = ("x", "y")
#: The old name of the first branch.
TRUE: Final = "true"
FIRST: Final = "condition-0"


@dataclass(frozen=True, slots=True)
class NodePart:
    """A node, with what it is made of by name, read already; `exits` are the ports that lead on."""

    id: str
    kind: str
    path: DocumentPath
    settings: Mapping[str, Any] = field(default_factory=dict)
    exits: tuple[str, ...] = (OUTPUT,)
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def branches(self) -> bool:
        """Whether one of its exits is taken, not all."""
        return self.kind in (IF, APPROVAL)


@dataclass(frozen=True, slots=True)
class EdgePart:
    """An edge; `handle` is where it leaves, as the file has it, and `port` what that means."""

    source: str
    target: str
    path: DocumentPath
    handle: str = ""
    target_handle: str = ""
    port: str = OUTPUT


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow. `edges` advance the execution, `below` make agents tools, `dead` are never followed."""

    nodes: Mapping[str, NodePart]
    edges: tuple[EdgePart, ...]
    below: tuple[EdgePart, ...]
    dead: tuple[EdgePart, ...]

    @property
    def start(self) -> NodePart:
        """The node where it begins."""
        return next(node for node in self.nodes.values() if node.kind == START)


class Condition(Config):
    """A condition; one whose value is blank never holds."""

    operator: Operator = "equal"
    value: str = ""

    def holds(self, text: str) -> bool:
        """Compare in lower case, with the value trimmed."""
        wanted, found = self.value.strip().lower(), text.lower()
        if not wanted:
            return False
        return wanted in found if self.operator == "contains" else wanted == found


def checks(conditions: Sequence[Condition], text: str) -> list[bool]:
    """Tell of each condition whether it holds, up to the first that does."""
    found: list[bool] = []
    for condition in conditions:
        found.append(condition.holds(text))
        if found[-1]:
            break
    return found


def text_of(value: Any) -> str:
    """Write a value as a text: a text is itself, nothing is empty, all else is JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_settings(kind: str, data: PartReader) -> JsonDict:
    """Read what a node of a type is made of."""
    if kind == START:
        return {"initial_input": data.part.get("initialInput") or ""}  # also for false and 0
    if kind == AGENT:
        return _agent(data)
    if kind == IF:
        return {"conditions": _conditions(data)}
    return {"prompt": data.text("prompt") or QUESTION} if kind == APPROVAL else {}


def _agent(data: PartReader) -> JsonDict:
    tools = data.mapping("tools", "a mapping with `web_search` and `subagents`")
    written = data.text("model").strip() or MODEL
    model = qualified_model(written)
    if model is None:
        data.expected("a model as provider/name", written, "model")
    return {
        "name": data.text("agentName").strip() or "Agent",
        "system": data.text("systemPrompt") or SYSTEM,
        "user_prompt": data.text("userPrompt"),
        "model": model or "",
        "reasoning_effort": data.word("reasoningEffort", EFFORTS, EFFORT),
        "web_search": _flag(tools, "web_search"),
        "subagents": _flag(tools, "subagents"),
    }


def _flag(tools: PartReader, key: str) -> bool:
    given = tools.part.get(key)
    if not isinstance(given, bool | None):
        tools.expected("true or false", given, key)
    return given is True


def _conditions(data: PartReader) -> list[JsonDict]:
    """Read the conditions; an older file has one text in their place, which is to be contained."""
    given = data.entries("conditions", what="a mapping with `operator` and `value`")
    if not data.part.get("conditions"):
        old = data.text("condition")
        return [{"operator": "contains", "value": old}] if old else []
    return [
        {"operator": one.word("operator", OPERATORS, OPERATORS[0]), "value": one.text("value")}
        for one in given
    ]


def read_workflow(data: JsonDict, notes: Notes) -> Workflow:
    """Read the nodes and edges of a file."""
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
    id, kind = part.text("id"), part.word("type", KINDS, renamed=LEGACY)
    settings = read_settings(kind, part.mapping("data"))
    shown = {name: part.part[name] for name in SHOWN if part.part.get(name) is not None}
    return NodePart(id, kind, part.path, settings, _exits(kind, settings), shown)


def _check_starts(nodes: list[NodePart], notes: Notes) -> None:
    """Note what is no single start."""
    starts = [node for node in nodes if node.kind == START]
    if not starts:
        notes.problem(("nodes",), "there is no start; expected exactly one node of type start")
    for node in starts[1:]:
        told = f"node {node.id!r} is a second start beside {starts[0].id!r}; expected exactly one"
        notes.problem(node.path, told)


def _edge(part: PartReader, nodes: Collection[str]) -> EdgePart:
    source, target = part.endpoint(("source",), "from", nodes), part.endpoint(("target",), "to", nodes)
    return EdgePart(source, target, part.path, part.text("sourceHandle"), part.text("targetHandle"))


def _exits(kind: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    if kind == IF:
        return (*(f"condition-{number}" for number in range(len(settings["conditions"]))), "false")
    return ("approve", "reject") if kind == APPROVAL else (OUTPUT,)


def _port(edge: EdgePart, nodes: Mapping[str, NodePart]) -> str:
    """Return the port that an edge leaves from, an empty text for a handle that is none."""
    node = nodes.get(edge.source)
    if node is None or not node.branches:
        return OUTPUT
    handle = FIRST if edge.handle == TRUE and node.kind == IF else edge.handle
    return handle if handle in node.exits else ""
