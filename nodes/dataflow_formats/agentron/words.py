"""A run in the words of Agentron Studio: its events as they come, and at the end the record of the run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from dataflow import EventKind
from dataflow.authoring import node_of_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow import Event
    from dataflow.authoring import JsonDict

__all__ = ["META", "AgentronWords"]

#: Where the meta of a document have what the workflow was.
META: Final = "agentron"
#: The part of a node that begins its turn.
TURN: Final = "/tell"
#: The part that ends it.
NEXT: Final = "next"
#: What the steps of a trail are called, by what steps are called here.
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
#: What a step says of whose turn it is.
SPEAKER: Final = ("node", "agent", "agent_id")
#: What the parts of a call are called.
CALL: Final = {"name": "name", "arguments": "argsSummary", "result": "resultSummary"}
#: The round of a loop, in a path.
ROUND: Final = re.compile(r"\[(\d+)\]")
STATUSES: Final = {"paused": "waiting_for_user"}


class AgentronWords:
    """Tells `RunStarted`, `NodeRequested`, `NodeCompleted`, `UserResponded`, and the record with its trail.

    Of a run that goes on the trail has the steps since then.
    """

    def __init__(self, document: JsonDict) -> None:
        kept = document.get("meta", {}).get(META)
        about: Mapping[str, Any] = kept if isinstance(kept, dict) else {}
        self._target = about.get("id") or document["name"]
        self._branch = about.get("branch")
        self._speakers = _speakers(document)
        self._turns: dict[str, Mapping[str, Any]] = {}  # how the steps of open turns begin, by path
        self._trail: list[dict[str, Any]] = []
        self._record: dict[str, Any] = {}
        self._asked: dict[str, Any] = {}
        self._error = ""

    def see(self, event: Event) -> Iterator[str]:
        """Return the lines that an event comes to."""
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
                pass  # the system has no word for it

    def end(self, outputs: Mapping[str, Any]) -> Iterator[str]:
        """Return the record of the run, in JSON."""
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
            yield _said(step)
        failure = data.get("failure")
        inside = any(path.startswith(f"{turn}/") for turn in self._turns)
        if failure is not None and not inside:  # what fails in a turn may be passed over, or fails the turn
            self._error = self._error or failure.message
            if path in self._turns:
                node = node_of_path(path)
                speaker = self._speakers.get(node, {"node": node})
                self._keep({**speaker, **self._turns[path], "error": failure.message}, path)
        self._turns.pop(path, None)

    def _keep(self, step: Mapping[str, Any], path: str) -> None:
        """Keep a step in the trail."""
        told = {called: step[name] for name, called in STEP.items() if name in step and _is_said(step[name])}
        if rounds := ROUND.findall(path):  # of the loops around it, the inner one last
            told["round"] = int(rounds[-1])
        if calls := step.get("calls"):
            told["toolCalls"] = [{CALL[name]: value for name, value in call.items()} for call in calls]
        self._trail.append(told)


def _speakers(document: JsonDict) -> dict[str, dict[str, Any]]:
    """Return whose turn each node of a flow is, by id."""
    found = {}
    for id, node in document["nodes"].items():
        flow = node.get("flow")
        inner = flow.get("nodes", {}).get(NEXT, {}) if isinstance(flow, dict) else {}
        if config := inner.get("config"):
            found[id] = {name: config[name] for name in SPEAKER if name in config}
    return found


def _said(step: Mapping[str, Any]) -> str:
    if step["is_reply"]:
        return _line("UserResponded", {"content": step["output"]})
    return _line("NodeCompleted", {"nodeId": step["node"], "output": step["output"]})


def _line(word: str, told: Mapping[str, Any]) -> str:
    return f"{word} {json.dumps(told, ensure_ascii=False)}"


def _is_said(value: object) -> bool:
    return value is not None and value is not False and value != ""
