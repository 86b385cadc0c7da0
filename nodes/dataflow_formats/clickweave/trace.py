"""The trace of a run in the events that Clickweave writes, also as JSON lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from dataflow import EventKind, Image, Message, ToolCall
from dataflow.authoring import redacted
from dataflow_formats.clickweave.file import CONTROL, exit_of
from dataflow_formats.clickweave.nodes.action import App, Element, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dataflow import Event
    from dataflow.authoring import JsonDict


__all__ = ["ClickweaveWords", "Known", "Trace", "Traced", "line_of"]

#: How much of an answer of a tool is told.
MOST_BYTES: Final = 8192
_TURNS: Final = re.compile(r"\[[^\]]*\]|~\d+")
_REASONS: Final = {"condition": "condition_met", "max_iterations": "max_iterations"}


@dataclass(frozen=True, slots=True)
class Known:
    """A node of the file: its id, its name, and what it is."""

    id: str
    name: str
    kind: Mapping[str, Any]
    trace_level: str


@dataclass(frozen=True, slots=True)
class Traced:
    """An event: the node that it is of, None for the execution; when, in milliseconds; what it tells.

    `images` are those that a tool has given.
    """

    node: Known | None
    timestamp: int
    type: str
    payload: Mapping[str, Any]
    images: Sequence[Image] = ()

    @property
    def written(self) -> dict[str, Any]:
        """The event as it is written down."""
        return {"timestamp": self.timestamp, "event_type": self.type, "payload": self.payload}


@dataclass(slots=True)
class Trace:
    """Turns what a run reports into the events of Clickweave.

    nodes: the nodes of the file by their ids
    models: those that the run is given, by what they are for
    calls: how many tools each node has called
    asked: the tools that models have asked for and that have not answered, by the ids of their calls
    """

    nodes: dict[str, Known]
    models: Mapping[str, str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    asked: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, document: JsonDict) -> Trace:
        """Begin the trace of a flow; nodes that are not of the file are left out."""
        nodes: dict[str, Known] = {}
        blocks = [document]
        for block in blocks:  # grows while it is walked
            for id, node in block.get("nodes", {}).items():
                blocks += [node[kind] for kind in ("loop", "map") if kind in node]
                meta = node.get("meta", {})
                if "node_type" in meta:
                    nodes[id] = Known(id, meta["name"], meta["node_type"], meta.get("trace_level", ""))
        return cls(nodes, document.get("meta", {}).get("models", {}))

    def see(self, event: Event) -> Iterator[Traced]:
        """Tell what an event comes to."""
        when = round(event.time.timestamp() * 1000)
        if event.kind is EventKind.RUN_STARTED and self.models:
            yield Traced(None, when, "models", self.models)
        if event.kind is EventKind.RUN_FINISHED and event.data["status"] == "completed":
            yield Traced(None, when, "workflow_completed", {})
        steps = [unquote(_TURNS.sub("", step)) for step in event.path.split("/")]
        place = next((place for place in range(len(steps), 0, -1) if steps[place - 1] in self.nodes), 0)
        if place:
            node = self.nodes[steps[place - 1]]
            for is_own, kind, payload in self._told(node, steps[place:], event):
                about = {} if is_own else {"node_id": node.id, "node_name": node.name}
                images = _images_in(event) if kind == "tool_result" else ()
                yield Traced(node if is_own else None, when, kind, {**about, **payload}, images)

    def _told(
        self, node: Known, within: Sequence[str], event: Event
    ) -> Iterator[tuple[bool, str, dict[str, Any]]]:
        """Tell what an event of a node comes to, and whether it stands with the node."""
        if node.kind["type"] in CONTROL:
            yield from ((False, kind, payload) for kind, payload in _steering(node, event))
        elif within:
            yield from ((True, kind, payload) for kind, payload in self._within(node, event))
        else:
            yield from ((True, kind, payload) for kind, payload in _acting(event))

    def _within(self, node: Known, event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
        """Tell what has happened inside of a node: the tools it has called, and what it has looked up."""
        if event.kind is not EventKind.NODE_FINISHED or event.data["state"] != "done":
            return
        values = {name: told["value"] for name, told in event.data["ports"].items() if "value" in told}
        metadata = event.data["metadata"]
        if "tool" in metadata:
            name = metadata["tool"]
            yield "tool_call", {"name": name, "args": metadata["arguments"], "index": self._next(node)}
            yield "tool_result", _result(name, values["text"], len(values["images"]))
        for port, value in values.items():
            match value:
                case App() if port == "out":  # one that was known before stands elsewhere
                    yield "app_resolved", asdict(value)
                case Element():
                    yield "element_resolved", asdict(value)
                case Target():
                    yield "target_resolved", asdict(value)
                case [*calls]:
                    yield from self._asked(node, calls)
                case _ if isinstance(message := getattr(value, "message", None), Message):
                    yield from self._answered(message, is_described="model" in metadata)
                case _:
                    continue

    def _asked(self, node: Known, calls: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Tell the tools that a model asks for."""
        for call in calls:
            if isinstance(call, ToolCall):
                self.asked[call.id] = call.name
                args = _arguments_in(call.arguments)
                yield "tool_call", {"name": call.name, "args": args, "index": self._next(node)}

    def _answered(self, message: Message, *, is_described: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        """Tell what a tool has answered, once, and what a model has seen in it."""
        if message.tool_call_id in self.asked:
            parts = (message.content,) if isinstance(message.content, str) else message.content
            texts = [part for part in parts if isinstance(part, str)]
            name = self.asked.pop(message.tool_call_id)
            yield "tool_result", _result(name, "\n".join(texts), len(parts) - len(texts))
        elif is_described:
            yield "vision_summary", {"text": str(message.content)}

    def _next(self, node: Known) -> int:
        self.calls[node.id] += 1
        return self.calls[node.id] - 1


def _images_in(event: Event) -> Sequence[Image]:
    """Return the images that a call of a tool has given."""
    values = {name: told["value"] for name, told in event.data["ports"].items() if "value" in told}
    content = values["result"].message.content if "result" in values else values["images"]
    return [] if isinstance(content, str) else [part for part in content if isinstance(part, Image)]


def _arguments_in(written: str) -> Any:
    """Read the arguments that a model has written; what is no JSON stands as it is."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _result(name: str, text: str, images: int) -> dict[str, Any]:
    cut = text.encode()[:MOST_BYTES].decode(errors="ignore")
    return {"name": name, "text": cut, "text_len": len(text.encode()), "image_count": images}


def _acting(event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tell what has become of a node that does something."""
    match event.kind:
        case EventKind.NODE_STARTED if event.data["attempt"] == 1:
            yield "node_started", {}
        case EventKind.ATTEMPT_FAILED:
            yield "retry", {"attempt": event.data["attempt"], "error": str(event.data["error"].message)}
        case EventKind.NODE_FINISHED if event.data["state"] == "done":
            for variable, value in event.data["ports"]["variables"]["value"].items():
                yield "variable_set", {"variable": variable, "value": value}
            yield "node_completed", {}
        case EventKind.NODE_FINISHED if event.data["state"] in ("failed", "timed_out", "cancelled"):
            failure = event.data.get("failure")
            told = {} if failure is None else {"error": str(failure.message)}
            yield "node_failed", {"state": str(event.data["state"]), **told}
        case _:
            return


def _steering(node: Known, event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tell where a node has led that steers the walk."""
    match event.kind:
        case EventKind.LOOP_ROUND:
            yield "loop_iteration", {"iteration": event.data["round"]}
        case EventKind.LOOP_EXITED if event.data["reason"] in _REASONS:
            reason = _REASONS[event.data["reason"]]
            yield "loop_exited", {"reason": reason, "iterations_completed": event.data["iterations"]}
        case EventKind.NODE_FINISHED if event.data["state"] == "done" and "taken" in event.data["metadata"]:
            yield "branch_evaluated", _taken(node, event.data["metadata"])
        case _:
            return


def _taken(node: Known, metadata: Mapping[str, Any]) -> dict[str, Any]:
    taken = metadata["taken"]
    if "left" not in metadata:
        return {"output_taken": exit_of(taken)}
    return {
        "condition": node.kind["condition"],
        "resolved_left": metadata["left"],
        "resolved_right": metadata["right"],
        "result": metadata["result"],
        "output_taken": taken,
    }


class ClickweaveWords:
    """Tells each event of the trace; events of a node have its name."""

    def __init__(self, document: JsonDict) -> None:
        self._trace = Trace.of(document)

    def see(self, event: Event) -> Iterable[str]:
        """Return the lines that an event comes to."""
        for traced in self._trace.see(event):
            about = {} if traced.node is None else {"node": traced.node.name}
            yield line_of({**about, **traced.written})

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:  # noqa: ARG002 - all has been told
        """Return the lines that stand at the end: none."""
        return ()


def line_of(told: Mapping[str, Any]) -> str:
    """Write one event without secrets; what JSON has no form for stands there as text."""
    return redacted(json.dumps(told, ensure_ascii=False, default=str))
