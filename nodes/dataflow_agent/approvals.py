"""Approve calls of tools: by the policy of the tool, or by a human-in-the-loop request (S10.6, S11.1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, assert_never

from pydantic import BaseModel, ConfigDict, Field

from dataflow import NodeOutput, Ports, ToolCall, node, this_firing
from dataflow.authoring import shortened
from dataflow_agent.config import AgentConfig
from dataflow_agent.tool_calls import CallUnfit, read_call
from dataflow_agent.toolkit.functions import is_same_tool
from dataflow_agent.toolkit.policies import Verdict
from dataflow_agent.toolkit.toolboxes import Toolbox
from dataflow_agent.turns import Turn

__all__ = ["About", "Answer", "Decided", "Decision", "Unfit", "agent_name", "approve", "decision_of"]

MOST_SHOWN: Final = 300

Word: TypeAlias = Literal["allow", "allow_for_run", "deny"]


class Decision(BaseModel):
    """A decision on a call; `allow_for_run` also allows all further calls of the tool in the run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Word
    reason: str = Field(default="", description="what the model is told, if the call is denied")


Answer: TypeAlias = Decision | Word


@dataclass(frozen=True, slots=True)
class Decided:
    """The reference of the tool that the decision is about: another tool may get its name later."""

    tool: str


@dataclass(frozen=True, slots=True)
class Unfit:
    """The result of a call that cannot be made, and so needs no decision."""

    text: str


About: TypeAlias = Decided | Unfit

ALLOWED: Final = Decision(decision="allow")
AGAINST_POLICY: Final = Decision(decision="deny", reason="the policy of the tool does not allow it")


@node(
    name="approve",
    ports=Ports({"call": ToolCall, "turn": Turn, "tools": Toolbox}, {"answer": Answer, "about": About}),
)
async def approve(inputs: Mapping[str, Any], config: AgentConfig) -> NodeOutput:
    """Decide on a call by the policy of its tool, or ask; a call that cannot be made is not asked about.

    Raises ServerFailed, and SecretMissing, for a server that is not available.
    """
    call: ToolCall = inputs["call"]
    turn: Turn = inputs["turn"]
    try:
        tool, written, _ = await read_call(call, config.offered(inputs["tools"]), config.allowed_tools)
    except CallUnfit as unfit:
        text = str(unfit)
        return NodeOutput({"answer": Decision(decision="deny", reason=text), "about": Unfit(text)})
    about = Decided(tool.reference)
    verdict = tool.verdict(written)
    run = this_firing().run_id
    if verdict is Verdict.ASK and any(
        grant.run == run and is_same_tool(grant.tool, tool.reference) for grant in turn.granted
    ):
        verdict = Verdict.ALLOW
    match verdict:
        case Verdict.ALLOW:
            return NodeOutput({"answer": ALLOWED, "about": about})
        case Verdict.DENY:
            return NodeOutput({"answer": AGAINST_POLICY, "about": about})
        case Verdict.ASK:
            asked = _asked(call, written, config)
            return NodeOutput({"about": about}, status="paused", metadata={"ask": asked})
        case _:
            assert_never(verdict)


def decision_of(answer: Answer) -> Decision:
    """Return an answer as a decision."""
    return answer if isinstance(answer, Decision) else Decision(decision=answer)


def agent_name(config: AgentConfig) -> str:
    """Return the name of an agent, or the path of its node if it has none."""
    return config.name or this_firing().path.rpartition("/turn[")[0] or "an agent"


def _asked(call: ToolCall, arguments: object, config: AgentConfig) -> dict[str, Any]:
    name = agent_name(config)
    written = json.dumps(arguments, ensure_ascii=False)
    shown = shortened(written, MOST_SHOWN)
    asked: dict[str, Any] = {
        "prompt": (
            f"{name} wants to call {call.name} with {shown}. Allow it, deny it, or allow {call.name} with "
            "any arguments for the rest of the run?"
        ),
        "show": {"agent": name, "tool": call.name, "arguments": arguments},
        "expires": config.approval_expires,
    }
    if config.approval_expires is not None:
        asked["default"] = Decision(
            decision="deny", reason=f"nobody has decided within {config.approval_expires:g} s"
        )
    return asked
