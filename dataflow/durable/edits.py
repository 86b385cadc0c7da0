"""Detect edits of a flow since a run was stored, and the firings that a resume forgets because of them."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dataflow.compiler.addresses import address_of, form_of, scopes_of
from dataflow.compiler.plan import FlowOf
from dataflow.core.former_names import former_names, generations, listed_ids
from dataflow.core.states import NodeState
from dataflow.diagnostics.changes import CODE_CHANGED
from dataflow.durable.dependents import dependents
from dataflow.durable.graph_signature import FlowShape, NodeShape, in_present_names, shape_of
from dataflow.errors import FlowEdited, StoreError, problem_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.policy import Edited
    from dataflow.durable.journal_view import Past


__all__ = ["CODE", "Edits", "check_edits", "compare", "current_types", "in_names_of", "invalidated_by"]

#: The one part of a node that may change while its stored value remains valid.
CODE: Final = "code"
#: Final states that a resume keeps.
SETTLED: Final = frozenset({NodeState.DONE, NodeState.FAILED, NodeState.TIMED_OUT})
#: The parts of a node that determine what it asks for.
OF_ASK: Final = frozenset({"type", "version", "config"})
_KEYS: Final = re.compile(r"\[[^\]]*\]")  # of items and iterations
#: Where a path enters a subflow, and in which attempt; the first attempt has no marker.
_INSIDE: Final = re.compile(r"(?:~(\d+))?/")


@dataclass(frozen=True, slots=True)
class Edits:
    """The differences between two graph signatures, by address in the order of the flows.

    A renamed node appears under its old address in `renamed` only, not in `added` or `removed`. `changed`
    names the parts of a node that differ: type, version, config, wiring, code. `modules` maps old to new
    modules of node functions that kept their name but moved, `maps` the old addresses of nodes that were in
    the map of another call of `each` to their new ones (S7.1).
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    maps: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_none(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.removed or self.renamed or self.changed)

    @property
    def gone(self) -> frozenset[str]:
        """Addresses that the flow no longer has."""
        return frozenset((*self.removed, *self.renamed))

    @property
    def altered(self) -> frozenset[str]:
        """Addresses whose stored values may no longer match the present flow, ignoring changed code."""
        return frozenset(address for address, parts in self.changed.items() if parts != (CODE,))


def compare(stored: FlowShape, present: FlowShape) -> Edits:
    """Compare two graph signatures; a removed and an added node with equal entries count as renamed."""
    old, new = stored.entries, present.entries
    added = [address for address in new if address not in old]
    removed = [address for address in old if address not in new]
    alike: dict[NodeShape, deque[str]] = {}
    for address in added:
        alike.setdefault(new[address], deque()).append(address)
    renamed = {address: alike[old[address]].popleft() for address in removed if alike.get(old[address])}
    taken = set(renamed.values())
    changed = {
        address: tuple(
            name for name in NodeShape._fields if getattr(entry, name) != getattr(new[address], name)
        )
        for address, entry in old.items()
        if address in new and new[address] != entry
    }
    return Edits(
        tuple(address for address in added if address not in taken),
        tuple(address for address in removed if address not in renamed),
        renamed,
        changed,
        dict(pair for address in changed for pair in _modules(old[address].type, new[address].type)),
        {
            address: now
            for address in removed
            if (now := _out_of_map(address, old, new)) in added and _is_map(new[now])
        },
    )


def _out_of_map(address: str, old: Mapping[str, NodeShape], new: Mapping[str, NodeShape]) -> str:
    """Return the address of a node outside of its map of `each`; "" without one, or if it was removed."""
    around, _, name = address.rpartition("/")
    if not all(around in shape and _is_map(shape[around]) for shape in (old, new)):
        return ""
    outside = around.rpartition("/")[0]
    return f"{outside}/{name}" if outside else name


def _is_map(entry: NodeShape) -> bool:
    """Return whether an entry is that of a map of `each`, combined with the node that it is named after."""
    return entry.type.startswith("map ")


def _modules(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield the old and the new module of each node type whose function has moved."""
    for was, now in zip(old.split(), new.split(), strict=False):
        (module, colon, function), (other, _, same) = was.partition(":"), now.partition(":")
        if colon and function == same and module != other:
            yield module, other


def check_edits(run: str, edits: Edits, settled: Collection[str]) -> list[str]:
    """Return a warning for each settled node of which only the code has changed.

    Raise FlowEdited, with all edits, if a settled node was removed, renamed or changed in another way; nodes
    that have not settled may change freely.
    """
    if not (edits.gone | edits.altered).isdisjoint(settled):
        raise FlowEdited(
            run,
            edits.added,
            [*(f"{old} -> {new}" for old, new in edits.renamed.items()), *edits.removed],
            [f"{address} ({', '.join(parts)})" for address, parts in edits.changed.items()],
            [f"{old} -> {new}" for old, new in edits.modules.items()],
            [f"{old} -> {new}" for old, new in edits.maps.items()],
        )
    known = frozenset(settled)
    return [
        str(CODE_CHANGED(address))
        for address, parts in edits.changed.items()
        if CODE in parts and address in known
    ]


def invalidated_by(
    plan: FlowPlan, present: str, past: Past, stored: str, edited: Edited
) -> tuple[set[str], list[str]]:
    """Return the firings to forget because of edits and failures, and warnings of changed code (S11.4).

    `present` and `stored` are the graph signatures of the flow now and when the run was stored. Raise
    FlowEdited, and StoreError if the stored signature cannot be read.
    """
    forgotten = _readers_of_failures(plan, past)
    if stored == present:
        return _without_superseded(plan, past, forgotten), []
    was, now = _read(stored, past), FlowShape.read(present)
    edits = compare(in_names_of(plan, was, now), now)
    forgotten |= _changed_asks(past, edits)
    standing = {
        address_of(path)
        for path, firing in past.firings.items()
        if firing.state in SETTLED and path not in past.failures
    }
    if edited == "recompute":
        again = dependents(plan, _forms_at(plan, edits.altered))
        past.forget_keys(path for path in past.keys if address_of(path) in edits.altered)
        forgotten |= {path for path in past.firings if form_of(path) in again}
    warnings = check_edits(past.run, edits, standing if edited == "refuse" else ())
    return _without_superseded(plan, past, forgotten), warnings


def in_names_of(plan: FlowPlan, stored: FlowShape, present: FlowShape | None = None) -> FlowShape:
    """Return a stored signature, which may have former names, in the names that the flow has now.

    `present` is the signature of the flow, if it is known already.
    """
    present = shape_of(plan) if present is None else present
    if compare(stored, present).is_none:
        return stored
    formers = [shape_of(plan, names) for names in generations()]
    return in_present_names(stored, present, formers, current_types())


def current_types() -> Callable[[str], str]:
    """Return a function that replaces the id of a node type by the one that a pack lists it under now."""
    names, ids = former_names(), listed_ids()

    def current(type_id: str) -> str:
        name = names.get(type_id, type_id)
        return ids.get(name, name)

    return current


def _forms_at(plan: FlowPlan, addresses: Collection[str]) -> set[str]:
    nodes = ((scope, node) for scope in scopes_of(plan) for node in scope.plan.nodes if node.is_visible)
    return {scope.form_of(node) for scope, node in nodes if scope.address_of(node) in addresses}


def _read(shape: str, past: Past) -> FlowShape:
    try:
        return FlowShape.read(shape)
    except ValueError as error:
        raise StoreError(past.store, problem_of(error).within(f"the flow of run {past.run}")) from error


def _changed_asks(past: Past, edits: Edits) -> set[str]:
    """Find the open asks whose node now asks something else: these nodes run again."""
    others = {address for address, parts in edits.changed.items() if not OF_ASK.isdisjoint(parts)}
    return {
        path
        for path, firing in past.firings.items()
        if firing.ask is not None and firing.state not in SETTLED and address_of(path) in others
    }


def _readers_of_failures(plan: FlowPlan, past: Past) -> set[str]:
    """Find firings that read a forgotten failure as a value: they run again with the new outcome."""
    forgotten: set[str] = set()
    alike: dict[str, set[str]] = {}  # failures of one node, in any of its items and iterations
    for failed in past.failures:
        alike.setdefault(form_of(failed), set()).add(failed)
    for own, failures in alike.items():
        again = dependents(plan, {own}, as_failures=True) - {own}  # the failed nodes are kept, see below
        around = _Around(failures)
        forgotten |= {
            path
            for path, firing in past.firings.items()
            if firing.state in SETTLED
            and path not in past.failures
            and form_of(path) in again
            and not around.are_apart_from(path)
        }
    return forgotten


def _without_superseded(plan: FlowPlan, past: Past, forgotten: set[str]) -> set[str]:
    """Leave out firings in superseded attempts at a subflow: nothing in those runs again."""
    if not forgotten:
        return forgotten
    flows = _flows_around(plan)

    def is_superseded(path: str) -> bool:
        around = flows.get(address_of(path), frozenset())
        return bool(around) and any(
            address_of(flow := path[: inside.start()]) in around
            and int(inside[1] or 1) != past.attempt_at_flow(flow)
            for inside in _INSIDE.finditer(path)
        )

    return {path for path in forgotten if not is_superseded(path)}


def _flows_around(plan: FlowPlan) -> dict[str, frozenset[str]]:
    """Map the address of each node to the addresses of the subflows that contain it."""
    around: list[frozenset[str]] = []  # by number of the scope
    found: dict[str, frozenset[str]] = {}
    for scope in scopes_of(plan):
        flows = frozenset[str]() if scope.parent is None else around[scope.parent.number]
        if scope.owner is not None and isinstance(scope.owner.action, FlowOf):
            flows |= {scope.address}
        around.append(flows)
        found.update({scope.address_of(node): flows for node in scope.plan.nodes})
    return found


class _Around:
    """The items and iterations that contain the firings of one node."""

    def __init__(self, paths: Collection[str]) -> None:
        keys = [(path, key) for path in paths for key in _KEYS.finditer(path)]
        self.scopes = {path[: key.start()] for path, key in keys}  # the maps and loops
        self.frames = {path[: key.end()] for path, key in keys}

    def are_apart_from(self, path: str) -> bool:
        """Return whether a firing is in other items or iterations of a map or loop than all of these."""
        return any(
            path[: key.start()] in self.scopes and path[: key.end()] not in self.frames
            for key in _KEYS.finditer(path)
        )
