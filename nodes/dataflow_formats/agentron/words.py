"""Report a run as Agentron Studio does: events as they happen, and the record of the run at the end."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from dataflow import EventKind
from dataflow.authoring import get_mapping, node_of_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow import Event
    from dataflow.authoring import JsonDict

__all__ = ["META", "AgentronWords"]

#: The key in the meta of a document.
META: Final = "agentron"
#: The node in a subflow that begins a turn.
TURN: Final = "/tell"
#: The node that ends it.
NEXT: Final = "next"
#: The keys of the steps of a trail, by their names in the metadata.
STEP: Final = {
    "node": "nodeId",
    "agent_id": "agentId",
    "agent": "agentName",
    "order": "order",
    "input": "input",
    "output": "output",
    "error": "error",
    "follows_reply": "inputIsUserReply",
    "to": "sentToNodeId",
    "to_agent": "sentToAgentName",
}
#: The keys of a step that identify node and agent.
SPEAKER: Final = ("node", "agent", "agent_id")
#: The keys of a call of a tool, by their names in the metadata.
CALL: Final = {"name": "name", "arguments": "argsSummary", "result": "resultSummary"}
#: The iteration of a loop, in a path.
ROUND: Final = re.compile(r"\[(\d+)\]")
STATUSES: Final = {"paused": "waiting_for_user"}


class AgentronWords:
    """Reports `RunStarted`, `NodeRequested`, `NodeCompleted`, `UserResponded`, and the record with its trail.

    Of a resumed run the trail has the steps since then.
    """

    def __init__(self, document: JsonDict) -> None:
        about = get_mapping(get_mapping(document, "meta"), META)
        self._target = about.get("id") or document["name"]
        self._branch = about.get("branch")
        self._speakers = _speakers(document)
        self._turns: dict[str, Mapping[str, Any]] = {}  # by path of an open turn, the beginning of its step
        self._trail: list[dict[str, Any]] = []
        self._record: dict[str, Any] = {}
        self._asked: dict[str, Any] = {}
        self._error = ""

    def see(self, event: Event) -> Iterator[str]:
        """Yield the lines for an event."""
        data = event.data
        match event.kind:
            case EventKind.RUN_STARTED | EventKind.RUN_RESUMED:
                self._begin(event)
                yield _line("RunStarted", {"workflowId": self._target})
            case EventKind.NODE_STARTED if event.path.endswith(TURN):
                turn = event.path.removesuffix(TURN)
                self._turns[turn] = {}
                yield _line("NodeRequested", {"nodeId": node_of_path(turn)})
            case EventKind.NODE_FINISHED:
                yield from self._finished(event.path, data)
            case EventKind.ASK_OPENED:
                shown = data["show"] if isinstance(data["show"], dict) else {}
                self._asked = self._asked or {"question": data["prompt"], **shown}
            case EventKind.RUN_PAUSED | EventKind.RUN_FINISHED:
                status = str(data.get("status", "paused"))
                self._record["status"] = STATUSES.get(status, status)
                if event.kind is EventKind.RUN_FINISHED:
                    self._record["finishedAt"] = event.time.isoformat()
            case _:
                pass  # the original does not report it

    def end(self, outputs: Mapping[str, Any]) -> Iterator[str]:
        """Yield the record of the run, in JSON."""
        match self._record.get("status"):
            case "completed":
                output = {"success": True, "output": outputs.get("output"), "trail": self._trail}
            case "waiting_for_user":
                output = {**self._asked, "trail": self._trail}
            case _:
                output = {"success": False, "error": self._error, "trail": self._trail}
        yield json.dumps({**self._record, "output": output}, ensure_ascii=False, default=str)

    def _begin(self, event: Event) -> None:
        self._record = {"id": event.run, "targetType": "workflow", "targetId": self._target}
        if self._branch is not None:
            self._record["targetBranchId"] = self._branch
        self._record |= {"status": "running", "startedAt": event.time.isoformat()}

    def _finished(self, path: str, data: Mapping[str, Any]) -> Iterator[str]:
        around = path.rpartition("/")[0]
        if begun := data["metadata"].get("turn"):
            self._turns[around] = begun
        if step := data["metadata"].get("step"):
            self._keep(step, path)
            yield _turn_line(step)
        failure = data.get("failure")
        inside = any(path.startswith(f"{turn}/") for turn in self._turns)
        if failure is not None and not inside:  # a failure in a turn may be handled there, or fails the turn
            self._error = self._error or failure.message
            if path in self._turns:
                node = node_of_path(path)
                speaker = self._speakers.get(node, {"node": node})
                self._keep({**speaker, **self._turns[path], "error": failure.message}, path)
        self._turns.pop(path, None)

    def _keep(self, step: Mapping[str, Any], path: str) -> None:
        """Keep a step in the trail."""
        fields = {
            called: step[name] for name, called in STEP.items() if name in step and _is_given(step[name])
        }
        if rounds := ROUND.findall(path):  # the innermost loop is the last
            fields["round"] = int(rounds[-1])
        if calls := step.get("calls"):
            fields["toolCalls"] = [{CALL[name]: value for name, value in call.items()} for call in calls]
        self._trail.append(fields)


def _speakers(document: JsonDict) -> dict[str, dict[str, Any]]:
    """Return the node and agent of each turn, by the id of the node."""
    found = {}
    for id, node in document["nodes"].items():
        flow = node.get("flow")
        inner = flow.get("nodes", {}).get(NEXT, {}) if isinstance(flow, dict) else {}
        if config := inner.get("config"):
            found[id] = {name: config[name] for name in SPEAKER if name in config}
    return found


def _turn_line(step: Mapping[str, Any]) -> str:
    if step["is_reply"]:
        return _line("UserResponded", {"content": step["output"]})
    return _line("NodeCompleted", {"nodeId": step["node"], "output": step["output"]})


def _line(word: str, fields: Mapping[str, Any]) -> str:
    return f"{word} {json.dumps(fields, ensure_ascii=False)}"


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value != ""
