"""The parts of a cagent workflow: steps, retries, agents, and references between them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dataflow.authoring import choices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.authoring import DocumentPath, JsonDict, PartReader


__all__ = [
    "BACK",
    "DEFAULT_LIMIT",
    "META",
    "AgentDefinition",
    "AgentStep",
    "Back",
    "ConditionStep",
    "ParallelStep",
    "Reference",
    "Retry",
    "Step",
    "Unresolved",
    "Workflow",
    "find",
    "part_of",
    "policy_of",
    "read_reference",
    "read_retry",
    "steps_in",
]

#: How the id of an agent step begins that leads back to the step of the id behind it.
BACK: Final = "back_to_"
#: Where the meta of a document have what is no part of the flow.
META: Final = "cagent"
#: How many passes a loop may have unless the file says so.
DEFAULT_LIMIT: Final = 100
#: What steps have given by id: `{output, agent}`, or of a parallel block `{steps, order}`.
Store: TypeAlias = "Mapping[str, Any]"
OUTPUT: Final = "output"
#: The words for the children of a parallel block: of templates, and of the value itself.
CHILDREN: Final = ("outputs", "steps")
_ACCESS: Final = re.compile(r"""\.([^\s.\[\]{}"']+)|\[(\d{1,6})\]|\["([^"\n]*)"\]|\['([^'\n]*)'\]""")
Count = Annotated[int, Field(ge=0)]
Wait = Annotated[float, Field(gt=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed step is tried again: `attempts` are extra ones."""

    attempts: int
    backoff: Literal["none", "fixed", "exponential"] = "none"
    first: float = 1.0
    on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentStep:
    """A step that runs an agent."""

    id: str
    path: DocumentPath
    agent: str
    retry: Retry | None = None
    is_named: bool = True  # whether the file gives the id


@dataclass(frozen=True, slots=True)
class ConditionStep:
    """A step that chooses one of two lists of steps."""

    id: str
    path: DocumentPath
    condition: str
    yes: tuple[Step, ...] = ()
    no: tuple[Step, ...] = ()
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class ParallelStep:
    """A step whose children run side by side."""

    id: str
    path: DocumentPath
    steps: tuple[Step, ...] = ()
    retry: Retry | None = None
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Back:
    """An entry of a branch that leads back to an earlier step: by its id, or its index in the workflow."""

    id: str
    path: DocumentPath
    target: str | int
    written: str = ""  # how the file has it, where it is no agent step
    agent: str = ""  # that the file names, where it is written as an agent step


Step: TypeAlias = AgentStep | ConditionStep | ParallelStep | Back


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """An agent of the file: what it is told, and the config that its model is called with."""

    instruction: str = ""
    model: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    keys: frozenset[str] | None = None  # of its structured output, if that is declared


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow that has been read."""

    steps: tuple[Step, ...]
    limit: int
    agents: Mapping[str, AgentDefinition]
    is_whole: bool = True  # whether all steps could be read


def steps_in(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Go through the steps of a list and of the branches in it, but not into parallel blocks."""
    todo = [*reversed(steps)]
    while todo:
        step = todo.pop()
        yield step
        if isinstance(step, ConditionStep):
            todo += [*reversed(step.no), *reversed(step.yes)]


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


class _Part(BaseModel):
    """What stands under `retry`."""

    model_config = ConfigDict(strict=True, frozen=True)

    max_attempts: Count = 0
    backoff: Literal["fixed", "exponential"] | None = None
    initial_delay_seconds: Wait | None = None
    on: list[Annotated[str, Field(min_length=1)]] = []


_EXPECTED: Final = {
    "max_attempts": "a whole number of 0 or more",
    "backoff": "fixed or exponential",
    "initial_delay_seconds": "a number above 0",
    "on": "a list of texts, such as [timeout, rate_limit]",
}


def read_retry(step: PartReader) -> Retry | None:
    """Read how a step is tried again; None where it is not."""
    given = step.mapping("retry")
    given.check_keys(_EXPECTED)
    try:
        part = _Part.model_validate(given.part)
    except ValidationError as error:
        for field in dict.fromkeys(str(fault["loc"][0]) for fault in error.errors()):
            given.expected(_EXPECTED[field], given.part[field], field)
        return None
    if not part.max_attempts:
        return None
    wait = part.initial_delay_seconds or 1.0
    return Retry(part.max_attempts, part.backoff or "none", wait, tuple(part.on))


def policy_of(retry: Retry | None) -> JsonDict:
    """Write a retry as the policy of a native node, with nothing where there is none."""
    if retry is None:
        return {}
    written: JsonDict = {"retries": retry.attempts}
    if retry.on:
        written["on"] = [*retry.on]
    if retry.backoff != "none":
        written["backoff"] = retry.backoff
        written["first"] = retry.first
    return {"policy": {"retry": written}}
