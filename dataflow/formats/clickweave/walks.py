"""The walk through a workflow: where each node leads, what it comes to, and the bodies of its loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dataflow.formats.clickweave.checking import entries_of, label_of
from dataflow.formats.clickweave.files import EndLoop, If, Loop, Switch

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow.formats.clickweave.files import FileNode
    from dataflow.formats.clickweave.reading import Workflow
    from dataflow.formats.foreign import Notes

__all__ = ["BODY", "DONE", "ON", "Walk", "walk_of"]

#: What nodes that lead to one place have; a loop leads into its body, and on.
ON: Final = ""
BODY: Final = "LoopBody"
DONE: Final = "LoopDone"


@dataclass(slots=True)
class Walk:
    """The walk through a workflow.

    entry: the node that it begins with
    exits: where each node leads that it comes to, by output; None where it ends. An EndLoop has none: it
        leads to its loop alone.
    bodies: the nodes of each loop that is repeated, its EndLoop with them and the loop itself not
    ends: the EndLoop of each of these loops
    homes: the innermost loop that each node is in, None outside of all
    others: what else is an entry point
    """

    entry: str = ""
    exits: dict[str, dict[str, str | None]] = field(default_factory=dict)
    bodies: dict[str, set[str]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str | None] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def leading_to(self, id: str) -> list[tuple[str, str]]:
        """Return the nodes and outputs that lead to a node."""
        return [
            (source, output)
            for source, exits in self.exits.items()
            for output, target in exits.items()
            if target == id
        ]

    @property
    def ending(self) -> list[tuple[str, str]]:
        """The nodes and outputs with which the walk ends."""
        return [
            (source, output)
            for source, exits in self.exits.items()
            for output, target in exits.items()
            if target is None
        ]


def walk_of(workflow: Workflow, notes: Notes) -> Walk:
    """Find the walk through a workflow that has been checked; further problems are noted."""
    walk = Walk()
    entries = entries_of(workflow)
    first = _through(workflow, entries[0])
    if first is None:
        notes.problem(
            ("nodes", workflow.places[entries[0]]), "the walk ends where it begins: all is disabled"
        )
        return walk
    walk.entry, walk.others = first, entries[1:]
    _follow(workflow, walk)
    _find_bodies(workflow, walk, notes)
    if not notes.problems:
        _check_bodies(workflow, walk, notes)
    return walk


def _through(workflow: Workflow, id: str | None) -> str | None:
    """Go on from a node as long as nodes are disabled: each of them falls through."""
    passed: set[str] = set()
    at = id
    while at is not None and at not in passed and _is_passed(workflow, workflow.nodes[at]):
        passed.add(at)
        at = _falls(workflow, at)
    return None if at in passed else at


def _is_passed(workflow: Workflow, node: FileNode) -> bool:
    if isinstance(node.node_type, EndLoop):  # it leads to its loop whether it is enabled or not
        return not workflow.nodes[node.node_type.loop_id].enabled
    return not node.enabled


def _falls(workflow: Workflow, id: str) -> str | None:
    kind = workflow.nodes[id].node_type
    targets = _targets(workflow, id)
    match kind:
        case EndLoop():
            return kind.loop_id
        case If():
            return targets.get("IfFalse")
        case Loop():
            return targets.get(DONE)
        case Switch():
            return targets.get("SwitchDefault", next(iter(targets.values()), None))
        case _:
            return targets.get(ON)


def _targets(workflow: Workflow, id: str) -> dict[str, str]:
    return {label_of(placed.edge.output): placed.edge.target for placed in workflow.leaving[id]}


def _outputs(kind: object) -> Iterable[str]:
    match kind:
        case If():
            return ("IfTrue", "IfFalse")
        case Switch():
            return (*(f"SwitchCase({case.name})" for case in kind.cases), "SwitchDefault")
        case Loop():
            return (BODY, DONE)
        case EndLoop():
            return ()
        case _:
            return (ON,)


def _follow(workflow: Workflow, walk: Walk) -> None:
    """Find the nodes that the walk comes to, in the order of the file."""
    found: dict[str, dict[str, str | None]] = {}
    todo = [walk.entry]
    for id in todo:  # grows while it is walked
        if id in found:
            continue
        targets = _targets(workflow, id)
        kind = workflow.nodes[id].node_type
        found[id] = {output: _through(workflow, targets.get(output)) for output in _outputs(kind)}
        todo += [target for target in found[id].values() if target is not None]
        if isinstance(kind, EndLoop):
            walk.ends[kind.loop_id] = id
            todo.append(kind.loop_id)
    walk.exits = {id: found[id] for id in workflow.nodes if id in found}


def _find_bodies(workflow: Workflow, walk: Walk, notes: Notes) -> None:
    onward: dict[str, list[str]] = {
        id: [target for target in exits.values() if target is not None] for id, exits in walk.exits.items()
    }
    for loop, end in walk.ends.items():
        onward[end].append(loop)
    back: dict[str, list[str]] = {id: [] for id in onward}
    for id, targets in onward.items():
        for target in targets:
            back[target].append(id)
    for loop, exits in walk.exits.items():
        if not isinstance(workflow.nodes[loop].node_type, Loop):
            continue
        closing = walk.ends.get(loop)
        within = _reached(exits[BODY], onward, loop)
        if closing is None or closing not in within:
            place = ("nodes", workflow.places[loop])
            name = workflow.nodes[loop].name
            notes.problem(place, f"the body of {name!r} never comes to its EndLoop, so nothing is repeated")
            continue
        walk.bodies[loop] = within & _reached(closing, back, loop)


def _reached(start: str | None, onward: Mapping[str, list[str]], cut: str) -> set[str]:
    """Return the nodes that are reached from one, without passing another."""
    found: set[str] = set()
    todo = [] if start is None or start == cut else [start]
    while todo:
        id = todo.pop()
        if id not in found:
            found.add(id)
            todo += [target for target in onward[id] if target != cut]
    return found


def _check_bodies(workflow: Workflow, walk: Walk, notes: Notes) -> None:
    """Note edges that lead into a loop past its Loop node, and say which loop each node is in."""
    by_size = sorted(walk.bodies, key=lambda loop: len(walk.bodies[loop]))
    for id in walk.exits:
        walk.homes[id] = next((loop for loop in by_size if id in walk.bodies[loop]), None)
    for id, exits in walk.exits.items():
        for output, target in exits.items():
            for loop, body in walk.bodies.items():
                if target in body and id not in body and (id, output) != (loop, BODY):
                    told = _told_past(workflow, id, output, loop)
                    notes.problem(("nodes", workflow.places[id]), told)
    for place, (loop, body) in enumerate(walk.bodies.items()):
        for other in [*walk.bodies][:place]:
            if body & walk.bodies[other] and not (body < walk.bodies[other] or walk.bodies[other] < body):
                names = f"{workflow.nodes[loop].name!r} and {workflow.nodes[other].name!r}"
                told = f"the bodies of {names} overlap; expected one inside the other"
                notes.problem(("nodes", workflow.places[loop]), told)


def _told_past(workflow: Workflow, id: str, output: str, loop: str) -> str:
    source = f"{output} of {workflow.nodes[id].name!r}" if output else repr(workflow.nodes[id].name)
    if id == loop:
        return f"{source} leads into the body; expected what comes after the loop"
    return f"{source} leads into the body of {workflow.nodes[loop].name!r}, past it; expected the Loop itself"
