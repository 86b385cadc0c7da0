"""Format stored runs as text: a run with the tree of its nodes, and one firing in full."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import counted, moment, shortened, visible
from dataflow.cli.asks import ask_lines
from dataflow.cli.output import MOST_REASON, ExitCode, Refused, duration, one_line, problems_in
from dataflow.cli.paths import path_text, read_path, with_paths
from dataflow.cli.report import MOST_CHARACTERS, MOST_TRACEBACK, output_text
from dataflow.cli.storage import refusing_runs
from dataflow.core.states import ENDED, NodeState
from dataflow.errors import NameUnknown
from dataflow.inspection.json_values import shortened_repr
from dataflow.inspection.stored_run import firing_object, node_tree, output_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.inspection.open_asks import OpenAsk
    from dataflow.inspection.stored_run import NodeBranch, PastRun, StoredNode
    from dataflow.stores import Store

__all__ = ["described_text", "find_part", "run_text"]

MOST_ITEMS: Final = 10  # of one loop or map that are done, and shown one by one
MOST_ODD: Final = 50  # of one loop or map that are not done, and shown one by one


def run_text(found: PastRun, asks: Sequence[OpenAsk], *, full: bool = False) -> str:
    """Format a run as text; long values are shortened unless `full` is set."""
    run, past = found.run, found.past
    where = f"  ({run.target})" if run.target else ""
    lines = [
        f"run     {run.id}",
        f"flow    {run.flow}{where}",
        f"status  {run.status}",
        f"began   {moment(run.created)}, last written {moment(run.updated)}",
        f"ran     {duration(past.elapsed)}",
        *_forked_lines(found),
    ]
    inputs = found.inputs
    if inputs:
        lines += ["inputs", *_indented(_values_text(inputs, full=full))]
    if outputs := found.outputs:
        lines += ["outputs", *_indented(_tokens_text(outputs, full=full))]
    tree = node_tree(past, run.status, found.stored.readable)
    lines += ["nodes", *(f"  {line}" for line in _tree_lines(tree))]
    state = "not_run" if run.status in ENDED else "waiting"
    lines += [f"  {name.ljust(24)}  {state}" for name in found.not_begun]
    if asks:
        lines += ["asks", *(f"  {line}" for ask in asks for line in ask_lines(ask).split("\n"))]
    if found.warnings:
        warnings = (with_paths(text, found.past.firings) for text in found.warnings)
        lines += ["warnings", *(f"  {_cut(text, full=full)}" for text in warnings)]
    return visible("\n".join(lines))


def _forked_lines(found: PastRun) -> Iterator[str]:
    forked = found.forked
    if forked is not None:
        yield f"forked  from {forked['run']}"
        yield from (f"  {key} = {shortened_repr(value)}" for key, value in forked["changes"].items())


def _values_text(values: Mapping[str, Any], *, full: bool) -> str:
    return "\n".join(output_text(name, value, shorten=not full) for name, value in values.items())


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in text.split("\n"))


def _tree_lines(branches: Sequence[NodeBranch]) -> Iterator[str]:
    """Yield a line for each branch, indented below its parent."""
    todo: list[tuple[int, NodeBranch | str]] = [(0, branch) for branch in reversed(branches)]
    while todo:
        depth, branch = todo.pop()
        if isinstance(branch, str):
            yield "  " * depth + branch
            continue
        yield "  " * depth + _line(branch)
        todo.extend((depth + 1, inner) for inner in reversed(_chosen(branch)))


def _line(branch: NodeBranch) -> str:
    name, node = path_text(branch.name), branch.node
    if node is None:
        return name
    time = "" if node.seconds is None else duration(node.seconds)
    parts = [name.ljust(24), node.state.ljust(11), _size(node), time]
    if node.attempt > 1:
        parts.append(f"attempt {node.attempt}")
    if node.state != NodeState.DONE.value and node.reason:
        parts.append(f"({one_line(with_paths(node.reason, [node.path]), MOST_REASON)})")
    return "  ".join(filter(None, parts)).rstrip()


def _size(node: StoredNode) -> str:
    if node.items is not None:
        return counted(node.items, "item")
    return "" if node.rounds is None else counted(node.rounds, "round")


def _chosen(branch: NodeBranch) -> list[NodeBranch | str]:
    """Choose the branches to show: of many those that are not done, and the first of the others."""
    if len(branch.branches) <= MOST_ITEMS or not branch.is_repeated:
        return [*branch.branches]
    chosen: list[NodeBranch | str] = []
    left: Counter[str] = Counter()
    done = odd = 0
    for one in branch.branches:
        state = NodeState.DONE.value if one.node is None else one.node.state
        is_done = state == NodeState.DONE.value
        done, odd = done + is_done, odd + (not is_done)
        if (done <= MOST_ITEMS) if is_done else (odd <= MOST_ODD):
            chosen.append(one)
        else:
            left[state] += 1
    if left:
        chosen.append(f"and {', '.join(f'{count:,} {state}' for state, count in sorted(left.items()))}")
    return chosen


def find_part(found: PastRun, store: Store, path: str) -> dict[str, Any]:
    """Return one firing or else the output of that name, as JSON; raises Refused if there is none."""
    if path not in found.past.firings:
        path = read_path(path)
    if path not in found.past.firings and (output := output_object(found, path)) is not None:
        return output
    with refusing_runs():
        try:
            return firing_object(found, store, path)
        except NameUnknown as error:
            raise Refused(problems_in(error), ExitCode.USAGE) from error


def described_text(found: PastRun, described: Mapping[str, Any], *, full: bool) -> str:
    """Format a firing or an output as text."""
    if "output" not in described:
        return _firing_text(found, described, full=full)
    return visible(_port_text(described["output"], described, full=full))


def _firing_text(found: PastRun, described: Mapping[str, Any], *, full: bool = False) -> str:
    """Format one firing as text; long values are shortened unless `full` is set."""
    path = described["path"]
    firing = found.past.firings[path]
    reason = _cut(with_paths(described["reason"], [path]), full=full)
    lines = [
        f"node    {path_text(path)}",
        f"type    {described['type']}",
        f"state   {described['state']}" + (f" ({reason})" if reason else ""),
    ]
    if firing.started is not None:
        took = f", {duration((firing.ended - firing.started).total_seconds())}" if firing.ended else ""
        lines.append(f"began   {moment(firing.started)}{took}, attempt {firing.attempt}")
    if described["inputs"] is not None:
        lines += ["inputs", *_indented(_values_text(described["inputs"], full=full))]
    if described["outputs"]:
        lines += [
            "outputs",
            *_indented(_tokens_text(described["outputs"], full=full)),
        ]
    if described["metadata"]:
        lines += ["metadata", *_indented(_values_text(described["metadata"], full=full))]
    if described["ask"] is not None:
        known = {name: value for name, value in described["ask"].items() if value not in (None, "")}
        lines += ["ask", *_indented(_values_text(known, full=full))]
    for earlier in described["attempts"]:
        lines += [
            f"attempt {earlier['attempt']} failed",
            *_indented(_failure_text(earlier["error"], full=full)),
        ]
    if described["failure"] is not None:
        lines += ["failure", *_indented(_failure_text(described["failure"], full=full))]
    return visible("\n".join(lines))


def _tokens_text(tokens: Mapping[str, Mapping[str, Any]], *, full: bool) -> str:
    return "\n".join(_port_text(*port, full=full) for port in tokens.items())


def _port_text(name: str, token: Mapping[str, Any], *, full: bool) -> str:
    if "value" in token:
        return output_text(name, token["value"], shorten=not full)
    if "skip" in token:
        return f"{name}: skipped: {_cut(token['skip'], full=full)}"
    return f"{name}: failed: {_failure_text(token['error'], full=full).splitlines()[0]}"


def _cut(text: str, *, full: bool) -> str:
    return text if full else shortened(text, MOST_CHARACTERS)


def _failure_text(failure: Any, *, full: bool) -> str:
    if not isinstance(failure, dict) or "message" not in failure:
        return _cut(str(failure), full=full)
    message, trace = _cut(failure["message"], full=full), failure["traceback"]
    trace = trace if full else shortened(trace, MOST_TRACEBACK)
    return f"{failure['type']}: {message}\n{trace}".rstrip()
