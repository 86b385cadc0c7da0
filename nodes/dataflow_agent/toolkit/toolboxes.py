"""Toolboxes: frozen descriptions of tools that can be stored, and the names that models see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, assert_never

from pydantic import BaseModel, ConfigDict, Field

from dataflow import ArgumentInvalid, Diagnostic, FlowInvalid, Tools, this_firing
from dataflow.authoring import json_schema
from dataflow_agent.diagnostics.servers import ARGUMENTS_UNCHECKED
from dataflow_agent.diagnostics.tools import (
    NOT_A_TOOLBOX,
    PATTERN_ARGUMENTS_UNKNOWN,
    PATTERN_UNMATCHED,
    TOOL_UNKNOWN,
)
from dataflow_agent.models.request import ToolSpec
from dataflow_agent.servers.server import Server, ServerTool
from dataflow_agent.toolkit.functions import check_arguments, read_arguments, reference_of, tool_of
from dataflow_agent.toolkit.policies import (
    Policy,
    Verdict,
    is_hidden,
    policy_of,
    unmet,
    unmet_arguments,
    verdict,
)

__all__ = [
    "MOST_CHARACTERS",
    "Functions",
    "Listed",
    "Source",
    "SubagentTool",
    "Task",
    "Tool",
    "Toolbox",
    "misspelt",
    "names_of",
    "parts_of",
    "tools",
    "without_arguments",
]

NO_POLICY: Final = Policy()
#: The source of tools that are agents, in names and references.
AGENT: Final = "agent"
#: The longest name that every provider accepts.
MOST_CHARACTERS: Final = 64
#: How many characters of a hash distinguish names that would be equal.
DIGITS: Final = 8
_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]")


class Task(BaseModel):
    """The arguments of an agent that is a tool."""

    model_config = ConfigDict(extra="forbid", title="Arguments")

    prompt: str = Field(description="what it is to do, with all that it has to know")


TASK_SCHEMA: Final = json_schema(Task)


@dataclass(frozen=True, slots=True)
class Functions:
    """Python functions, each as `module:qualname`, with their policy."""

    references: tuple[str, ...]
    policy: Policy = NO_POLICY


@dataclass(frozen=True, slots=True)
class SubagentTool:
    """An agent as a tool, with its policy; its settings are JSON as in a document."""

    name: str
    description: str
    settings: str = ""
    policy: Policy = NO_POLICY

    @property
    def reference(self) -> str:
        """The reference, which differs for other settings; that of a function contains no blank."""
        return f"{AGENT} {self.name} {sha256(self.settings.encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class Listed:
    """A server with the tools that it has listed in this session."""

    server: Server
    tools: tuple[ServerTool, ...]


#: The sources of tools.
Source: TypeAlias = Functions | SubagentTool | Server | Listed


class Tool(NamedTuple):
    """A tool of a toolbox: its reference, its name at its source, and the policies that apply to it.

    A tool that is neither an agent nor at a server is a function.
    """

    reference: str
    own_name: str
    policies: tuple[Policy, ...]
    subagent: SubagentTool | None = None
    at_server: ServerTool | None = None

    def verdict(self, arguments: Mapping[str, Any]) -> Verdict:
        """Return the decision on a call, by the strictest of the policies."""
        found = {verdict(policy, self.own_name, arguments) for policy in self.policies}
        return next(one for one in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW) if one in found)

    def spec(self, name: str) -> ToolSpec:
        """Describe the tool to a model, under a name; raises FlowInvalid if it cannot be found."""
        if self.subagent is not None:
            return ToolSpec(name, self.subagent.description, TASK_SCHEMA)
        return (self.at_server or tool_of(self.reference)).spec(name)

    def read(self, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments as the tool takes them; raises ArgumentsInvalid and FlowInvalid.

        Warns once of a server's tool whose schema cannot be checked; its server checks them then.
        """
        if self.subagent is not None:
            return read_arguments(written, Task).model_dump()
        if self.at_server is not None:
            _check_for_server(written, self.at_server)
            return written
        return tool_of(self.reference).read(written)

    @property
    def is_hidden(self) -> bool:
        """Whether each call of it is denied."""
        return any(is_hidden(policy, self.own_name) for policy in self.policies)


def _check_for_server(written: Mapping[str, Any], tool: ServerTool) -> None:
    try:
        check_arguments(written, tool.schema)
    except ArgumentInvalid as error:
        place = f"tool {tool.own_name!r} of server {tool.server.label!r}"
        problem = ARGUMENTS_UNCHECKED(place, reason="; ".join(one.text for one in error.diagnostics))
        this_firing().warn("arguments_unchecked", str(problem))


@dataclass(frozen=True, slots=True)
class Toolbox(Tools):
    """An ordered collection of tools; a tool that occurs twice is included once, under both policies.

    The tools of servers are included once they were listed, as in the result of `listed`.
    """

    made_by: ClassVar[str] = "made by tools(...) of functions, mcp(...) of a server, as_tool(...) of an agent"

    sources: tuple[Source, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools for models, in order, without tools whose every call is denied."""
        return tuple(self._by_name)

    def specs(self, allowed: Sequence[str] | None = None) -> tuple[ToolSpec, ...]:
        """Describe the tools to a model, all of them or those with these names.

        Raises FlowInvalid for a tool that cannot be found, and for a name that none has.
        """
        self.check_names(allowed or (), "allowed_tools")
        found = self._by_name.items()
        return tuple(tool.spec(name) for name, tool in found if allowed is None or name in allowed)

    def check_names(self, names: Sequence[str], setting: str) -> None:
        """Check that the names in a setting are names of tools; raises FlowInvalid."""
        problems = [
            TOOL_UNKNOWN(name=name, available=self.names) for name in names if name not in self._by_name
        ]
        if problems:
            raise FlowInvalid(setting, problems, "setting")

    @property
    def servers(self) -> tuple[Server, ...]:
        """The servers among the sources."""
        found = (one.server if isinstance(one, Listed) else one for one in self.sources)
        return tuple(one for one in found if isinstance(one, Server))

    @property
    def subagents(self) -> tuple[SubagentTool, ...]:
        """The agents among the tools."""
        return tuple(source for source in self.sources if isinstance(source, SubagentTool))

    @property
    def without_subagents(self) -> Toolbox:
        """The toolbox without the agents."""
        return Toolbox(tuple(source for source in self.sources if not isinstance(source, SubagentTool)))

    def tool(self, name: str) -> Tool | None:
        """Return the tool with a name for models, None if there is none."""
        return self._by_name.get(name)

    @property
    def _by_name(self) -> Mapping[str, Tool]:
        return _tools_of(self.sources)


@lru_cache(maxsize=256)
def _tools_of(sources: Sequence[Source]) -> Mapping[str, Tool]:
    """Return the tools by their names for models; cached, as each call needs them."""
    found: dict[str, Tool] = {}
    for tool in chain.from_iterable(map(_tools_in, sources)):
        before = found.get(tool.reference)
        policies = (*(before.policies if before else ()), *tool.policies)
        found[tool.reference] = tool._replace(policies=policies)
    names = names_of({reference: _parts(tool) for reference, tool in found.items()})
    return MappingProxyType({names[one]: tool for one, tool in found.items() if not tool.is_hidden})


def _tools_in(source: Source) -> list[Tool]:
    match source:
        case Functions():
            return [Tool(one, _own_name(one), (source.policy,)) for one in source.references]
        case SubagentTool():
            return [Tool(source.reference, source.name, (source.policy,), source)]
        case Listed():
            policies = (source.server.policy,)
            return [Tool(one.reference, one.own_name, policies, at_server=one) for one in source.tools]
        case Server():
            return []
        case _:
            assert_never(source)


def _parts(tool: Tool) -> Sequence[str]:
    """Return the parts that distinguish a tool from others of its name, and that name at the end."""
    if tool.at_server is not None:
        return tool.at_server.server.label, tool.own_name
    if tool.subagent is not None:
        return AGENT, tool.own_name
    return parts_of(tool.reference)


def tools(
    *items: Tools | Callable[..., Any],
    allow: Sequence[str] | None = None,
    ask: Sequence[str] = (),
    deny: Sequence[str] = (),
) -> Toolbox:
    """Describe functions as tools, and join toolboxes; a tool that occurs twice is included once.

    A tool has the name of its function, its docstring as description, and parameters by their annotations.
    Functions that are not async run in threads. `allow`, `ask` and `deny` are the `Policy` of the functions
    given here; toolboxes keep theirs. Raises FlowInvalid for an item that cannot be a tool: a lambda, a local
    function, a parameter without a JSON type; and for a pattern that matches none of the functions or names
    arguments that they do not have.
    """
    policy = policy_of(allow, ask, deny)
    sources: list[Source] = []
    own: list[str] = []
    for item in items:
        if isinstance(item, Toolbox):
            sources += item.sources
        elif isinstance(item, Tools):
            found = type(item).__name__
            raise FlowInvalid(found, [NOT_A_TOOLBOX(found=found)], "tool")
        else:
            own.append(reference_of(item))
            sources.append(Functions((own[-1],), policy))
    problems = misspelt(policy, own) or without_arguments(policy, own)
    if problems:
        raise FlowInvalid("policy", problems, "setting")
    return Toolbox(_joined(sources))


def misspelt(policy: Policy, references: Sequence[str]) -> list[Diagnostic]:
    """List the patterns that match none of the functions, as they may be misspelt."""
    names = [_own_name(reference) for reference in references]
    return [
        PATTERN_UNMATCHED(pattern=pattern, where="", effect="", available=names)
        for pattern in unmet(policy, names)
    ]


def without_arguments(policy: Policy, references: Sequence[str]) -> list[Diagnostic]:
    """List the patterns that match no call, as no function has their arguments."""
    own = [(_own_name(reference), (*tool_of(reference).fields.values(),)) for reference in references]
    known = [f"{name}({', '.join(parameters)})" for name, parameters in own]
    return [
        PATTERN_ARGUMENTS_UNKNOWN(pattern=pattern, where="", effect="", available=known)
        for pattern in unmet_arguments(policy, own)
    ]


def _own_name(reference: str) -> str:
    return parts_of(reference)[-1]


def _joined(sources: Sequence[Source]) -> tuple[Source, ...]:
    """Join adjacent functions with the same policy."""
    found: list[Source] = []
    for source in dict.fromkeys(sources):
        before = found[-1] if found else None
        if isinstance(source, Functions) and isinstance(before, Functions) and source.policy == before.policy:
            both = dict.fromkeys((*before.references, *source.references))
            found[-1] = Functions(tuple(both), source.policy)
        else:
            found.append(source)
    return tuple(found)


def parts_of(reference: str) -> Sequence[str]:
    """Split `module:qualname` into its parts, the name of the function last."""
    return re.split("[.:]", reference)


def names_of(parts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return names of tools for models; `parts` are the parts of each tool by its reference.

    A name has letters, digits, `_` and `-`, at most 64: the tool's own name, preceded by as many parts as
    distinguish it from the others. Where that is not legal, or is the name of another tool, a hash of the
    reference is appended. The names do not depend on the order of the tools.
    """
    short = {reference: _shortest(reference, parts) for reference in parts}
    digits = {reference: 0 if _is_legal(name) else DIGITS for reference, name in short.items()}
    while True:
        names = {
            reference: _digested(name, reference, digits[reference]) for reference, name in short.items()
        }
        often = Counter(names.values())
        clashing = [reference for reference, name in names.items() if often[name] > 1]
        if not clashing:
            return names
        fewest = min(digits[reference] for reference in clashing)
        for reference in clashing:  # a name with a hash is kept, and the one without it changes
            digits[reference] += DIGITS if digits[reference] == fewest else 0


def _shortest(reference: str, parts: Mapping[str, Sequence[str]]) -> str:
    own = parts[reference]
    for count in range(1, len(own) + 1):
        ending = own[-count:]
        if sum(1 for other in parts.values() if [*other[-count:]] == [*ending]) == 1:
            return "_".join(ending)
    return "_".join(own)


def _is_legal(name: str) -> bool:
    return 0 < len(name) <= MOST_CHARACTERS and _ILLEGAL.search(name) is None


def _digested(name: str, reference: str, digits: int) -> str:
    if not digits:
        return name
    digest = sha256(reference.encode()).hexdigest()[:digits]
    return f"{_ILLEGAL.sub('_', name)[: MOST_CHARACTERS - digits - 1]}_{digest}"
