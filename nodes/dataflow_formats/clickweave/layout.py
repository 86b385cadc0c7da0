"""The layout of a workflow: successors, loop bodies, and the sources of inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import reachable, write_source
from dataflow_formats.clickweave.checks import entries_of, label_of, outputs_of, place_of
from dataflow_formats.clickweave.diagnostics import ALL_DISABLED, BODIES_OVERLAP, BODY_BYPASSED, BODY_ENDLESS
from dataflow_formats.clickweave.file import EndLoop, Exit, If, Loop, Switch, port_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dataflow import Diagnostic
    from dataflow.authoring import JsonDict, Notes
    from dataflow_formats.clickweave.file import FileNode, Workflow

__all__ = ["WALK", "Layout", "Sources", "carry", "lay_out"]

#: The output of nodes with only one.
ON: Final = ""
#: The input and output port of a walk.
WALK: Final = "walk"


@dataclass(slots=True)
class Layout:
    """The paths of the walk through a workflow.

    entry: the node that the walk begins with
    exits: the successor of each reached node by output, None at the end of the walk; an EndLoop has no
        exits, since it leads only to its loop
    bodies: the nodes of each loop, with its EndLoop but without the loop itself
    ends: the EndLoop of each loop
    homes: the innermost loop around each node, None outside of all
    others: the other entry points
    """

    entry: str = ""
    exits: dict[str, dict[str, str | None]] = field(default_factory=dict)
    bodies: dict[str, set[str]] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    homes: dict[str, str | None] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)

    def leading_to(self, id: str | None) -> list[tuple[str, str]]:
        """Return the nodes and outputs that lead to a node; None is the end of the walk."""
        return [
            (source, output)
            for source, exits in self.exits.items()
            for output, target in exits.items()
            if target == id
        ]

    def depth(self, loop: str) -> int:
        """Return the nesting level of a loop, 1 for an outermost one."""
        depth, around = 1, self.homes[loop]
        while around is not None:
            depth, around = depth + 1, self.homes[around]
        return depth


def lay_out(workflow: Workflow, notes: Notes) -> Layout:
    """Lay out a checked workflow; further problems are noted."""
    layout = Layout()
    entries = entries_of(workflow)
    first = _through(workflow, entries[0])
    if first is None:
        notes.problem(("nodes", workflow.places[entries[0]]), ALL_DISABLED())
        return layout
    layout.entry, layout.others = first, entries[1:]
    _follow(workflow, layout)
    _find_bodies(workflow, layout, notes)
    if not notes.problems:
        _check_bodies(workflow, layout, notes)
    return layout


def _through(workflow: Workflow, id: str | None) -> str | None:
    """Return the first enabled node from a node on; a disabled one falls through."""
    passed: set[str] = set()
    at = id
    while at is not None and at not in passed and _is_passed(workflow, workflow.nodes[at]):
        passed.add(at)
        at = _falls(workflow, at)
    return None if at in passed else at


def _is_passed(workflow: Workflow, node: FileNode) -> bool:
    if isinstance(node.node_type, EndLoop):  # it leads to its loop even if it is disabled
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


def _follow(workflow: Workflow, layout: Layout) -> None:
    """Set the exits of the reached nodes, in the order of the file, and the ends of loops."""
    found: dict[str, dict[str, str | None]] = {}
    todo = [layout.entry]
    for id in todo:  # grows while it is walked
        if id in found:
            continue
        targets = _targets(workflow, id)
        kind = workflow.nodes[id].node_type
        outputs = () if isinstance(kind, EndLoop) else chain.from_iterable(outputs_of(kind))
        found[id] = {output: _through(workflow, targets.get(output)) for output in outputs}
        todo += [target for target in found[id].values() if target is not None]
        if isinstance(kind, EndLoop):
            layout.ends[kind.loop_id] = id
            todo.append(kind.loop_id)
    layout.exits = {id: found[id] for id in workflow.nodes if id in found}


def _find_bodies(workflow: Workflow, layout: Layout, notes: Notes) -> None:
    """Set the bodies: the nodes from which the EndLoop can be reached without passing the loop again."""
    steps = [
        *(
            (id, target)
            for id, exits in layout.exits.items()
            for target in exits.values()
            if target is not None
        ),
        *((end, loop) for loop, end in layout.ends.items()),
    ]
    for loop, exits in layout.exits.items():
        if not isinstance(workflow.nodes[loop].node_type, Loop):
            continue
        first, end = exits[Exit.LOOP_BODY], layout.ends.get(loop)
        inner = [step for step in steps if loop not in step]
        within = set() if first in (None, loop) else reachable(first, inner)
        if end is None or end not in within:
            place = ("nodes", workflow.places[loop])
            notes.problem(place, BODY_ENDLESS(place_of(workflow.nodes[loop])))
            continue
        layout.bodies[loop] = within & reachable(end, [(target, source) for source, target in inner])


def _check_bodies(workflow: Workflow, layout: Layout, notes: Notes) -> None:
    """Set the innermost loop of each node, and note edges into a body that bypass its Loop."""
    by_size = sorted(layout.bodies, key=lambda loop: len(layout.bodies[loop]))
    for id in layout.exits:
        layout.homes[id] = next((loop for loop in by_size if id in layout.bodies[loop]), None)
    for id, exits in layout.exits.items():
        for output, target in exits.items():
            for loop, body in layout.bodies.items():
                if target in body and id not in body and (id, output) != (loop, Exit.LOOP_BODY):
                    problem = _bypass(workflow, id, output, loop)
                    notes.problem(("nodes", workflow.places[id]), problem)
    for place, (loop, body) in enumerate(layout.bodies.items()):
        for other in [*layout.bodies][:place]:
            if body & layout.bodies[other] and not (
                body < layout.bodies[other] or layout.bodies[other] < body
            ):
                first = workflow.nodes[other].name
                overlap = BODIES_OVERLAP(place_of(workflow.nodes[loop]), other=first)
                notes.problem(("nodes", workflow.places[loop]), overlap)


def _bypass(workflow: Workflow, id: str, output: str, loop: str) -> Diagnostic:
    source = f"{output} of {workflow.nodes[id].name!r}" if output else repr(workflow.nodes[id].name)
    expected = "a node after the Loop" if id == loop else "the Loop itself"
    return BODY_BYPASSED(source=source, loop=workflow.nodes[loop].name, expected=expected)


@dataclass(frozen=True, slots=True)
class Sources:
    """Writes the sources of inputs, and adds the outputs of loops that they need.

    start: the first node of the document
    outputs: the outputs of each loop
    left: the further outputs of loops, by loop, node and port
    """

    layout: Layout
    start: str
    outputs: Mapping[str | None, JsonDict]
    left: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def of(self, id: str) -> Any:
        """Return the source of the walk of a node, a merge if there are several."""
        begins = [write_source(self.start, "out")] if id == self.layout.entry else []
        return self._walk(self.layout.leading_to(id), self.layout.homes[id], begins)

    def ending(self) -> Any:
        """Return the source of the walk at its end."""
        return self._walk(self.layout.leading_to(None), None)

    def lifted(self, node: str, port: str, home: str | None = None) -> str:
        """Return a port of a node as a source, lifted out of the loops that do not contain the reader."""
        inside = self.layout.homes[node]
        while inside != home:
            assert inside is not None, "a walk leads into a loop by its Loop alone"
            node, port = inside, self._left(inside, node, port)
            inside = self.layout.homes[inside]
        return write_source(node, port)

    def _walk(self, leading: Iterable[tuple[str, str]], home: str | None, begins: Iterable[str] = ()) -> Any:
        sources = [*begins, *(self._source(id, output, home) for id, output in leading)]
        return sources[0] if len(sources) == 1 else {"merge": sources}

    def _source(self, id: str, output: str, home: str | None) -> str:
        if output == Exit.LOOP_BODY:
            return write_source("$carry", carry(WALK, self.layout.depth(id)))
        return self.lifted(id, WALK if output == ON else port_of(output), home)

    def _left(self, loop: str, node: str, port: str) -> str:
        """Return the name of a further output of a loop, which is added once."""
        key = (loop, node, port)
        if key not in self.left:
            self.left[key] = f"exit {len(self.left) + 1}"
            self.outputs[loop][self.left[key]] = write_source(node, port)
        return self.left[key]


def carry(name: str, depth: int) -> str:
    """Return the name of a loop variable, which is unique among nested loops."""
    return name if depth == 1 else f"{name} {depth}"
