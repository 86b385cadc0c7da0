"""What the reference computes with: ports without a value, firings, frames, and how values are joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dataflow.base.failure import Failure
from dataflow.formats.native.document import BlockPart


@dataclass(frozen=True, slots=True)
class Dead:
    """A port without a value: a skip, or an error if it has a failure. It began at one of the `origins`."""

    origins: frozenset[str]
    failure: Failure | None = None


@dataclass(slots=True)
class Firing:
    """What a node came to: `rest` is every port not in `ports`, `failures` are those it does not handle.

    `races` are those that its failures are left to (S9.4).
    """

    state: str
    ports: dict[str, Any] = field(default_factory=dict)
    rest: Any = None
    failures: tuple[Failure, ...] = ()
    races: tuple[object, ...] = ()


@dataclass(slots=True, eq=False)
class Frame:
    """One instance of a scope; `given` is what `$in`, `$carry` and `$item` name in it.

    `head` is the node that has opened it by `each`, and has the path of the frame itself (S2.2).
    """

    block: BlockPart
    path: str
    given: dict[str, dict[str, Any]]
    errors: str
    outer: Frame | None = None
    firings: dict[str, Firing] = field(default_factory=dict)
    opened: dict[str, list[Frame]] = field(default_factory=dict)
    lost: list[object] = field(default_factory=list)  # races that ended in an error
    head: str = ""

    def path_of(self, id: str) -> str:
        if id == self.head:
            return self.path
        return f"{self.path}/{id}" if self.path else id

    def failures(self) -> tuple[Failure, ...]:
        """List what failed in here and was not handled, in declared order."""
        fired = [self.firings[id] for id in self.block.nodes if id in self.firings]
        return tuple(failure for firing in fired if self._counts(firing) for failure in firing.failures)

    def failing(self) -> set[str]:
        """Name the nodes of this block whose failures are those of the frame."""
        return {id for id, firing in self.firings.items() if firing.failures and self._counts(firing)}

    def _counts(self, firing: Firing) -> bool:
        return not firing.races or any(race is lost for race in firing.races for lost in self.lost)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to: its outputs, and the firing of every path with the frame it is in."""

    outputs: dict[str, Any]
    firings: dict[str, tuple[Firing, Frame]]
    root: Frame


class BrokenFlowError(Exception):
    """What the engine itself finds wrong; `kind` is the type of the exception that it raises."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


def is_error(token: Any) -> bool:
    return isinstance(token, Dead) and token.failure is not None


def is_skip(token: Any) -> bool:
    return isinstance(token, Dead) and token.failure is None


def joined(tokens: Iterable[Any], *places: str) -> Dead:
    """Make one of ports without a value: the first error, if there is one, else a skip."""
    dead = [token for token in tokens if isinstance(token, Dead)]
    errors = [token for token in dead if is_error(token)]
    origins = frozenset(places).union(*(token.origins for token in errors or dead))
    return Dead(origins, errors[0].failure if errors else None)


def listed(tokens: Sequence[Any]) -> Any:
    """List the live ones: an error among them makes an error, none a skip (S4.2, S5.1, S5.3)."""
    live = [token for token in tokens if not isinstance(token, Dead)]
    return joined(tokens) if any(map(is_error, tokens)) or not live else live
