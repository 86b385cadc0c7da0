"""Toolboxes: frozen descriptions of tools, which are stored like any value (S10.6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, Final, NamedTuple

from dataflow import FlowInvalid, Tools
from dataflow_agent.policies import Policy, Verdict, is_hidden, unmet, verdict
from dataflow_agent.python_tools import reference_of, tool_of
from dataflow_agent.requests import ToolSpec
from dataflow_agent.tool_names import names_of

__all__ = ["Functions", "Tool", "Toolbox", "check_patterns", "tools"]

NO_POLICY: Final = Policy()


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions of Python, each as `module:qualname`, and what is allowed of them."""

    references: tuple[str, ...]
    policy: Policy = NO_POLICY


class Tool(NamedTuple):
    """A tool of a toolbox: where it is found, its own name there, and the policies that count for it."""

    reference: str
    own_name: str
    policies: tuple[Policy, ...]

    def verdict(self, arguments: Mapping[str, Any]) -> Verdict:
        """Say what becomes of a call, by the strictest of the policies."""
        found = {verdict(policy, self.own_name, arguments) for policy in self.policies}
        return next(one for one in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW) if one in found)

    @property
    def is_hidden(self) -> bool:
        """Whether each call of it is denied."""
        return any(is_hidden(policy, self.own_name) for policy in self.policies)


@dataclass(frozen=True, slots=True)
class Toolbox(Tools):
    """Tools by where they are found, in order; one that comes twice is there once, by both policies."""

    sources: tuple[Functions, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the tools have for models, in order, without those of which each call is denied."""
        return tuple(self._by_name)

    def specs(self, allowed: Sequence[str] | None = None) -> tuple[ToolSpec, ...]:
        """Describe the tools to a model, all of them or those of these names.

        Raises FlowInvalid for a tool that cannot be found, and for a name that none has.
        """
        found = self._by_name
        missing = [name for name in allowed or () if name not in found]
        if missing:
            known = ", ".join(found) or "none"
            problems = [f"no tool has the name {name!r}; those that there are: {known}" for name in missing]
            raise FlowInvalid("allowed_tools", problems, "setting")
        return tuple(
            tool_of(tool.reference).spec(name)
            for name, tool in found.items()
            if allowed is None or name in allowed
        )

    def tool(self, name: str) -> Tool | None:
        """Return the tool that has a name for models, None if there is none."""
        return self._by_name.get(name)

    @property
    def _by_name(self) -> dict[str, Tool]:
        policies: dict[str, list[Policy]] = {}
        for source in self.sources:
            for reference in source.references:
                policies.setdefault(reference, []).append(source.policy)
        tools = {
            name: Tool(reference, _own_name(reference), tuple(policies[reference]))
            for reference, name in names_of([*policies]).items()
        }
        return {name: tool for name, tool in tools.items() if not tool.is_hidden}


def tools(
    *items: Tools | Callable[..., Any],
    allow: Sequence[str] | None = None,
    ask: Sequence[str] = (),
    deny: Sequence[str] = (),
) -> Toolbox:
    """Describe functions as tools, and join descriptions; what comes twice is there once.

    A tool has the name of its function, its docstring as description, and parameters by their annotations.
    Functions that are not async run in threads. `allow`, `ask` and `deny` are the `Policy` of the functions
    given here; descriptions keep theirs. Raises FlowInvalid for what cannot be a tool: a lambda, a local
    function, a parameter that JSON cannot carry; and for a pattern that means none of the functions.
    """
    policy = Policy(None if allow is None else (*allow,), (*ask,), (*deny,))
    sources: list[Functions] = []
    own: list[str] = []
    for item in items:
        if isinstance(item, Toolbox):
            sources += item.sources
        elif isinstance(item, Tools):
            found = type(item).__name__
            problem = f"{found} is no description of this pack; expected one of tools(...)"
            raise FlowInvalid(found, [problem], "tool")
        else:
            own.append(reference_of(item))
            sources.append(Functions((own[-1],), policy))
    check_patterns(policy, own)
    return Toolbox(_joined(sources))


def check_patterns(policy: Policy, references: Sequence[str]) -> None:
    """Check that each pattern means one of the functions; raises FlowInvalid, as it may be misspelt."""
    names = [_own_name(reference) for reference in references]
    known = ", ".join(names) or "none"
    problems = [
        f"the pattern {pattern!r} means none of the functions; those that there are: {known}"
        for pattern in unmet(policy, names)
    ]
    if problems:
        raise FlowInvalid("policy", problems, "setting")


def _own_name(reference: str) -> str:
    return re.split("[.:]", reference)[-1]


def _joined(sources: Sequence[Functions]) -> tuple[Functions, ...]:
    """Make one of those neighbours that have one policy."""
    return tuple(
        Functions(tuple(dict.fromkeys(chain.from_iterable(one.references for one in alike))), policy)
        for policy, alike in groupby(sources, lambda source: source.policy)
    )
