"""The layout of a workflow: successors, loop bodies, and the sources of what nodes read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import write_source
from dataflow_formats.clickweave.checks import entries_of, label_of
from dataflow_formats.clickweave.file import EndLoop, Exit, If, Loop, Switch, case_exit, port_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.clickweave.file import FileNode, Workflow


__all__ = ["ON", "WALK", "Layout", "Sources", "carry", "layout_of", "port"]

#: The output of nodes that lead to one place.
ON: Final = ""
#: The port of a walk, on its way in and on its way out.
WALK: Final = "walk"


@dataclass(slots=True)
class Layout:
    """What the walk through a workflow may come to.

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

    def depth(self, loop: str) -> int:
        """Tell how deeply a loop stands inside others: 1 outside of all."""
        depth, around = 1, self.homes[loop]
        while around is not None:
            depth, around = depth + 1, self.homes[around]
        return depth

    @property
    def ending(self) -> list[tuple[str, str]]:
        """The nodes and outputs with which the walk ends."""
        return [
            (source, output)
            for source, exits in self.exits.items()
            for output, target in exits.items()
            if target is None
        ]


def layout_of(workflow: Workflow, notes: Notes) -> Layout:
    """Lay out a workflow that has been checked; further problems are noted."""
    layout = Layout()
    entries = entries_of(workflow)
    first = _through(workflow, entries[0])
    if first is None:
        notes.problem(
            ("nodes", workflow.places[entries[0]]), "the walk ends where it begins: all is disabled"
        )
        return layout
    layout.entry, layout.others = first, entries[1:]
    _follow(workflow, layout)
    _find_bodies(workflow, layout, notes)
    if not notes.problems:
        _check_bodies(workflow, layout, notes)
    return layout


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
            return targets.get(Exit.IF_FALSE)
        case Loop():
            return targets.get(Exit.LOOP_DONE)
        case Switch():
            return targets.get(Exit.SWITCH_DEFAULT, next(iter(targets.values()), None))
        case _:
            return targets.get(ON)


def _targets(workflow: Workflow, id: str) -> dict[str, str]:
    return {label_of(placed.edge.output): placed.edge.target for placed in workflow.leaving[id]}


def _outputs(kind: object) -> Iterable[str]:
    match kind:
        case If():
            return (Exit.IF_TRUE, Exit.IF_FALSE)
        case Switch():
            return (*(case_exit(case.name) for case in kind.cases), Exit.SWITCH_DEFAULT)
        case Loop():
            return (Exit.LOOP_BODY, Exit.LOOP_DONE)
        case EndLoop():
            return ()
        case _:
            return (ON,)


def _follow(workflow: Workflow, layout: Layout) -> None:
    """Find the nodes that the walk comes to, in the order of the file."""
    found: dict[str, dict[str, str | None]] = {}
    todo = [layout.entry]
    for id in todo:  # grows while it is walked
        if id in found:
            continue
        targets = _targets(workflow, id)
        kind = workflow.nodes[id].node_type
        found[id] = {output: _through(workflow, targets.get(output)) for output in _outputs(kind)}
        todo += [target for target in found[id].values() if target is not None]
        if isinstance(kind, EndLoop):
            layout.ends[kind.loop_id] = id
            todo.append(kind.loop_id)
    layout.exits = {id: found[id] for id in workflow.nodes if id in found}


def _find_bodies(workflow: Workflow, layout: Layout, notes: Notes) -> None:
    onward: dict[str, list[str]] = {
        id: [target for target in exits.values() if target is not None] for id, exits in layout.exits.items()
    }
    for loop, end in layout.ends.items():
        onward[end].append(loop)
    back: dict[str, list[str]] = {id: [] for id in onward}
    for id, targets in onward.items():
        for target in targets:
            back[target].append(id)
    for loop, exits in layout.exits.items():
        if not isinstance(workflow.nodes[loop].node_type, Loop):
            continue
        closing = layout.ends.get(loop)
        within = _reached(exits[Exit.LOOP_BODY], onward, loop)
        if closing is None or closing not in within:
            place = ("nodes", workflow.places[loop])
            name = workflow.nodes[loop].name
            notes.problem(place, f"the body of {name!r} never comes to its EndLoop, so nothing is repeated")
            continue
        layout.bodies[loop] = within & _reached(closing, back, loop)


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


def _check_bodies(workflow: Workflow, layout: Layout, notes: Notes) -> None:
    """Note edges that lead into a loop past its Loop node, and say which loop each node is in."""
    by_size = sorted(layout.bodies, key=lambda loop: len(layout.bodies[loop]))
    for id in layout.exits:
        layout.homes[id] = next((loop for loop in by_size if id in layout.bodies[loop]), None)
    for id, exits in layout.exits.items():
        for output, target in exits.items():
            for loop, body in layout.bodies.items():
                if target in body and id not in body and (id, output) != (loop, Exit.LOOP_BODY):
                    told = _told_past(workflow, id, output, loop)
                    notes.problem(("nodes", workflow.places[id]), told)
    for place, (loop, body) in enumerate(layout.bodies.items()):
        for other in [*layout.bodies][:place]:
            if body & layout.bodies[other] and not (
                body < layout.bodies[other] or layout.bodies[other] < body
            ):
                names = f"{workflow.nodes[loop].name!r} and {workflow.nodes[other].name!r}"
                told = f"the bodies of {names} overlap; expected one inside the other"
                notes.problem(("nodes", workflow.places[loop]), told)


def _told_past(workflow: Workflow, id: str, output: str, loop: str) -> str:
    source = f"{output} of {workflow.nodes[id].name!r}" if output else repr(workflow.nodes[id].name)
    if id == loop:
        return f"{source} leads into the body; expected what comes after the loop"
    return f"{source} leads into the body of {workflow.nodes[loop].name!r}, past it; expected the Loop itself"


@dataclass(frozen=True, slots=True)
class Sources:
    """Writes the sources of inputs, and the outputs of loops that these take.

    start: the node with which the document begins
    outputs: those of each loop
    left: the outputs that loops have besides their `LoopDone`, by what they are of
    """

    layout: Layout
    start: str
    outputs: Mapping[str | None, JsonDict]
    left: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def of(self, id: str) -> Any:
        """Write where the walk comes from to a node: each time from one of them."""
        begins = [port(self.start, "out")] if id == self.layout.entry else []
        return self._walk(self.layout.leading_to(id), self.layout.homes[id], begins)

    def ending(self) -> Any:
        """Write where the walk comes from to its end."""
        return self._walk(self.layout.ending, None)

    def lifted(self, node: str, port_name: str, home: str | None = None) -> str:
        """Write a port of a node, as what leaves the loops around it that are not also around the reader."""
        inside = self.layout.homes[node]
        while inside != home:
            assert inside is not None, "a walk leads into a loop by its Loop alone"
            node, port_name = inside, self._left(inside, node, port_name)
            inside = self.layout.homes[inside]
        return port(node, port_name)

    def _walk(self, leading: Iterable[tuple[str, str]], home: str | None, begins: Iterable[str] = ()) -> Any:
        sources = [*begins, *(self._source(id, output, home) for id, output in leading)]
        return sources[0] if len(sources) == 1 else {"merge": sources}

    def _source(self, id: str, output: str, home: str | None) -> str:
        if output == Exit.LOOP_BODY:
            return port("$carry", carry(WALK, self.layout.depth(id)))
        return self.lifted(id, WALK if output == ON else port_of(output), home)

    def _left(self, loop: str, node: str, port_name: str) -> str:
        """Give what leaves a loop besides `LoopDone` a name."""
        key = (loop, node, port_name)
        if key not in self.left:
            self.left[key] = f"exit {len(self.left) + 1}"
            self.outputs[loop][self.left[key]] = port(node, port_name)
        return self.left[key]


def carry(name: str, depth: int) -> str:
    """Name a carried port: one in a loop inside another may not be called like one of the outer loop."""
    return name if depth == 1 else f"{name} {depth}"


def port(node: str, name: str) -> str:
    """Write a port of a node as a source."""
    return write_source(node, name)
