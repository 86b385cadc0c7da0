"""The node types of a walk: it begins, an agent is told its text, the next node is chosen, and it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from dataflow import Config, ExecutionContext, NodeOutput, Port, Ports, node, this_firing
from dataflow.authoring import gate_type
from dataflow_formats.agentron.calls import summaries
from dataflow_formats.agentron.conditions import Condition, first_that_holds
from dataflow_formats.agentron.helping import Reply
from dataflow_formats.agentron.telling import filled, told
from dataflow_formats.agentron.walks import Turn, Walk

__all__ = ["WALK", "Exit", "Next", "Tell", "loop", "next_node", "result", "start", "tell"]

#: The port with the walk, whichever way it goes on.
WALK: Final = "walk"


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
    """Write what an agent is told in its turn, in a conversation that has its instructions.

    The metadata have how the step of the turn begins, which is all there is of it if the turn fails.
    """
    walk: Walk = inputs["walk"]
    prompt = told(walk, config.turn_instruction, config.parameters)
    instructions = filled(config.instructions, walk.parameters(config.parameters), prompt)
    context = ExecutionContext("", system_instructions=instructions or None)
    begun = {"order": walk.count, "input": prompt, "follows_reply": walk.follows_reply}
    return NodeOutput({"prompt": prompt}, context=context, metadata={"turn": begun})


class Exit(Config):
    """An edge to another node: the port that leads to it, and who is there."""

    port: str
    to: str
    agent: str = ""
    condition: Condition | None = None


class Next(Config):
    """Config of `agentron.next`: whose turn it was, and the edges from there in their order."""

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
    """Go to the first node whose condition holds after the text, and if none does to the first of all.

    A reply takes the place of the text. The metadata have the step, with the calls of tools in the turn that
    the context ends with. Where no condition held they say `unrouted`, and the run warns of it.
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
        "calls": summaries(context),
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
        told = f"node {config.node!r}: no condition held, so the first edge was followed, to {taken.to!r}"
        this_firing().warn("unrouted", told)
    return NodeOutput({WALK: after, **({taken.port: after} if taken else {})}, metadata=metadata)


#: A gate of a walk, which is at one node at a time.
loop: Final = gate_type(Walk)


@node(ports=Ports({"walks": Port(Walk, many=True)}, {"output": Port(str, conditional=True)}))
async def result(inputs: Mapping[str, Any]) -> NodeOutput:
    """Give what the last node gave that ran; nothing where none has."""
    last = max(inputs["walks"], key=lambda walk: walk.count).last
    return NodeOutput({} if last is None else {"output": last.text})
