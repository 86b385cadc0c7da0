"""References of cagent, such as `$steps.par.outputs.gen.output.title`, and what they lead to."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from dataflow.authoring import choices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Reference", "Unresolved", "find", "part_of", "read_reference"]

#: What steps have given by id: `{output, agent}`, or of a parallel block `{steps, order}`.
Store: TypeAlias = "Mapping[str, Any]"

OUTPUT: Final = "output"
#: The words for the children of a parallel block: of templates, and of the value itself.
CHILDREN: Final = ("outputs", "steps")

_ACCESS: Final = re.compile(r"""\.([^\s.\[\]{}"']+)|\[(\d{1,6})\]|\["([^"\n]*)"\]|\['([^'\n]*)'\]""")


class Unresolved(Exception):
    """Raised for a reference that leads nowhere; the text says why."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference that has been taken apart."""

    text: str
    accesses: tuple[str | int, ...]


class Found(NamedTuple):
    """Where a reference leads: the path of a step, its entry, and the keys into its output."""

    path: tuple[str, ...]
    entry: Mapping[str, Any]
    keys: tuple[str, ...]


def read_reference(text: str) -> Reference:
    """Take a reference apart, with or without braces around it; raises Unresolved for other text."""
    inner = text.strip()
    if inner.startswith("{{") and inner.endswith("}}"):
        inner = inner[2:-2].strip()
    accesses: list[str | int] = []
    end = len("$steps")
    while (match := _ACCESS.match(inner, end)) is not None:
        name = next(group for group in match.groups() if group is not None)
        accesses.append(int(name) if match[2] is not None else name)
        end = match.end()
    if not inner.startswith("$steps") or end != len(inner) or len(accesses) < len(("id", OUTPUT)):
        raise Unresolved("expected {{ $steps.ID.output }}, with .KEY behind it for a part of the output")
    return Reference(text, tuple(accesses))


def find(reference: Reference, store: Store) -> Found:
    """Follow a reference into what steps have given; raises Unresolved."""
    path: list[str] = []
    entry: Mapping[str, Any] = {"steps": store, "order": [*store]}
    rest = [*reference.accesses]
    while "steps" in entry:
        if path and rest and rest[0] in CHILDREN and rest[0] not in entry["steps"]:
            del rest[0]
        if not rest:
            raise Unresolved(f"{'/'.join(path)!r} is a parallel block; say which of its outputs is meant")
        step = _named(rest.pop(0), entry["steps"], entry["order"], "/".join(path), rest)
        path.append(step)
        entry = entry["steps"][step]
    if not rest or rest[0] != OUTPUT:
        raise Unresolved(f"behind {'/'.join(path)!r} expected .{OUTPUT}")
    keys = rest[1:]
    if not all(isinstance(key, str) for key in keys):
        raise Unresolved(f"a part of an output is named by a key, found the index {keys[0]}")
    return Found(tuple(path), entry, tuple(map(str, keys)))


def _named(access: str | int, steps: Store, order: Sequence[str], around: str, rest: list[str | int]) -> str:
    """Return the id of the step that an access means; what a flat name has besides goes to the rest."""
    where = f" in {around!r}" if around else ""
    if isinstance(access, int):
        if not around:
            raise Unresolved("a step of the workflow is named by its id, not by an index")
        if access >= len(order):
            raise Unresolved(f"there is no output {access}{where}; it has {len(order)}")
        return order[access]
    if access not in steps and "." in access:
        access, _, flat = access.partition(".")
        rest[:0] = flat.split(".")
    if access not in steps:
        raise Unresolved(f"there is no step {access!r}{where}; {choices([*steps])}")
    return access


def part_of(output: str, keys: Sequence[str]) -> tuple[bool, Any]:
    """Follow keys into an output: whether it is a JSON object at all, and the part, None if it is missing."""
    try:
        part = json.loads(output)
    except (ValueError, RecursionError):
        return False, None
    if not isinstance(part, dict):
        return False, None
    for key in keys:
        part = part.get(key) if isinstance(part, dict) else None
    return True, part
