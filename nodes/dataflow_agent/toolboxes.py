"""Toolboxes: frozen descriptions of tools, which are stored like any value (S10.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dataflow import FlowInvalid, Tools
from dataflow_agent.python_tools import reference_of, tool_of
from dataflow_agent.requests import ToolSpec
from dataflow_agent.tool_names import names_of

__all__ = ["Toolbox", "tools"]


@dataclass(frozen=True, slots=True)
class Toolbox(Tools):
    """Tools by where they are found: `functions` of Python as `module:qualname`, each once."""

    functions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the tools have for models, in order."""
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
            tool_of(reference).spec(name)
            for name, reference in found.items()
            if allowed is None or name in allowed
        )

    def reference(self, name: str) -> str | None:
        """Return where the tool of a name is found, None if there is none."""
        return self._by_name.get(name)

    @property
    def _by_name(self) -> dict[str, str]:
        return {name: reference for reference, name in names_of(self.functions).items()}


def tools(*items: Tools | Callable[..., Any]) -> Toolbox:
    """Describe functions as tools, and join descriptions; what comes twice is there once.

    A tool has the name of its function, its docstring as description, and parameters by their annotations.
    Functions that are not async run in threads. Raises FlowInvalid for what cannot be a tool: a lambda, a
    local function, a parameter that JSON cannot carry.
    """
    functions: list[str] = []
    for item in items:
        if isinstance(item, Toolbox):
            functions += item.functions
        elif isinstance(item, Tools):
            found = type(item).__name__
            problem = f"{found} is no description of this pack; expected one of tools(...)"
            raise FlowInvalid(found, [problem], "tool")
        else:
            functions.append(reference_of(item))
    return Toolbox(tuple(dict.fromkeys(functions)))
