"""The node type `agent.tools`: functions as tools, by their names, as documents give them (S10.6)."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

from dataflow_agent.configs import Patterns, StrictConfig, policy_of
from dataflow_agent.policies import Policy
from dataflow_agent.python_tools import tool_of
from dataflow_agent.toolboxes import Functions, Toolbox, check_patterns

__all__ = ["Offer", "Offered", "tools"]


def _references(given: list[str]) -> list[str]:
    for one in given:
        module, colon, qualname = one.partition(":")
        if not (colon and all(part.isidentifier() for part in (*module.split("."), *qualname.split(".")))):
            raise ValueError(f"expected a function, written module:qualname, found {one!r}")
    return given


class Offer(StrictConfig):
    """Config of `agent.tools`."""

    tools: Annotated[list[str], AfterValidator(_references)] = Field(
        default=[], description="functions, each as module:qualname"
    )
    allow: Patterns | None = Field(default=None, description="patterns of the calls that are made")
    ask: Patterns = Field(default=[], description="patterns of the calls that somebody is asked about")
    deny: Patterns = Field(default=[], description="patterns of the calls that are not made")

    @property
    def policy(self) -> Policy:
        """Which calls are made."""
        return policy_of(self.allow, self.ask, self.deny)


class Offered(NamedTuple):
    """Tools, and the names that they have for models."""

    tools: Toolbox
    tool_names: list[str]


async def tools(config: Offer = Offer()) -> Offered:  # noqa: B008 - frozen
    """Offer Python functions as tools.

    Raises FlowInvalid for one that cannot be found or that no model can call, and for a pattern that means
    none of them.
    """
    for reference in config.tools:
        tool_of(reference)
    check_patterns(config.policy, config.tools)
    found = Toolbox((Functions(tuple(dict.fromkeys(config.tools)), config.policy),))
    return Offered(found, [*found.names])
