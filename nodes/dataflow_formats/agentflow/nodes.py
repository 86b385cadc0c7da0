"""The node types of AgentFlow flows: start, agents, conditions, approvals, and joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from pydantic import Field

from dataflow import Config, ExecutionContext, NodeOutput, Port, Ports, node, this_firing
from dataflow.authoring import gate_type, json_schema
from dataflow_formats.agentflow.diagnostics import EXIT_UNCONNECTED
from dataflow_formats.agentflow.file import Condition, checks, text_of

__all__ = [
    "ask",
    "decide",
    "if_",
    "join",
    "loop",
    "normalised",
    "pass_on",
    "start",
    "tell",
]

PREVIOUS_OUTPUT: Final = "{{PREVIOUS_OUTPUT}}"
APPROVAL_NOTE: Final = "{{APPROVAL_NOTE}}"
#: Any JSON; the string comes first, so that words on the command line are a string.
Answer: TypeAlias = str | dict[str, Any] | list[Any] | float | bool | None
Decision: TypeAlias = Literal["approve", "reject"]
APPROVE: Final = "approve"
REJECT: Final = "reject"


@dataclass(frozen=True, slots=True)
class Passed:
    """The value that a node passes to the next: the previous output, and the note of the last approval.

    `is_beside` is set once the flow has fanned out, so that other nodes run concurrently.
    """

    previous_output: Any = ""
    note: str = ""
    is_beside: bool = False

    @property
    def text(self) -> str:
        """The previous output as a string."""
        return text_of(self.previous_output)


class Passing(Config):
    """Config of a node that passes a value on; `fans_out` are the ports that several connections leave."""

    fans_out: list[str] = Field(default=[])

    def on(self, port: str, passed: Passed) -> Passed:
        """Return the value for an output port."""
        return replace(passed, is_beside=True) if port in self.fans_out else passed


class Start(Passing):
    """Config of `agentflow.start`."""

    initial_input: Any = ""


@node(ports=Ports({"input": Port(Passed | None, default=None)}, {"output": Passed, "value": Any}))
async def start(inputs: Mapping[str, Any], config: Start) -> NodeOutput:
    """Begin with the initial input, also when an iteration of a loop begins here."""
    value = config.initial_input
    passed = replace(inputs["input"] or Passed(), previous_output=value)
    metadata = _metadata(passed, "initial_input", value)
    return NodeOutput({"output": config.on("output", passed), "value": value}, metadata=metadata)


def _metadata(passed: Passed, what: str, given: Any) -> dict[str, Any]:
    """Return metadata with an output, and whether the flow has fanned out before it."""
    return {what: given, "is_beside": True} if passed.is_beside else {what: given}


class Prompt(Config):
    """Config of `agentflow.tell`."""

    user_prompt: str = ""
    system: str = ""


@node(ports=Ports({"input": Passed}, {"prompt": str, "conversation": ExecutionContext}))
async def tell(inputs: Mapping[str, Any], config: Prompt) -> NodeOutput:
    """Write the prompt of an agent, and begin a conversation for it."""
    prompt = filled(config.user_prompt, inputs["input"])
    context = ExecutionContext("", system_instructions=config.system or None)
    return NodeOutput({"prompt": prompt, "conversation": context}, metadata={"start_prompt": prompt})


def filled(prompt: str, passed: Passed) -> str:
    """Fill the placeholders of a prompt, literally and once; a blank prompt is the previous output."""
    if not prompt.strip():
        return passed.text
    parts = (part.replace(APPROVAL_NOTE, passed.note) for part in prompt.split(PREVIOUS_OUTPUT))
    return passed.text.join(parts)


@node(ports=Ports({"input": Passed, "text": str}, {"output": Passed, "text": str}))
async def pass_on(inputs: Mapping[str, Any], config: Passing) -> NodeOutput:
    """Pass the answer of an agent on, without blanks around it."""
    text = inputs["text"].strip()
    passed = replace(inputs["input"], previous_output=text)
    outputs = {"output": config.on("output", passed), "text": text}
    return NodeOutput(outputs, metadata=_metadata(passed, "llm_response", text))


class If(Passing):
    """Config of `agentflow.if`: its conditions, and the exits that no connection leaves."""

    conditions: list[Condition] = Field(default=[])
    ends: list[str] = Field(default=[])


def _branches(config: If) -> Ports:
    names = [*(f"condition-{number}" for number in range(len(config.conditions))), "false"]
    exits = {name: Port(Passed, exit=name) for name in names}
    return Ports({"input": Passed}, exits)


@node(ports=_branches)
async def if_(inputs: Mapping[str, Any], config: If) -> NodeOutput:
    """Pass the input on to the exit of the first condition that holds, else to `false`.

    If no connection leaves that exit, the path ends with a warning.
    """
    passed: Passed = inputs["input"]
    found = checks(config.conditions, passed.text)
    port = f"condition-{len(found) - 1}" if found and found[-1] else "false"
    results = [
        {**condition.model_dump(), "holds": holds}
        for condition, holds in zip(config.conditions, found, strict=False)
    ]
    if port in config.ends:
        here = this_firing()
        here.warn("unrouted", str(EXIT_UNCONNECTED(f"node {here.path!r}", exit=port)))
    return NodeOutput({port: config.on(port, passed)}, metadata={"checks": results})


class Question(Config):
    """Config of `agentflow.ask`."""

    prompt: str


@node(ports=Ports({"input": Passed}, {"out": Any}))
async def ask(inputs: Mapping[str, Any], config: Question) -> NodeOutput:
    """Ask for approval, showing the previous output; any JSON is an answer (see `normalised`)."""
    shown = inputs["input"].previous_output
    asking = {"prompt": config.prompt, "show": shown, "schema": json_schema(Answer)}
    return NodeOutput(status="paused", metadata={"ask": asking})


_DECISION: Final = Ports(
    {"input": Passed, "answer": Any},
    {
        "approve": Port(Passed, exit="approve"),
        "reject": Port(Passed, exit="reject"),
        "note": str,
    },
)


@node(ports=_DECISION)
async def decide(inputs: Mapping[str, Any], config: Passing) -> NodeOutput:
    """Pass the input on to the exit of the decision in the answer, and its note to another port."""
    passed: Passed = inputs["input"]
    decision, note = normalised(inputs["answer"])
    outputs = {decision: config.on(decision, replace(passed, note=note)), "note": note}
    return NodeOutput(outputs, metadata={"decision": {"decision": decision, "note": note}})


@node(ports=Ports({"arrivals": Port(Passed, many=True)}, {"out": Passed}))
async def join(inputs: Mapping[str, Any]) -> NodeOutput:
    """Join all arrivals: a single one is unchanged, the texts of several are joined by blank lines."""
    arrivals: Sequence[Passed] = inputs["arrivals"]
    if len(arrivals) == 1:
        return NodeOutput({"out": arrivals[0]})
    text = "\n\n".join(passed.text for passed in arrivals)
    note = next((passed.note for passed in reversed(arrivals) if passed.note), "")
    return NodeOutput({"out": Passed(text, note, any(passed.is_beside for passed in arrivals))})


#: The gate of a loop.
loop: Final = gate_type(Passed)


def normalised(answer: Any) -> tuple[Decision, str]:
    """Return decision and note: a string rejects by containing the word, a mapping by its decision."""
    if isinstance(answer, str):
        return (REJECT if REJECT in answer.lower() else APPROVE), ""
    if not isinstance(answer, dict):
        return APPROVE, ""
    decision, note = answer.get("decision"), answer.get("note")
    is_rejected = isinstance(decision, str) and decision.strip().lower() == REJECT
    return (REJECT if is_rejected else APPROVE), note if isinstance(note, str) else ""
