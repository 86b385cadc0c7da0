"""State has one owner: these classes are changed only in the modules that define them.

A variable is known by its name, or by an attribute that no other class has. Items, mutating calls, local
aliases of an attribute and `setattr` count; an argument under another name goes unnoticed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.support.source import Module, modules_of


@dataclass(frozen=True, slots=True)
class Owned:
    """A class, the module that owns its state, and how variables that hold an instance are called."""

    module: str
    variables: frozenset[str]


FRAMES: Final = frozenset(
    {"frame", "child", "closing", "inner", "item", "outer", "parent", "root", "round", "where"}
)
OWNED: Final = {
    "Scheduler": Owned("dataflow.scheduler.scheduler", frozenset({"scheduler"})),
    "Frame": Owned("dataflow.scheduler.frames", FRAMES),
    "Engine": Owned("dataflow.runtime.engine", frozenset({"engine"})),
    "Worker": Owned("dataflow.runtime.attempts", frozenset({"worker"})),
    "Reporter": Owned("dataflow.core.events", frozenset({"reporter"})),
}
MUTATING: Final = {
    "__setitem__", "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popleft",
    "remove", "setdefault", "update",
}  # fmt: skip

#: What other modules change today, by class and module. The list may only shrink.
FOREIGN: Final[dict[str, dict[str, str]]] = {
    "Frame": {
        "live.engine": "digests plan values",
        "live.freshness": (
            "dead_inputs digests failures has_ended lost pulling "
            "states taken undemanded unsettled values waits withdrawn"
        ),
        "live.reuse": "digests states unsettled values",
        "memo.lookup": "states values",
        "runtime.workers": "durations",
        "scheduler.arrivals": "position states",
        "scheduler.asks": "states",
        "scheduler.demand": "lost pulling states undemanded unsettled waits withdrawn",
        "scheduler.failures": "closed_by is_closing states taken",
        "scheduler.loops": "states",
        "scheduler.maps": "position states",
        "scheduler.outcomes": "states unsettled values",
        "scheduler.scheduler": "has_ended states unsettled values",
        "scheduler.scopes": "awaits errors states unsettled",
    },
    "Reporter": {
        "durable.journal": "seq",
        "durable.replay": "is_listening",
        "runtime.run": "includes_inputs",
        "runtime.telemetry": "is_listening is_tracing",
    },
    "Scheduler": {
        "durable.ownership": "is_plain journal_writer replay",
        "durable.replay": "replay",
        "live.engine": "has_ended is_plain live memos plan",
        "live.freshness": "stopped to_act",
        "runtime.attempts": "interruption",
        "runtime.engine": "has_ended",
        "runtime.start": "reporter",
        "runtime.workers": "stopped to_act",
        "scheduler.demand": "stopped to_act",
        "scheduler.failures": "interruption stopped to_act",
        "scheduler.outcomes": "is_working",
        "scheduler.timers": "is_plain to_act",
    },
    "Worker": {
        "runtime.workers": "driver has_waited",
    },
}
#: How many rows the list has at most.
MOST_FOREIGN: Final = 82

ENGINE: Final = {module.name: module for module in modules_of("dataflow")}


def classes_in(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def attributes_of(found: ast.ClassDef) -> set[str]:
    """Return the attributes of a class, as it declares or assigns them."""
    attributes = set[str]()
    for node in ast.walk(found):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)) if node in found.body:
                attributes.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store()) if variable(node.value) == "self":
                attributes.add(name)
    return attributes


def variable(holder: ast.expr) -> str:
    match holder:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.lstrip("_")
        case ast.Subscript(value=inner):
            return variable(inner)
    return ""


def read_attributes() -> tuple[dict[str, set[str]], dict[str, str]]:
    """Return the attributes of each owned class, and the class of those that no other class has."""
    owned: dict[str, set[str]] = {}
    others: set[str] = set()
    for name, module in ENGINE.items():
        for found in classes_in(module.tree()):
            if found.name in OWNED and OWNED[found.name].module == name:
                owned[found.name] = attributes_of(found)
            else:
                others |= attributes_of(found)
    counts = [attribute for attributes in owned.values() for attribute in attributes]
    unique = {
        attribute: name
        for name, attributes in owned.items()
        for attribute in attributes - others
        if counts.count(attribute) == 1
    }
    return owned, unique


ATTRIBUTES, UNIQUE = read_attributes()


def changed(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield each attribute that is changed, with the expression before it."""
    aliases: dict[str, ast.Attribute] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value):
                aliases[name] = value
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=holder, attr=attribute, ctx=ast.Store() | ast.Del()):
                yield holder, attribute
            case ast.Subscript(value=inner, ctx=ast.Store() | ast.Del()):
                yield from behind(inner, aliases)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in MUTATING:
                yield from behind(inner, aliases)
            case ast.Call(func=ast.Name(id="setattr"), args=[holder, ast.Constant(value=str(attribute)), *_]):
                yield holder, attribute


def behind(inner: ast.expr, aliases: dict[str, ast.Attribute]) -> Iterator[tuple[ast.expr, str]]:
    """Yield the attribute whose value is changed through items of it, or through a local alias."""
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    if isinstance(inner, ast.Name):
        inner = aliases.get(inner.id, inner)
    if isinstance(inner, ast.Attribute):
        yield inner.value, inner.attr


def functions_of(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the outermost functions, so that aliases are local; a class counts through its methods."""
    todo: list[ast.AST] = [tree]
    while todo:
        for node in ast.iter_child_nodes(todo.pop()):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node
            else:
                todo.append(node)


def owner_of(holder: ast.expr, attribute: str) -> str | None:
    """Return the owned class that an attribute belongs to."""
    name = variable(holder)
    if name == "self":
        return None
    for owner, owned in OWNED.items():
        if name in owned.variables and attribute in ATTRIBUTES[owner]:
            return owner
    return UNIQUE.get(attribute)


def foreign_in(module: Module) -> set[tuple[str, str, str]]:
    found = set()
    for function in functions_of(module.tree()):
        for holder, attribute in changed(function):
            owner = owner_of(holder, attribute)
            if owner is not None and module.name != OWNED[owner].module:
                found.add((owner, attribute, module.name.removeprefix("dataflow.")))
    return found | subclasses_in(module)


def subclasses_in(module: Module) -> set[tuple[str, str, str]]:
    """Return what subclasses in other modules assign to themselves."""
    return {
        (base.id, attribute, module.name.removeprefix("dataflow."))
        for found in classes_in(module.tree())
        for base in found.bases
        if isinstance(base, ast.Name) and base.id in OWNED and module.name != OWNED[base.id].module
        for attribute in attributes_of(found) & ATTRIBUTES[base.id]
    }


def test_state_is_changed_only_by_its_owner_but_for_what_is_listed() -> None:
    found = set[tuple[str, str, str]]().union(*(foreign_in(module) for module in ENGINE.values()))
    listed = {
        (name, attribute, module)
        for name, modules in FOREIGN.items()
        for module, attributes in modules.items()
        for attribute in attributes.split()
    }
    assert sorted(found) == sorted(listed)
    assert len(listed) <= MOST_FOREIGN
    assert [name for name in OWNED if not ATTRIBUTES[name]] == []
