"""Problems of files of AgentFlow (DF41)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

SECOND_START: Final = Kind(
    "DF4101",
    "is a second start, beside {first!r}",
    expected="one node of the type start",
    meaning="A workflow of AgentFlow begins at one node.",
    example="nodes: [{id: s, type: start}, {id: t, type: start}]",
    cure="Remove one of the starts, or connect what follows it to the other.",
)
SUBAGENT_TYPE: Final = Kind(
    "DF4102",
    "a subagent connection joins two agents",
    expected="a node of the type agent",
    meaning="A connection from the handle `subagent` makes an agent a tool of another agent.",
    example="{source: START, target: AGENT, sourceHandle: subagent}",
    cure="Connect two agents, or connect the nodes at another handle.",
)
SUBAGENTS_OFF: Final = Kind(
    "DF4103",
    "node {above!r} cannot have subagents",
    hint="write `tools: {{subagents: true}}` in its data",
    meaning="An agent has subagents only if its tools say so.",
    example="{source: a, target: b, sourceHandle: subagent}   # tools of a: {}",
    cure="Turn subagents on in the tools of the agent above, or remove the connection.",
)
SUBAGENT_HANDLE: Final = Kind(
    "DF4104",
    "the connection leads to another handle",
    expected="`input`, or none",
    meaning="A connection to a subagent enters at the handle `input`.",
    example="{source: a, target: b, sourceHandle: subagent, targetHandle: tools}",
    cure="Remove `targetHandle`, or write `input`.",
)
SUBAGENT_OF_ITSELF: Final = Kind(
    "DF4105",
    "is below itself: {cycle}",
    meaning="Agents that are tools of each other in a circle could call each other without end.",
    example="a > b and b > a, both from the handle subagent",
    cure="Remove one of the connections of the circle.",
)
SUBAGENT_TWICE: Final = Kind(
    "DF4106",
    "is already a subagent of node {other!r}",
    hint="an agent is a subagent of one agent only",
    meaning="Two agents have the same agent as a subagent.",
    example="a > c and b > c, both from the handle subagent",
    cure="Copy the subagent, or remove one of the connections.",
)
SUBAGENT_CONNECTED: Final = Kind(
    "DF4107",
    "also has other connections",
    hint="a subagent only runs as a tool of the agent above it",
    meaning="An agent is both a tool of another and a step of the workflow.",
    example="s > b beside a > b from the handle subagent",
    cure="Remove the other connections, or copy the agent.",
)
EACH_IMPOSSIBLE: Final = Kind(
    "DF4108",
    "cannot run once for each arrival: {reason}",
    hint="load the file with joins=once",
    meaning="A node with several connections into it runs once for each arrival, which this loop prevents.",
    example="a node with two connections into it, of which one closes a loop",
    cure="Load the file with the option `joins=once`, so that the node runs once on all arrivals.",
)
EXIT_UNCONNECTED: Final = Kind(
    "DF4109",
    "no connection leaves {exit!r}, so the path ends here",
    meaning="A warning: a condition chose an exit without a connection, so nothing runs after it.",
    example="an if without a connection from its handle false, and a condition that does not hold",
    cure="Connect the exit, if something is to run after it.",
)
