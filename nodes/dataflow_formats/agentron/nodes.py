"""The node types of Agentron flows: a walk from node to node, whose agents take turns."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import ConfigDict, Field, RootModel, StringConstraints

from dataflow import Config, ExecutionContext, NodeOutput, Port, Ports, node, this_firing
from dataflow.authoring import gate_type, json_schema, shortened
from dataflow_formats.agentron.diagnostics import NO_CONDITION_HELD
from dataflow_formats.agentron.file import Condition, first_that_holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataflow import Message, ToolCall

__all__ = [
    "loop",
    "next_node",
    "request_user_help",
    "result",
    "start",
    "tell",
    "wait",
]

#: The most turns in the prompt of an agent.
MOST_TURNS: Final = 12
#: The input of a run that hides the turns of other agents.
NO_SHARING: Final = "noSharedOutput"
#: The output port with the walk, whichever exit is taken.
WALK: Final = "walk"
#: The prompt of an agent for which there is no other text.
NOTHING: Final = "Do your task."
FIRST: Final = "This is the first turn."
_PLACEHOLDER: Final = re.compile(r"\{\{\s*(\$input|(?:(?:input|context)\.)?(\w+))\s*\}\}")
#: The result of a call of the tool. The turn ends with the next answer, which the reply replaces.
ASKED: Final = "The user is asked when this turn has ended. End it now."
MOST_OPTIONS: Final = 50
Options = Annotated[list[str], Field(max_length=MOST_OPTIONS)]
#: The most characters of arguments and of a result in a summary.
MOST_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class Turn:
    """The output of an agent, or the reply of the user."""

    speaker: str
    text: str
    is_reply: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """The inputs of the run, the last turns, and the number of all turns."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    count: int = 0

    @property
    def last(self) -> Turn | None:
        """The previous turn."""
        return self.turns[-1] if self.turns else None

    @property
    def follows_reply(self) -> bool:
        """Whether the previous turn was a reply of the user."""
        return self.last is not None and self.last.is_reply

    @property
    def shared(self) -> tuple[Turn, ...]:
        """The turns that an agent sees."""
        return () if self.inputs.get(NO_SHARING) is True else self.turns

    def parameters(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a node, overridden by the inputs of the run."""
        return {name: value for name, value in {**own, **self.inputs}.items() if name != NO_SHARING}

    def after(self, turn: Turn) -> Walk:
        """Return the walk with one more turn."""
        return replace(self, turns=(*self.turns, turn)[-MOST_TURNS:], count=self.count + 1)


@node
async def start(inputs: dict[str, Any]) -> Walk:
    """Begin a walk with the inputs of the run."""
    return Walk(inputs)


class Tell(Config):
    """Config of `agentron.tell`."""

    turn_instruction: str = ""
    instructions: str = ""
    parameters: dict[str, Any] = Field(default={})


@node(ports=Ports({"walk": Walk}, {"prompt": str}))
async def tell(inputs: Mapping[str, Any], config: Tell) -> NodeOutput:
    """Write the prompt of an agent, in a conversation with its instructions.

    The metadata have the beginning of the step of the turn, for the case that the turn fails.
    """
    walk: Walk = inputs["walk"]
    prompt = _prompt(walk, config.turn_instruction, config.parameters)
    instructions = _filled(config.instructions, walk.parameters(config.parameters), prompt)
    context = ExecutionContext("", system_instructions=instructions or None)
    begun = {"order": walk.count, "input": prompt, "follows_reply": walk.follows_reply}
    return NodeOutput({"prompt": prompt}, context=context, metadata={"turn": begun})


def _prompt(walk: Walk, instruction: str, own: Mapping[str, Any]) -> str:
    """Return the prompt of a node: instruction, recent turns, and the last output or the parameters."""
    turns = walk.shared
    recent = ["Recent turns:", *(f"{turn.speaker}: {turn.text}" for turn in turns)] if turns else []
    before = _last_output(turns[-1]) if turns else _given(walk, own)
    parts = [[instruction] if instruction else [], recent, before]
    return "\n\n".join("\n".join(part) for part in parts if part) or NOTHING


def _last_output(turn: Turn) -> list[str]:
    return ["Reply of the user:" if turn.is_reply else f"Output from {turn.speaker}:", turn.text]


def _given(walk: Walk, own: Mapping[str, Any]) -> list[str]:
    lines = [f"{name}: {_written(value)}" for name, value in walk.parameters(own).items()]
    return [FIRST, *lines] if lines and not walk.count else lines


def _filled(instructions: str, parameters: Mapping[str, Any], prompt: str) -> str:
    """Fill `{{ name }}`, `{{ input.name }}`, `{{ context.name }}`, `{{ $input }}`; unknown names are kept."""

    def fill(match: re.Match[str]) -> str:
        if match[1] == "$input":
            return prompt
        return _written(parameters[match[2]]) if match[2] in parameters else match[0]

    return _PLACEHOLDER.sub(fill, instructions)


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class Exit(Config):
    """An edge: its output port, the node that it leads to, and the agent of that node."""

    port: str
    to: str
    agent: str = ""
    condition: Condition | None = None


class Next(Config):
    """Config of `agentron.next`: the node and agent of the turn, and the edges from there in their order."""

    node: str
    agent: str
    agent_id: str = ""
    exits: list[Exit] = Field(default=[])


def _ports(config: Next) -> Ports:
    exits = {one.port: Port(Walk, exit=one.port) for one in config.exits}
    texts = {"text": Port(str, default=""), "told": Port(str, default="")}
    inputs = {"walk": Walk, **texts, "reply": Port(Reply | None, default=None)}
    return Ports(inputs, {WALK: Walk, **exits})


@node(ports=_ports)
async def next_node(context: ExecutionContext | None, inputs: Mapping[str, Any], config: Next) -> NodeOutput:
    """Follow the first edge whose condition holds for the text, else the first edge of all.

    A reply replaces the text. The metadata have the step, with the calls of tools in the last turn of the
    context. If no condition holds, they have `unrouted`, and the run warns.
    """
    walk: Walk = inputs["walk"]
    reply: Reply | None = inputs["reply"]
    is_reply = reply is not None
    text: str = inputs["text"] if reply is None else reply.root
    after = walk.after(Turn("user" if is_reply else config.agent, text, is_reply))
    number = first_that_holds([one.condition for one in config.exits], text)
    taken = config.exits[number or 0] if config.exits else None
    step = {
        "node": config.node,
        "agent_id": config.agent_id,
        "agent": config.agent,
        "order": walk.count,
        "calls": _summaries(context),
        "input": inputs["told"],
        "output": text,
        "is_reply": is_reply,
        "follows_reply": walk.follows_reply,
        "to": taken.to if taken else None,
        "to_agent": taken.agent if taken else None,
    }
    metadata: dict[str, Any] = {"step": step}
    if taken is not None and number is None:
        metadata["unrouted"] = True
        warning = NO_CONDITION_HELD(f"node {config.node!r}", target=taken.to)
        this_firing().warn("unrouted", str(warning))
    return NodeOutput({WALK: after, **({taken.port: after} if taken else {})}, metadata=metadata)


def _summaries(context: ExecutionContext | None) -> list[dict[str, str]]:
    """Return name, arguments and result of each call in the last turn, shortened."""
    if context is None:
        return []
    return [
        {
            "name": call.name,
            "arguments": shortened(call.arguments, MOST_CHARACTERS),
            "result": shortened(str(result.content), MOST_CHARACTERS),
        }
        for call, result in _calls_in(context)
    ]


def _calls_in(context: ExecutionContext) -> Iterator[tuple[ToolCall, Message]]:
    """Yield the calls of tools in the last turn, each with its result."""
    turn = context.turns()[-1]
    results = {message.tool_call_id: message for message in turn if message.role == "tool"}
    calls = (call for message in turn for call in message.tool_calls)
    return ((call, results[call.id]) for call in calls if call.id in results)


#: The gate of a loop; a walk is at one node at a time.
loop: Final = gate_type(Walk)


@node(ports=Ports({"walks": Port(Walk, many=True)}, {"output": Port(str, conditional=True)}))
async def result(inputs: Mapping[str, Any]) -> NodeOutput:
    """Return the output of the node that ran last, none if no node ran."""
    last = max(inputs["walks"], key=lambda walk: walk.count).last
    return NodeOutput({} if last is None else {"output": last.text})


class Reply(RootModel[Annotated[str, StringConstraints(pattern=r"\S")]]):
    """A reply of the user, not blank."""

    model_config = ConfigDict(frozen=True)


class Wait(Config):
    """Config of `agentron.wait`: the question that is always asked, unless it is empty."""

    question: str = ""


async def request_user_help(
    question: str,
    message: str = "",
    type: str = "",
    reason: str = "",
    options: Options | None = None,
    suggestions: Options | None = None,
) -> str:
    """Ask the user a question; the reply goes to the next agent."""
    _ = question, message, type, reason, options, suggestions  # they are read from the call (`wait`)
    return ASKED


@node(ports=Ports({}, {"reply": Reply | None}))
async def wait(
    context: ExecutionContext | None,
    config: Wait = Wait(),  # noqa: B008 - frozen
) -> NodeOutput:
    """Wait for a reply if the agent asked for one in its turn, or the node itself asks."""
    asked = {"question": config.question} if context is None else _asked_in(context)
    if asked is None:
        return NodeOutput({"reply": None})
    question = asked.pop("question")
    asking = {"prompt": question, "show": asked or None, "schema": json_schema(Reply)}
    return NodeOutput(status="paused", metadata={"ask": asking})


def _asked_in(context: ExecutionContext) -> dict[str, Any] | None:
    """Return the arguments of the last call of the help tool in the last turn, None without one."""
    asking = [
        call
        for call, result in _calls_in(context)
        if call.name == request_user_help.__name__ and ASKED in str(result.content)
    ]
    return dict(json.loads(asking[-1].arguments)) if asking else None
