"""A run in the words of AgentFlow: its log entries as they come, and at the end the record of the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataflow import EventKind
from dataflow.authoring import node_of_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow import Event
    from dataflow.authoring import JsonDict

__all__ = ["META", "AgentFlowWords"]

#: Where the meta of a document have what is no part of the flow.
META: Final = "agentflow"
#: The parts of a node by which it asks, and by which it calls its model.
ASK: Final = "/ask"
CALLS: Final = "/agent/"
SYSTEM: Final = "system"
SAID: Final = {"approve": "Approved", "reject": "Rejected"}
#: How the parts of a subagent's call are called, by what they are called here.
CALL: Final = {"call_id": "callId", "depth": "depth", "message": "message"}


class AgentFlowWords:
    """Tells the log entries of a run, each as JSON, and the record of the run, which has its state.

    Of a run that goes on they are those since then.
    """

    def __init__(self, document: JsonDict) -> None:
        kept = document.get("meta", {}).get(META)
        about: Mapping[str, Any] = kept if isinstance(kept, dict) else {}
        self._subagents: Mapping[str, Any] = about.get("subagents") or {}
        self._shown: dict[str, Any] = {}  # by the node that asks
        self._waiting: list[str] = []
        self._decisions: dict[str, Any] = {}
        self._previous: Any = None
        self._failed: set[str] = set()
        self._run = self._status = ""

    def see(self, event: Event) -> Iterator[str]:
        """Return the lines that an event comes to."""
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
                pass  # the system has no word for it

    def end(self, outputs: Mapping[str, Any]) -> Iterator[str]:
        """Return the record of the run, in JSON."""
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
        told: Mapping[str, Any] = event.data["metadata"]
        around = node_of_path(event.path.rpartition("/")[0])
        if "initial_input" in told:
            self._came_to(told, told["initial_input"])
            yield _entry(event, node_of_path(event.path), "step_start", "start")
        if "start_prompt" in told:
            yield _entry(event, around, "step_start", "agent")
            yield _entry(event, around, "start_prompt", told["start_prompt"])
        if "llm_response" in told:
            self._came_to(told, told["llm_response"])
            yield _entry(event, around, "llm_response", told["llm_response"])
        if "checks" in told:
            yield from _checked(event, told["checks"])
        if "decision" in told:
            yield self._decided(event, around, told["decision"])
        if str(told.get("type", "")).startswith("subagent_call_"):
            yield self._called(event, told)
        if (failure := event.data.get("failure")) is not None:
            yield from self._told_failure(event, failure.message)

    def _came_to(self, told: Mapping[str, Any], output: Any) -> None:
        """Keep an output as the previous one, unless something else went on beside it."""
        if not told.get("is_beside"):
            self._previous = output

    def _decided(self, event: Event, node: str, decision: Mapping[str, str]) -> str:
        self._decisions[f"{node}_approval"] = dict(decision)
        note = decision["note"].strip()
        said = SAID[decision["decision"]]
        return _entry(event, node, "input_received", f"{said}: {note}" if note else said)

    def _called(self, event: Event, told: Mapping[str, Any]) -> str:
        """Tell of the call of a subagent: under the agent above all, as JSON in the entry."""
        above = node_of_path(event.path.partition(CALLS)[0])
        known = self._subagents.get(told["subagent"], {})
        content = {"type": told["type"], "parentNodeId": above}
        content["subagentNodeId"] = known.get("id", told["subagent"])
        content["subagentName"] = known.get("name", told["subagent"])
        content |= {CALL[name]: value for name, value in told.items() if name in CALL}
        return _entry(event, above, told["type"], json.dumps(content, ensure_ascii=False))

    def _told_failure(self, event: Event, message: str) -> Iterator[str]:
        """Tell what fails first in a node; the nodes around it fail for the same reason."""
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
        told = f'Condition {number} ({check["operator"]} "{check["value"]}"): {holds}'
        yield _entry(event, node, "logic_check", told)


def _entry(event: Event, node: str, type: str, content: Any) -> str:
    entry = {"timestamp": event.time.isoformat(), "nodeId": node or SYSTEM, "type": type, "content": content}
    return json.dumps(entry, ensure_ascii=False, default=str)
