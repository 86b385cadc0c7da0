"""Patterns of policies that fit no call of a server: misspelt ones, or the server has changed (S10.6)."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

from dataflow.authoring import choices
from dataflow_agent.mcp.servers import Server, ServerTool
from dataflow_agent.tools.policies import Policy, arguments_named, unmet, unmet_arguments

__all__ = ["UNMET", "unmet_of"]

#: The code of the warning.
UNMET: Final = "unmet_pattern"
#: What a schema may take arguments by, besides its properties.
OPEN: Final = ("additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf")
EFFECTS: Final = {"allow": "allows nothing", "ask": "has nobody asked", "deny": "denies nothing"}


@lru_cache(maxsize=256)
def unmet_of(server: Server, tools: Sequence[ServerTool]) -> tuple[str, ...]:
    """Tell of each pattern of a server that fits no call of its tools, what it does not do."""
    given = {"allow": server.policy.allow or (), "ask": server.policy.ask, "deny": server.policy.deny}
    known = choices([tool.own_name for tool in tools])
    return tuple(
        f"tool server {server.label!r}: the pattern {pattern!r} of `{word}` {problem}, and so it "
        f"{EFFECTS[word]}; {known}"
        for word, patterns in given.items()
        for pattern, problem in _problems(Policy(deny=patterns), tools).items()
    )


def _problems(policy: Policy, tools: Sequence[ServerTool]) -> dict[str, str]:
    """Return what is wrong with patterns, by each that means nothing."""
    names = [tool.own_name for tool in tools]
    parameters = [(tool.own_name, _parameters(tool, policy)) for tool in tools]
    nameless = dict.fromkeys(unmet(policy, names), "means none of its tools")
    without = dict.fromkeys(
        unmet_arguments(policy, parameters), "names arguments that no tool of its name has"
    )
    return {**without, **nameless}


def _parameters(tool: ServerTool, policy: Policy) -> Collection[str]:
    """Return the arguments that a tool takes; one that may take any takes those of the policy."""
    schema = json.loads(tool.schema)
    if any(schema.get(key) for key in OPEN):
        return arguments_named(policy)
    return {*schema["properties"]}
