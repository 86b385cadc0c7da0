"""The trace of a run: the events that Clickweave writes, also as JSON lines."""

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

#: The most bytes of an answer of a tool in the trace.
MOST_BYTES: Final = 8192
_TURNS: Final = re.compile(r"\[[^\]]*\]|~\d+")
_REASONS: Final = {"condition": "condition_met", "max_iterations": "max_iterations"}


def _images_in(event: Event) -> Sequence[Image]:
    """Return the images in the result of a tool."""
    values = {name: port["value"] for name, port in event.data["ports"].items() if "value" in port}
    content = values["result"].message.content if "result" in values else values["images"]
    return [] if isinstance(content, str) else [part for part in content if isinstance(part, Image)]


def _arguments_in(written: str) -> Any:
    """Return the arguments of a model, as a string if they are not JSON."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def _result(name: str, text: str, images: int) -> dict[str, Any]:
    cut = text.encode()[:MOST_BYTES].decode(errors="ignore")
    return {"name": name, "text": cut, "text_len": len(text.encode()), "image_count": images}


def _acting(event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of an acting node."""
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
            error = {} if failure is None else {"error": str(failure.message)}
            yield "node_failed", {"state": str(event.data["state"]), **error}
        case _:
            return


def _steering(node: Known, event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of a node of control flow."""
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
    """Reports each event of the trace; events of a node have its name."""

    def __init__(self, document: JsonDict) -> None:
        self._trace = Trace.of(document)

    def see(self, event: Event) -> Iterable[str]:
        """Yield the lines for an event."""
        for traced in self._trace.see(event):
            about = {} if traced.node is None else {"node": traced.node.name}
            yield line_of({**about, **traced.written})

    def end(self, outputs: Mapping[str, Any]) -> Iterable[str]:  # noqa: ARG002 - all is reported before
        """Return no lines: all are reported with the events."""
        return ()


def line_of(event: Mapping[str, Any]) -> str:
    """Return an event as JSON without secrets; values that JSON cannot represent are strings."""
    return redacted(json.dumps(event, ensure_ascii=False, default=str))


@dataclass(frozen=True, slots=True)
class Known:
    """A node of the file."""

    id: str
    name: str
    kind: Mapping[str, Any]
    trace_level: str


@dataclass(frozen=True, slots=True)
class Traced:
    """An event of a node, or of the execution if `node` is None.

    timestamp: in milliseconds since the epoch
    images: the images in the result of a tool
    """

    node: Known | None
    timestamp: int
    type: str
    payload: Mapping[str, Any]
    images: Sequence[Image] = ()

    @property
    def written(self) -> dict[str, Any]:
        """The event in the form of Clickweave."""
        return {"timestamp": self.timestamp, "event_type": self.type, "payload": self.payload}


@dataclass(slots=True)
class Trace:
    """Translates the events of a run to those of Clickweave.

    nodes: the nodes of the file by their ids
    models: the models of the run by their purpose
    calls: the number of tool calls of each node
    asked: the tools of pending calls of models, by the ids of the calls
    """

    nodes: dict[str, Known]
    models: Mapping[str, str] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    asked: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, document: JsonDict) -> Trace:
        """Begin the trace of a document; nodes that are not in the file are omitted."""
        nodes: dict[str, Known] = {}
        blocks = [document]
        for block in blocks:  # grows during the iteration
            for id, node in block.get("nodes", {}).items():
                blocks += [node[kind] for kind in ("loop", "map") if kind in node]
                meta = node.get("meta", {})
                if "node_type" in meta:
                    nodes[id] = Known(id, meta["name"], meta["node_type"], meta.get("trace_level", ""))
        return cls(nodes, document.get("meta", {}).get("models", {}))

    def see(self, event: Event) -> Iterator[Traced]:
        """Yield the events of Clickweave for an event."""
        when = round(event.time.timestamp() * 1000)
        if event.kind is EventKind.RUN_STARTED and self.models:
            yield Traced(None, when, "models", self.models)
        if event.kind is EventKind.RUN_FINISHED and event.data["status"] == "completed":
            yield Traced(None, when, "workflow_completed", {})
        steps = [unquote(_TURNS.sub("", step)) for step in event.path.split("/")]
        place = next((place for place in range(len(steps), 0, -1) if steps[place - 1] in self.nodes), 0)
        if place:
            node = self.nodes[steps[place - 1]]
            for is_own, kind, payload in self._events_of(node, steps[place:], event):
                about = {} if is_own else {"node_id": node.id, "node_name": node.name}
                images = _images_in(event) if kind == "tool_result" else ()
                yield Traced(node if is_own else None, when, kind, {**about, **payload}, images)

    def _events_of(
        self, node: Known, within: Sequence[str], event: Event
    ) -> Iterator[tuple[bool, str, dict[str, Any]]]:
        """Yield whether each event is of the node itself, its type and its payload."""
        if node.kind["type"] in CONTROL:
            yield from ((False, kind, payload) for kind, payload in _steering(node, event))
        elif within:
            yield from ((True, kind, payload) for kind, payload in self._within(node, event))
        else:
            yield from ((True, kind, payload) for kind, payload in _acting(event))

    def _within(self, node: Known, event: Event) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the events inside of a node: calls of tools, and resolved apps, elements and targets."""
        if event.kind is not EventKind.NODE_FINISHED or event.data["state"] != "done":
            return
        values = {name: port["value"] for name, port in event.data["ports"].items() if "value" in port}
        metadata = event.data["metadata"]
        if "tool" in metadata:
            name = metadata["tool"]
            yield "tool_call", {"name": name, "args": metadata["arguments"], "index": self._next(node)}
            yield "tool_result", _result(name, values["text"], len(values["images"]))
        for port, value in values.items():
            match value:
                case App() if port == "out":  # a known app has another port
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
        """Yield the calls of tools that a model asks for."""
        for call in calls:
            if isinstance(call, ToolCall):
                self.asked[call.id] = call.name
                args = _arguments_in(call.arguments)
                yield "tool_call", {"name": call.name, "args": args, "index": self._next(node)}

    def _answered(self, message: Message, *, is_described: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the result of a tool once, or the description of its images by a model."""
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
