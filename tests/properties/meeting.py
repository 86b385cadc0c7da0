"""Random flows in which paths part and meet without a join, and what they come to (S7.4).

The maps that `each` and `every` open stand in each other and behind each other, to any depth: what the
reference, which reads maps as blocks, has no words for. Here every port is computed in all frames at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from dataflow import SKIP
from tests.properties.node_functions import Odds, call_plainly, recording
from tests.properties.playing import FUNCTIONS

#: The maps around a port, the outmost first, each named by its first reader; and the item of each.
Scope: TypeAlias = "tuple[str, ...]"
Frame: TypeAlias = "tuple[str, ...]"

MOST: Final = 9


@dataclass(frozen=True)
class Step:
    """A node: how it reads its sources (plainly, by `each` or by `every`), and what it reads besides."""

    id: str
    type: str
    opens: str
    sources: tuple[str, ...]
    besides: str | None
    salt: int
    gap: int
    scope: Scope


@dataclass
class Meeting:
    """What a flow comes to: the values of every port in all frames, and what was fired."""

    frames: dict[Scope, list[Frame]] = field(default_factory=lambda: {(): [()]})  # in order
    items: dict[Scope, dict[Frame, Any]] = field(default_factory=dict)  # of each map
    skipped: set[tuple[Scope, Frame]] = field(
        default_factory=set
    )  # maps that did not open, by what is around
    ports: dict[str, tuple[Scope, dict[Frame, Any]]] = field(default_factory=dict)
    fired: Counter[tuple[str, int]] = field(default_factory=Counter)

    def listed(self, port: str) -> Any:
        """Return the list of what a port is in the items of all maps around it; SKIP if there is none."""
        scope, tokens = self.ports[port]
        return self._listed(scope, tokens, ())

    def _listed(self, scope: Scope, tokens: dict[Frame, Any], frame: Frame) -> Any:
        if len(frame) == len(scope):
            return tokens[frame]
        opened = scope[: len(frame) + 1]
        if (opened, frame) in self.skipped:
            return SKIP
        inner = (one for one in self.frames[opened] if one[:-1] == frame)
        found = [self._listed(scope, tokens, one) for one in inner]
        return [value for value in found if value is not SKIP]


# drawing


def steps_of(below: Callable[[int], int]) -> list[Step]:
    scopes: dict[str, Scope] = {"$in.x": ()}
    lists: list[str] = []
    maps: dict[tuple[str, tuple[str, ...]], str] = {}
    steps: list[Step] = []
    for number in range(3 + below(MOST)):
        steps.append(_step(f"n{number}", below, scopes, lists, maps))
        scopes[steps[-1].id] = steps[-1].scope
        if steps[-1].type == "items":
            lists.append(steps[-1].id)
    return steps


def _step(
    id: str,
    below: Callable[[int], int],
    scopes: dict[str, Scope],
    lists: list[str],
    maps: dict[tuple[str, tuple[str, ...]], str],
) -> Step:
    def recent() -> str:
        return [*scopes][-1 - min(below(len(scopes)), below(len(scopes)))]

    kind, sources = below(8), tuple[str, ...]()
    if kind == 7 and lists:
        opens, sources = "each", (lists[below(len(lists))],)
    elif kind > 3:
        opens, sources = "every", tuple(recent() for _ in range(1 + below(3)))
    else:
        opens, sources = "", (recent(),)
    around = _around([scopes[source] for source in sources])
    opened = maps.setdefault((opens, sources), id)  # the same again is the same map (S7.1)
    scope = (*around, opened) if opens else around
    besides = recent() if below(3) == 2 else None
    if besides is not None and scopes[besides][: len(scope)] != scope[: len(scopes[besides])]:
        besides = None  # it is in another map, which is refused
    if besides is not None and len(scopes[besides]) > len(scope):
        scope = scopes[besides]
    types = ("items", "one") if besides is None else ("two", "one_optional")
    return Step(id, types[below(2)], opens, sources, besides, below(5), (0, 0, 3)[below(3)], scope)


def _around(scopes: list[Scope]) -> Scope:
    """Return what scopes have in common."""
    first = scopes[0]
    return next(
        first[:depth] for depth in range(len(first), -1, -1)
        if all(other[:depth] == first[:depth] for other in scopes)
    )  # fmt: skip


def document_of(steps: list[Step]) -> dict[str, Any]:
    """Write the flow; each port is an output, once collected by hand and once as it is, if it may be."""
    nodes: dict[str, Any] = {}
    outputs: dict[str, Any] = {}
    maps = {step.id: step.opens for step in steps}
    for step in steps:
        read: Any = step.sources[0] if not step.opens else {step.opens: step.sources[0]}
        if step.opens == "each":  # all calls over one list are one map
            read["share"] = step.sources[0]
        if step.opens == "every":
            read = {"every": list(step.sources)}
        inputs = {"a": read} if step.besides is None else {"a": read, "b": step.besides}
        odds = {"salt": step.salt} if step.type == "items" else {"salt": step.salt, "gap": step.gap}
        nodes[step.id] = {"type": f"t.{step.type}", "inputs": inputs, "config": odds}
        collected: Any = step.id
        for _ in step.scope:
            collected = {"collect": collected}
        outputs[f"c_{step.id}"] = collected
        if all(maps[one] == "every" for one in step.scope):
            outputs[f"o_{step.id}"] = step.id
    return {
        "dataflow": 1, "name": "meeting", "uses": {"t": "tests.properties.node_functions"},
        "inputs": {"x": {}}, "nodes": nodes, "outputs": outputs,
    }  # fmt: skip


# computing


def come_to(steps: list[Step], x: Any) -> Meeting:
    found = Meeting(ports={"$in.x": ((), {(): x})})
    with recording() as record:
        for step in steps:
            read = _opened(found, step) if step.opens else found.ports[step.sources[0]]
            found.ports[step.id] = step.scope, _fired(found, step, read)
    found.fired = record.fired
    return found


def _opened(found: Meeting, step: Step) -> tuple[Scope, dict[Frame, Any]]:
    """Open a map, unless another node has, and return its items."""
    around = _around([found.ports[source][0] for source in step.sources])
    scope, items = step.scope[: len(around) + 1], dict[Frame, Any]()
    if scope in found.items:
        return scope, found.items[scope]
    for frame in found.frames[around]:
        named = _each(found, step, frame) if step.opens == "each" else _every(found, step, around, frame)
        if named is None:
            found.skipped.add((scope, frame))
        else:
            items.update(((*frame, name), value) for name, value in named)
    found.frames[scope], found.items[scope] = list(items), items
    return scope, items


def _each(found: Meeting, step: Step, frame: Frame) -> list[tuple[str, Any]] | None:
    values = found.ports[step.sources[0]][1][frame]
    return None if values is SKIP else [(str(number), value) for number, value in enumerate(values)]


def _every(found: Meeting, step: Step, around: Scope, frame: Frame) -> list[tuple[str, Any]] | None:
    """Name what comes on each edge, in order; None if they are all dead."""
    named: list[tuple[str, Any]] = []
    is_dead = True
    for place, source in enumerate(step.sources):
        scope, tokens = found.ports[source]
        if len(scope) > len(around) and (scope[: len(around) + 1], frame) in found.skipped:
            continue
        inner = [one for one in found.frames[scope] if one[: len(frame)] == frame]
        live = [one for one in inner if tokens[one] is not SKIP]
        is_dead = is_dead and scope == around and not live
        named += [(".".join((str(place), *one[len(frame) :])), tokens[one]) for one in live]
    return None if is_dead else named


def _fired(found: Meeting, step: Step, read: tuple[Scope, dict[Frame, Any]]) -> dict[Frame, Any]:
    tokens: dict[Frame, Any] = {}
    for frame in found.frames[step.scope]:
        given = [read[1][frame[: len(read[0])]]]
        if step.besides is not None:
            scope, besides = found.ports[step.besides]
            given.append(besides[frame[: len(scope)]])
        if step.type == "one_optional" and given[0] is not SKIP and given[1] is SKIP:
            given[1] = None
        if any(one is SKIP for one in given):
            tokens[frame] = SKIP
            continue
        odds = Odds(salt=step.salt, gap=0 if step.type == "items" else step.gap)
        path = _path(step, frame)
        tokens[frame] = call_plainly(path, 1, FUNCTIONS[f"t.{step.type}"], odds, *given)
    return tokens


def _path(step: Step, frame: Frame) -> str:
    items = "/".join(f"{name}[{item}]" for name, item in zip(step.scope, frame, strict=True))
    if step.scope and step.scope[-1] == step.id:
        return items
    return f"{items}/{step.id}" if items else step.id
