"""Report a run as AgentFlow does: log entries as they happen, and the record of the run at the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataflow import EventKind
from dataflow.authoring import get_mapping, node_of_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow import Event
    from dataflow.authoring import JsonDict

__all__ = ["META", "AgentFlowWords"]

#: The key in the meta of a document.
META: Final = "agentflow"
#: The nodes in a subflow that ask, and that call the model.
ASK: Final = "/ask"
CALLS: Final = "/agent/"
SYSTEM: Final = "system"
SAID: Final = {"approve": "Approved", "reject": "Rejected"}
#: The keys of a call of a subagent, by their names in the metadata.
CALL: Final = {"call_id": "callId", "depth": "depth", "message": "message"}


class AgentFlowWords:
    """Reports the log entries of a run, each as JSON, and at its end the record with the state of the run.

    Of a resumed run it reports what happens since then.
    """

    def __init__(self, document: JsonDict) -> None:
        about = get_mapping(get_mapping(document, "meta"), META)
        self._subagents: Mapping[str, Any] = about.get("subagents") or {}
        self._shown: dict[str, Any] = {}  # by the node that asks
        self._waiting: list[str] = []
        self._decisions: dict[str, Any] = {}
        self._previous: Any = None
        self._failed: set[str] = set()
        self._run = self._status = ""

    def see(self, event: Event) -> Iterator[str]:
        """Yield the lines for an event."""
        match event.kind:
            case EventKind.RUN_STARTED | EventKind.RUN_RESUMED:
                self._run = event.run
            case EventKind.ASK_OPENED if event.path.endswith(ASK):
                node = node_of_path(event.path.removesuffix(ASK))
                self._shown[node] = event.data["show"]
                yield _entry(event, node, "step_start", "approval")
                yield _entry(event, node, "wait_input", event.data["prompt"])
            case EventKind.NODE_FINISHED:
                yield from self._finished(event)
            case EventKind.RUN_PAUSED:
                self._status = "paused"
                asks = [ask for ask in event.data["asks"] if ask.endswith(ASK)]
                self._waiting = [node_of_path(ask.removesuffix(ASK)) for ask in asks]
            case EventKind.RUN_FINISHED:
                self._status = str(event.data["status"])
            case _:
                pass  # the original does not report it

    def end(self, outputs: Mapping[str, Any]) -> Iterator[str]:
        """Yield the record of the run, in JSON."""
        state = {**outputs, **self._decisions}
        if self._previous is not None:
            state["previous_output"] = self._previous
        if self._waiting:
            known = [node for node in self._waiting if node in self._shown]
            state["__approval_contexts__"] = {node: self._shown[node] for node in known}
            state["__pending_approval_queue__"] = self._waiting[1:]
        record = {
            "runId": self._run,
            "status": self._status,
            "state": state,
            "currentNodeId": self._waiting[0] if self._waiting else None,
            "waitingForInput": bool(self._waiting),
        }
        yield json.dumps(record, ensure_ascii=False, default=str)

    def _finished(self, event: Event) -> Iterator[str]:
        metadata: Mapping[str, Any] = event.data["metadata"]
        around = node_of_path(event.path.rpartition("/")[0])
        if "initial_input" in metadata:
            self._keep_output(metadata, metadata["initial_input"])
            yield _entry(event, node_of_path(event.path), "step_start", "start")
        if "start_prompt" in metadata:
            yield _entry(event, around, "step_start", "agent")
            yield _entry(event, around, "start_prompt", metadata["start_prompt"])
        if "llm_response" in metadata:
            self._keep_output(metadata, metadata["llm_response"])
            yield _entry(event, around, "llm_response", metadata["llm_response"])
        if "checks" in metadata:
            yield from _checked(event, metadata["checks"])
        if "decision" in metadata:
            yield self._decided(event, around, metadata["decision"])
        if str(metadata.get("type", "")).startswith("subagent_call_"):
            yield self._called(event, metadata)
        if (failure := event.data.get("failure")) is not None:
            yield from self._failure(event, failure.message)

    def _keep_output(self, metadata: Mapping[str, Any], output: Any) -> None:
        """Keep an output as the previous one, unless the flow has fanned out before it."""
        if not metadata.get("is_beside"):
            self._previous = output

    def _decided(self, event: Event, node: str, decision: Mapping[str, str]) -> str:
        self._decisions[f"{node}_approval"] = dict(decision)
        note = decision["note"].strip()
        said = SAID[decision["decision"]]
        return _entry(event, node, "input_received", f"{said}: {note}" if note else said)

    def _called(self, event: Event, metadata: Mapping[str, Any]) -> str:
        """Return the entry for a call of a subagent, of the outermost agent, with JSON as its content."""
        above = node_of_path(event.path.partition(CALLS)[0])
        known = self._subagents.get(metadata["subagent"], {})
        content = {"type": metadata["type"], "parentNodeId": above}
        content["subagentNodeId"] = known.get("id", metadata["subagent"])
        content["subagentName"] = known.get("name", metadata["subagent"])
        content |= {CALL[name]: value for name, value in metadata.items() if name in CALL}
        return _entry(event, above, metadata["type"], json.dumps(content, ensure_ascii=False))

    def _failure(self, event: Event, message: str) -> Iterator[str]:
        """Yield the entry for the first failure in a node; enclosing nodes fail for the same reason."""
        before, calls, _ = f"{event.path}/".partition(CALLS)
        node = node_of_path(before.removesuffix("/"))
        if node not in self._failed:
            self._failed.add(node)
            yield _entry(event, node, "llm_error" if calls else "error", message)


def _checked(event: Event, checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    node = node_of_path(event.path)
    yield _entry(event, node, "step_start", "if")
    for number, check in enumerate(checks, 1):
        holds = "true" if check["holds"] else "false"
        text = f'Condition {number} ({check["operator"]} "{check["value"]}"): {holds}'
        yield _entry(event, node, "logic_check", text)


def _entry(event: Event, node: str, type: str, content: Any) -> str:
    entry = {"timestamp": event.time.isoformat(), "nodeId": node or SYSTEM, "type": type, "content": content}
    return json.dumps(entry, ensure_ascii=False, default=str)
