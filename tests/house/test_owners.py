"""State has one owner: these classes are assigned to only in the modules that define them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from tests.support.source import Module, modules_of


@dataclass(frozen=True, slots=True)
class Owned:
    """A class, the module that owns its state, and how variables that hold an instance are called."""

    module: str
    variables: frozenset[str]


OWNED: Final = {
    "Scheduler": Owned("dataflow.scheduler.scheduler", frozenset({"scheduler"})),
    "Frame": Owned(
        "dataflow.scheduler.frames",
        frozenset({"frame", "child", "inner", "item", "outer", "parent", "root", "round"}),
    ),
    "Engine": Owned("dataflow.runtime.engine", frozenset({"engine"})),
    "Worker": Owned("dataflow.runtime.attempts", frozenset({"worker"})),
    "Reporter": Owned("dataflow.core.events", frozenset({"reporter"})),
}
#: What other modules assign today, by class and module. The list may only shrink.
FOREIGN: Final[dict[str, dict[str, str]]] = {
    "Frame": {
        "live.engine": "digests plan values",
        "live.freshness": (
            "digests failures has_ended lost pulling states taken undemanded unsettled values waits withdrawn"
        ),
        "live.reuse": "digests states unsettled values",
        "memo.lookup": "states",
        "runtime.attempts": "states",
        "runtime.workers": "states",
        "scheduler.arrivals": "position states",
        "scheduler.asks": "states",
        "scheduler.demand": "lost pulling states withdrawn",
        "scheduler.failures": "states taken",
        "scheduler.loops": "states",
        "scheduler.maps": "position states unsettled",
        "scheduler.outcomes": "states unsettled values",
        "scheduler.scheduler": "has_ended states unsettled values",
        "scheduler.scopes": "errors states unsettled",
    },
    "Reporter": {
        "durable.journal": "seq",
        "durable.replay": "is_listening",
        "runtime.run": "tells_inputs",
    },
    "Scheduler": {
        "durable.ownership": "is_plain recording restoring warnings",
        "durable.replay": "restoring",
        "live.engine": "has_ended is_plain live memoizing plan",
        "live.freshness": "stopped to_act",
        "runtime.attempts": "interruption",
        "runtime.engine": "has_ended",
        "runtime.start": "reporter",
        "runtime.workers": "stopped to_act",
        "scheduler.demand": "to_act",
        "scheduler.failures": "interruption to_act",
        "scheduler.outcomes": "is_working",
        "scheduler.timers": "is_plain to_act",
    },
    "Worker": {
        "runtime.workers": "driver has_waited",
    },
}

ENGINE: Final = {module.name: module for module in modules_of("dataflow")}


def attributes_of(name: str) -> set[str]:
    """Return the attributes of a class, as it declares or assigns them."""
    tree = ENGINE[OWNED[name].module].tree()
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    declared = {
        node.target.id
        for node in found.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assigned = {
        node.attr
        for node in ast.walk(found)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }
    return declared | assigned


ATTRIBUTES: Final = {name: attributes_of(name) for name in OWNED}


def assigned(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield each attribute that is assigned, also an item of it, with the name of the variable before it."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=holder, attr=attribute, ctx=ast.Store() | ast.Del()):
                yield variable(holder), attribute
            case ast.Subscript(
                value=ast.Attribute(value=holder, attr=attribute), ctx=ast.Store() | ast.Del()
            ):
                yield variable(holder), attribute


def variable(holder: ast.expr) -> str:
    match holder:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lstrip("_")
    return ""


def foreign_in(module: Module) -> set[tuple[str, str, str]]:
    return {
        (name, attribute, module.name.removeprefix("dataflow."))
        for holder, attribute in assigned(module.tree())
        for name, owned in OWNED.items()
        if holder in owned.variables and attribute in ATTRIBUTES[name] and module.name != owned.module
    }


def test_state_is_assigned_only_by_its_owner_but_for_what_is_listed() -> None:
    found = set[tuple[str, str, str]]().union(*(foreign_in(module) for module in ENGINE.values()))
    listed = {
        (name, attribute, module)
        for name, modules in FOREIGN.items()
        for module, attributes in modules.items()
        for attribute in attributes.split()
    }
    assert sorted(found) == sorted(listed)


@pytest.mark.parametrize("name", OWNED)
def test_a_class_that_owns_state_has_attributes(name: str) -> None:
    assert ATTRIBUTES[name]


@pytest.mark.parametrize(
    "code",
    ["scheduler.ready = 1", "self._scheduler.ready += 1", "a.scheduler.ready[0] = 1", "del scheduler.ready"],
)
def test_every_form_of_assignment_counts(code: str) -> None:
    assert list(assigned(ast.parse(code))) == [("scheduler", "ready")]
