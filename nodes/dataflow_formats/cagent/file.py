"""The parts of a cagent file: steps, retries and agents, and references to the outputs of steps."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dataflow import DataflowError
from dataflow_formats.cagent.diagnostics import (
    INDEX_UNKNOWN,
    REFERENCE_INVALID,
    REFERENCE_TO_BLOCK,
    STEP_UNKNOWN,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow import Diagnostic
    from dataflow.authoring import DocumentPath, PartReader

__all__ = [
    "BACK",
    "DEFAULT_LIMIT",
    "META",
    "AgentDefinition",
    "AgentStep",
    "Back",
    "ConditionStep",
    "ParallelStep",
    "Retry",
    "Step",
    "Unresolved",
    "Workflow",
    "find",
    "index_unknown",
    "part_of",
    "read_reference",
    "read_retry",
    "steps_in",
]

#: The prefix of the id of an agent step that leads back; the rest is the id of the target.
BACK: Final = "back_to_"
#: The key in the meta of a document.
META: Final = "cagent"
#: The most passes of a loop where the file sets no limit.
DEFAULT_LIMIT: Final = 100


@dataclass(frozen=True, slots=True)
class Retry:
    """How a failed step is retried; `attempts` are further ones."""

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
    """A step whose children run concurrently."""

    id: str
    path: DocumentPath
    steps: tuple[Step, ...] = ()
    retry: Retry | None = None
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Back:
    """An entry of a branch that leads back to an earlier step, by its id or its index in the workflow."""

    id: str
    path: DocumentPath
    target: str | int
    written: str = ""  # in the file, unless it is an agent step
    agent: str = ""  # in the file, if it is an agent step


Step: TypeAlias = AgentStep | ConditionStep | ParallelStep | Back


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    """An agent of the file: its instruction, its model, and the other config of the model."""

    instruction: str = ""
    model: str = ""
    config: Mapping[str, Any] = field(default_factory=dict)
    keys: frozenset[str] | None = None  # of its structured output, if declared


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow and the agents that it uses."""

    steps: tuple[Step, ...]
    limit: int
    agents: Mapping[str, AgentDefinition]
    is_whole: bool = True  # whether all steps could be read


def steps_in(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield the steps of a list and of the branches in it, but not those in parallel blocks."""
    todo = [*reversed(steps)]
    while todo:
        step = todo.pop()
        yield step
        if isinstance(step, ConditionStep):
            todo += [*reversed(step.no), *reversed(step.yes)]


#: The outputs of steps by id: `{output, agent}`, or for a parallel block `{steps, order}`.
Store: TypeAlias = "Mapping[str, Any]"
OUTPUT: Final = "output"
#: The keys of the children of a parallel block, in templates and in the value itself.
CHILDREN: Final = ("outputs", "steps")
#: The form of a reference.
FORM: Final = "{{ $steps.ID.output }}, with .KEY behind it for a part of the output"
_ACCESS: Final = re.compile(r"""\.([^\s.\[\]{}"']+)|\[(\d{1,6})\]|\["([^"\n]*)"\]|\['([^'\n]*)'\]""")


class Unresolved(DataflowError):
    """Raised for an invalid reference."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A parsed reference."""

    text: str
    accesses: tuple[str | int, ...]


class Found(NamedTuple):
    """The target of a reference: the path of a step, its entry, and the keys into its output."""

    path: tuple[str, ...]
    entry: Mapping[str, Any]
    keys: tuple[str, ...]


def read_reference(text: str) -> Reference:
    """Parse a reference, with or without braces around it; raise Unresolved for other text."""
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
        raise Unresolved(REFERENCE_INVALID(expected=FORM))
    return Reference(text, tuple(accesses))


def find(reference: Reference, store: Store) -> Found:
    """Resolve a reference in the outputs of steps; raise Unresolved."""
    path: list[str] = []
    entry: Mapping[str, Any] = {"steps": store, "order": [*store]}
    rest = [*reference.accesses]
    while "steps" in entry:
        if path and rest and rest[0] in CHILDREN and rest[0] not in entry["steps"]:
            del rest[0]
        if not rest:
            raise Unresolved(REFERENCE_TO_BLOCK(block="/".join(path), available=entry["steps"]))
        step = _named(rest.pop(0), entry["steps"], entry["order"], "/".join(path), rest)
        path.append(step)
        entry = entry["steps"][step]
    if not rest or rest[0] != OUTPUT:
        found = f"{rest[0]!r}" if rest else "nothing"
        raise Unresolved(REFERENCE_INVALID(expected=f".{OUTPUT} after {'/'.join(path)!r}", found=found))
    keys = rest[1:]
    if not all(isinstance(key, str) for key in keys):
        raise Unresolved(REFERENCE_INVALID(expected="keys of the output", found=f"index {keys[0]}"))
    return Found(tuple(path), entry, tuple(map(str, keys)))


def _named(access: str | int, steps: Store, order: Sequence[str], around: str, rest: list[str | int]) -> str:
    """Return the id of the step of an access; further parts of a name with dots are added to `rest`."""
    if isinstance(access, int):
        if not around:
            raise Unresolved(REFERENCE_INVALID(expected="the id of a step", found=f"index {access}"))
        if access >= len(order):
            raise Unresolved(index_unknown("output", access, len(order)).within(around))
        return order[access]
    if access not in steps and "." in access:
        access, _, flat = access.partition(".")
        rest[:0] = flat.split(".")
    if access not in steps:
        raise Unresolved(STEP_UNKNOWN(around, step=access, available=steps, near=access))
    return access


def index_unknown(what: str, index: int, count: int) -> Diagnostic:
    """Return the problem of an index beyond the last of several steps or outputs."""
    return INDEX_UNKNOWN(what=what, index=index, expected=f"0 to {count - 1}" if count else "")


def part_of(output: str, keys: Sequence[str]) -> tuple[bool, Any]:
    """Return whether an output is a JSON object, and the part of it under the keys, None if missing."""
    try:
        part = json.loads(output)
    except (ValueError, RecursionError):
        return False, None
    if not isinstance(part, dict):
        return False, None
    for key in keys:
        part = part.get(key) if isinstance(part, dict) else None
    return True, part


Count = Annotated[int, Field(ge=0)]
Wait = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _RetryPart(BaseModel):
    """The mapping under `retry`."""

    model_config = ConfigDict(strict=True, frozen=True)

    max_attempts: Count = 0
    backoff: Literal["fixed", "exponential"] | None = None
    initial_delay_seconds: Wait | None = None
    on: list[Annotated[str, Field(min_length=1)]] = []


_EXPECTED: Final = {
    "max_attempts": "an integer of at least 0",
    "backoff": "fixed or exponential",
    "initial_delay_seconds": "a number above 0",
    "on": "a list of strings, such as [timeout, rate_limit]",
}


def read_retry(step: PartReader) -> Retry | None:
    """Read the retry policy of a step, None if it has none."""
    given = step.mapping("retry")
    given.check_keys(_EXPECTED)
    try:
        part = _RetryPart.model_validate(given.part)
    except ValidationError as error:
        for field in dict.fromkeys(str(fault["loc"][0]) for fault in error.errors()):
            given.expected(_EXPECTED[field], given.part[field], field)
        return None
    if not part.max_attempts:
        return None
    wait = part.initial_delay_seconds or 1.0
    return Retry(part.max_attempts, part.backoff or "none", wait, tuple(part.on))
