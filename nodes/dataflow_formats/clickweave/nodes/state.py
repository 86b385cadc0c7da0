"""What a walk carries on its conversation: the variables, and what has been looked up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from dataflow import ExecutionContext, this_firing
from dataflow_formats.clickweave.nodes.resolved import App

__all__ = [
    "Lookups",
    "is_repeated",
    "lookups_of",
    "public_variables",
    "with_lookups",
    "with_variables",
]

#: Where the lookups stand among the variables; a variable of a node has a dot in its name.
KEY: Final = "clickweave"


@dataclass(frozen=True, slots=True)
class Lookups:
    """What has been looked up so far.

    apps: the app by what the user calls it
    elements: the name of an element by what the user calls it and by the app it is in
    focused: the name of the app that was focused last, empty for none
    """

    apps: Mapping[str, App] = field(default_factory=dict)
    elements: Mapping[str, str] = field(default_factory=dict)
    focused: str = ""

    def element(self, target: str) -> str | None:
        """Return what an element is called in the focused app, None if nobody has looked it up."""
        return self.elements.get(_key(target, self.focused))

    def with_app(self, wanted: str, app: App) -> Lookups:
        """Remember an app."""
        return replace(self, apps={**self.apps, wanted: app})

    def with_element(self, target: str, name: str) -> Lookups:
        """Remember what an element is called."""
        return replace(self, elements={**self.elements, _key(target, self.focused): name})


def _key(target: str, app: str) -> str:
    return json.dumps([target, app])


def lookups_of(context: ExecutionContext) -> Lookups:
    """Return what a walk has looked up."""
    kept = context.variables.get(KEY, {})
    apps = {wanted: App(**app) for wanted, app in kept.get("apps", {}).items()}
    return Lookups(apps, kept.get("elements", {}), kept.get("focused", ""))


def with_lookups(context: ExecutionContext, lookups: Lookups) -> ExecutionContext:
    """Return a conversation that carries these."""
    apps = {wanted: {"name": app.name, "pid": app.pid} for wanted, app in lookups.apps.items()}
    kept = {"apps": apps, "elements": dict(lookups.elements), "focused": lookups.focused}
    return with_variables(context, {KEY: kept})


def with_variables(context: ExecutionContext, variables: Mapping[str, Any]) -> ExecutionContext:
    """Return a conversation with further variables, or with other values of those that it has."""
    return replace(context, variables={**context.variables, **variables})


def public_variables(context: ExecutionContext) -> dict[str, Any]:
    """Return the variables that nodes have set."""
    return {name: value for name, value in context.variables.items() if "." in name}


def is_repeated() -> bool:
    """Tell whether the flow node around this firing is tried once more: then nothing remembered counts.

    Its path ends with `~2` from the second attempt on (S2.2).
    """
    return "~" in this_firing().path.rpartition("/")[0].rpartition("/")[2]
