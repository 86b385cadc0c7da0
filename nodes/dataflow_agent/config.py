"""The settings of agents and subagents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, WithJsonSchema, model_validator

from dataflow import ArgumentInvalid
from dataflow_agent.diagnostics.chats import (
    AGENT_INSIDE_ITSELF,
    NAME_INVALID,
    NAME_TAKEN,
    TOOLS_HAVE_AGENTS,
)
from dataflow_agent.diagnostics.tools import PATTERN_UNMATCHED
from dataflow_agent.models.config import ModelConfig, Patterns, check_model
from dataflow_agent.toolkit.policies import Policy, policy_of, unmet
from dataflow_agent.toolkit.toolboxes import Functions, SubagentTool, Toolbox

__all__ = ["AgentConfig", "Subagent"]

MOST_CALLS: Final = 10
#: The names of the other nodes of a call, and of the other ports of the node that calls subagents.
TAKEN: Final = ("approve", "context", "describe", "make", "result")


def _toolbox(given: object) -> object:
    """Read a toolbox of a document: a list of functions, or its fields."""
    if isinstance(given, list) and all(isinstance(one, str) for one in given):
        return Toolbox((Functions(tuple(dict.fromkeys(given))),))
    return _described.validate_json(json.dumps(given)) if isinstance(given, dict) else given


_described: Final = TypeAdapter(Toolbox)


#: Tools, in documents a list of functions, each as `module:qualname`.
ToolsField = Annotated[
    Toolbox,
    BeforeValidator(_toolbox),
    WithJsonSchema({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object"}]}),
]


class AgentConfig(ModelConfig):
    """Config of `agent.agent`."""

    name: str = Field(default="", description="what it is called where somebody is asked about its calls")
    tools: ToolsField | None = Field(default=None, description="tools besides those of its input")
    max_tool_calls: int = Field(
        default=MOST_CALLS, ge=0, description="the most calls of tools in one turn of the conversation"
    )
    may_overshoot: bool = Field(
        default=False,
        description="whether an answer may ask for more calls than are left, of which the turn then ends",
    )
    max_turns: int | None = Field(default=None, ge=1, description="the most calls of the model in one turn")
    time_limit: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="how many seconds a turn may work",
    )
    allowed_tools: list[str] | None = Field(
        default=None, description="the names of the tools that it may call; all of them unless set"
    )
    retries: int = Field(default=0, ge=0, description="further attempts of each call of the model")
    approval_expires: float | None = Field(
        default=None,
        gt=0,
        le=100 * 365 * 86_400,  # the limit of every ask
        allow_inf_nan=False,
        description="seconds after which a call is denied that nobody has decided on",
    )
    vision_summary: Annotated[str, AfterValidator(check_model)] = Field(
        default="",
        description="a model that describes the images of tools, which the agent's is then not shown",
    )
    subagents: list[Subagent] = Field(default=[], description="the agents that it may call as tools")

    @model_validator(mode="after")
    def _check_names(self) -> AgentConfig:
        if self.tools is not None and self.tools.subagents:
            found = ", ".join(one.name for one in self.tools.subagents)
            raise ArgumentInvalid(TOOLS_HAVE_AGENTS(names=found))
        names = [below.name for below in self.subagents]
        for name in names:
            if names.count(name) > 1:
                raise ArgumentInvalid(NAME_TAKEN(name=name, by="another subagent"))
        below: list[tuple[tuple[str, ...], Subagent]] = [((self.name,), one) for one in self.subagents]
        while below:
            above, agent = below.pop()
            path = (*above, agent.name)
            if agent.name in above:
                names = [*filter(None, path)]
                raise ArgumentInvalid(AGENT_INSIDE_ITSELF(name=agent.name, path=" > ".join(names)))
            below += [(path, one) for one in agent.subagents]
        return self

    def offered(self, toolbox: Toolbox) -> Toolbox:
        """Return the tools that the model may call: those of the config, of a toolbox, and the subagents."""
        if self.tools is None and not self.subagents:
            return toolbox
        own = () if self.tools is None else self.tools.sources
        return Toolbox((*own, *toolbox.sources, *(one.described for one in self.subagents)))

    def with_subagents(self, described: Sequence[SubagentTool]) -> AgentConfig:
        """Return the config with further subagents, given as tools."""
        if not described:
            return self
        added = [Subagent.model_validate_json(one.settings) for one in described]
        return AgentConfig(**{**self.given, "subagents": [*self.subagents, *added]})

    @property
    def given(self) -> dict[str, Any]:
        """The settings that were given, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Subagent(AgentConfig):
    """An agent that another agent has as a tool: its description, policy and settings."""

    name: str = Field(description="the name of the tool")
    description: str = Field(min_length=1, description="what the model above is told of it")
    allow: Patterns | None = Field(default=None, description="patterns of the calls of it that are made")
    ask: Patterns = Field(default=[], description="patterns of those that somebody is asked about")
    deny: Patterns = Field(default=[], description="patterns of those that are not made")

    @model_validator(mode="after")
    def _check_name(self) -> Subagent:
        if not self.name.isidentifier() or self.name in TAKEN:
            expected = f"letters, digits and _, other than {', '.join(TAKEN)}"
            raise ArgumentInvalid(NAME_INVALID(name=self.name, what="a subagent", expected=expected))
        for pattern in unmet(self.policy, [self.name]):
            problem = PATTERN_UNMATCHED(pattern=pattern, where="", effect="", available=[self.name])
            raise ArgumentInvalid(problem)
        return self

    @property
    def policy(self) -> Policy:
        """The policy of calls of the subagent."""
        return policy_of(self.allow, self.ask, self.deny)

    @property
    def described(self) -> SubagentTool:
        """The subagent as a tool."""
        written = self.model_dump_json(exclude_defaults=True)
        return SubagentTool(self.name, self.description, written, self.policy)


AgentConfig.model_rebuild()
