"""Check the edges and names of a workflow."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from dataflow.authoring import foreign, free_name
from dataflow_formats.clickweave.calls import invocation_of
from dataflow_formats.clickweave.diagnostics import (
    CASE_TWICE,
    CYCLE_WITHOUT_LOOP,
    EDGE_COUNT,
    END_LOOP_COUNT,
    END_LOOP_EDGE,
    LOOP_UNKNOWN,
    OUTPUT_UNKNOWN,
    TOOL_UNNAMED,
    VARIABLES_CLASH,
)
from dataflow_formats.clickweave.file import (
    CONTROL,
    CaseLabel,
    EndLoop,
    Exit,
    If,
    Loop,
    Switch,
    case_exit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.authoring import Notes
    from dataflow_formats.clickweave.file import FileNode, Output, Placed, Workflow

__all__ = [
    "check_workflow",
    "entries_of",
    "folder_name",
    "folder_names",
    "label_of",
    "outputs_of",
    "place_of",
    "prefix_of",
]

UNLABELLED: Final = "no output"
_OTHERS: Final = re.compile(r"[^a-z0-9]+")
UNNAMED: Final = "unnamed"
#: The most characters of the name of a folder; file systems allow 255, and a number may follow.
LONGEST: Final = 100


def check_workflow(workflow: Workflow, notes: Notes) -> None:
    """Note the problems of a workflow whose nodes and edges have been read."""
    for id, node in workflow.nodes.items():
        _check_leaving(workflow, id, node, notes)
    if workflow.nodes and not entries_of(workflow):
        notes.problem(("nodes",), foreign.FOREIGN_START_MISSING(expected="a node that no edge leads to"))
    _check_loops(workflow, notes)
    _check_cycles(workflow, notes)
    _check_names(workflow, notes)
    for id, node in workflow.nodes.items():
        call = invocation_of(node.node_type)
        if call is not None and not call.tool:
            place = ("nodes", workflow.places[id], "node_type")
            notes.problem(place, TOOL_UNNAMED(place_of(node)))


def _check_leaving(workflow: Workflow, id: str, node: FileNode, notes: Notes) -> None:
    edges = workflow.leaving[id]
    kind = node.node_type
    place = ("nodes", workflow.places[id])
    needed, allowed = outputs_of(kind)
    if isinstance(kind, Switch):
        names = Counter(case.name for case in kind.cases)
        for name in [name for name, count in names.items() if count > 1]:
            twice = CASE_TWICE(place_of(node), count=names[name], case=name)
            notes.problem((*place, "node_type", "cases"), twice)
    counts = Counter(label_of(placed.edge.output) for placed in edges)
    for label in needed:
        if counts[label] != 1:
            wanted = f"one edge from {label}"
            notes.problem(place, EDGE_COUNT(place_of(node), expected=wanted, found=counts[label]))
    for label in allowed:
        if counts[label] > 1:
            wanted = f"at most one edge from {label}" if label else "at most one edge"
            notes.problem(place, EDGE_COUNT(place_of(node), expected=wanted, found=counts[label]))
    for placed in edges:
        label = label_of(placed.edge.output)
        if label not in (*needed, *allowed):
            offered = [one or UNLABELLED for one in (*needed, *allowed)]
            found = f"the output {label}" if label else UNLABELLED
            unknown = OUTPUT_UNKNOWN(place_of(node), output=found, available=offered)
            notes.problem(("edges", placed.index), unknown)


def _check_loops(workflow: Workflow, notes: Notes) -> None:
    ends: Counter[str] = Counter()
    for id, node in workflow.nodes.items():
        if not isinstance(node.node_type, EndLoop):
            continue
        loop = node.node_type.loop_id
        place = ("nodes", workflow.places[id], "node_type", "loop_id")
        ends[loop] += 1
        if loop in workflow.known and loop not in workflow.nodes:
            continue  # its Loop could not be read, which is noted
        if loop not in workflow.nodes or not isinstance(workflow.nodes[loop].node_type, Loop):
            notes.problem(place, LOOP_UNKNOWN(place_of(node), target=_name_of(workflow, loop)))
        for placed in workflow.leaving[id]:
            if placed.edge.target != loop:
                target = _name_of(workflow, placed.edge.target)
                notes.problem(("edges", placed.index, "to"), END_LOOP_EDGE(place_of(node), target=target))
    for id, node in workflow.nodes.items():
        if isinstance(node.node_type, Loop) and ends[id] != 1:
            loop_place = ("nodes", workflow.places[id])
            notes.problem(loop_place, END_LOOP_COUNT(place_of(node), found=ends[id]))


def _check_cycles(workflow: Workflow, notes: Notes) -> None:
    """Note one edge of each cycle without an EndLoop, which would never end."""
    forward = {
        id: [placed for placed in edges if not isinstance(workflow.nodes[id].node_type, EndLoop)]
        for id, edges in workflow.leaving.items()
    }
    waiting = Counter(placed.edge.target for edges in forward.values() for placed in edges)
    free = [id for id in forward if not waiting[id]]
    done: set[str] = set()
    for id in free:  # grows while it is walked
        done.add(id)
        for placed in forward[id]:
            waiting[placed.edge.target] -= 1
            if not waiting[placed.edge.target] and placed.edge.target in forward:
                free.append(placed.edge.target)
    cyclic = {id: edges for id, edges in forward.items() if id not in done}
    for placed in _back_edges(cyclic):
        place = place_of(workflow.nodes[placed.edge.source])
        target = _name_of(workflow, placed.edge.target)
        notes.problem(("edges", placed.index), CYCLE_WITHOUT_LOOP(place, target=target))


def _back_edges(forward: dict[str, list[Placed]]) -> Iterator[Placed]:
    """Yield the back edges of a depth-first search."""
    seen: set[str] = set()
    for first, leaving in forward.items():
        if first in seen:
            continue
        seen.add(first)
        path = {first: iter(leaving)}
        while path:
            id, edges = path.popitem()
            placed = next(edges, None)
            if placed is None:
                continue
            path[id] = edges
            target = placed.edge.target
            if target in path:
                yield placed
            elif target in forward and target not in seen:
                seen.add(target)
                path[target] = iter(forward[target])


def _check_names(workflow: Workflow, notes: Notes) -> None:
    """Note nodes whose variables would have the same names."""
    first: dict[str, str] = {}
    for id, node in workflow.nodes.items():
        if node.node_type.type in CONTROL:
            continue
        prefix = prefix_of(node.name)
        if prefix in first:
            clash = VARIABLES_CLASH(place_of(node), prefix=prefix, other=first[prefix])
            notes.problem(("nodes", workflow.places[id], "name"), clash)
        first.setdefault(prefix, node.name)


def place_of(node: FileNode) -> str:
    """Return the place of a problem of a node."""
    return f"node {node.name!r}"


def _name_of(workflow: Workflow, id: str) -> str:
    """Return the name of a node, its id if it is unknown."""
    return workflow.nodes[id].name if id in workflow.nodes else id


def entries_of(workflow: Workflow) -> list[str]:
    """Return the nodes without incoming edges, except from EndLoops."""
    reached = {
        placed.edge.target
        for id, edges in workflow.leaving.items()
        if not isinstance(workflow.nodes[id].node_type, EndLoop)
        for placed in edges
    }
    return [id for id in workflow.nodes if id not in reached]


def outputs_of(kind: object) -> tuple[list[str], list[str]]:
    """Return the outputs of a node that need an edge, and those that may have one."""
    match kind:
        case If():
            return [Exit.IF_TRUE, Exit.IF_FALSE], []
        case Switch():
            return [*dict.fromkeys(case_exit(case.name) for case in kind.cases)], [Exit.SWITCH_DEFAULT]
        case Loop():
            return [Exit.LOOP_BODY], [Exit.LOOP_DONE]
        case _:
            return [], [""]


def label_of(output: Output | None) -> str:
    """Return the name of an output: `IfTrue`, `SwitchCase(paid)`, an empty string for None."""
    if output is None:
        return ""
    return case_exit(output.name) if isinstance(output, CaseLabel) else output.type


def prefix_of(name: str) -> str:
    """Return the prefix of the variables of a node: `click__ok_` for `Click (OK)`."""
    return "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in name.lower())


def folder_name(name: str) -> str:
    """Return the name of the folder of a node or workflow: `click-5` for `Click #5`."""
    return _OTHERS.sub("-", name.lower()).strip("-")[:LONGEST].strip("-") or UNNAMED


def folder_names(names: Mapping[str, str]) -> dict[str, str]:
    """Return the names of the folders of nodes by their ids; a number makes them unique."""
    found: dict[str, str] = {}
    for id, name in names.items():
        found[id] = free_name(folder_name(name), found.values(), between="-")
    return found
