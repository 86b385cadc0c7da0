"""What a flat flow has come to while it is played: its rounds, its frames, and ports without a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tests.properties.feedback_flows import Wire
    from tests.properties.plain_loops import Loop


@dataclass(frozen=True, slots=True)
class Dead:
    """A port without a value."""

    failed: bool = False


#: What an edge brings in a round in which it does not count.
ABSENT: Final = Dead()
SKIPPED: Final = Dead()
FAILED: Final = Dead(failed=True)


@dataclass(eq=False)
class Round:
    """One round of a loop, or the run: what has fired in it, and the loops that were played in it."""

    path: str
    loop: Loop | None = None
    outer: Round | None = None
    number: int = 0
    carried: dict[Wire, Any] = field(default_factory=dict)
    ports: dict[int, dict[str, Any]] = field(default_factory=dict)
    played: dict[Loop, list[Round] | Dead] = field(default_factory=dict)
    has_failed: bool = False
    maps: dict[int, Map] = field(default_factory=dict)
    item: Any = None  # of a frame of a map
    cell: int | None = None  # of a frame: the node that opens the map


@dataclass(eq=False)
class Map:
    """A map over edges: its frames by index, and what all its lists are if they are no lists."""

    frames: dict[str, Round] = field(default_factory=dict)
    lists: Dead | None = None
