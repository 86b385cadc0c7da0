"""The walk through a workflow: what one node hands to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

__all__ = ["Turn", "Walk"]

#: How many turns agents are told of.
MOST_TURNS: Final = 12
#: The input of a run that keeps what others said from every agent.
NO_SHARING: Final = "noSharedOutput"


@dataclass(frozen=True, slots=True)
class Turn:
    """What an agent gave, or what somebody replied whom it had asked."""

    speaker: str
    text: str
    is_reply: bool = False


@dataclass(frozen=True, slots=True)
class Walk:
    """The inputs of the run, the last turns, and how many there were."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    turns: tuple[Turn, ...] = ()
    count: int = 0

    @property
    def last(self) -> Turn | None:
        """The turn just before."""
        return self.turns[-1] if self.turns else None

    @property
    def follows_reply(self) -> bool:
        """Whether the turn just before was somebody's reply."""
        return self.last is not None and self.last.is_reply

    @property
    def shared(self) -> tuple[Turn, ...]:
        """The turns that an agent is told of."""
        return () if self.inputs.get(NO_SHARING) is True else self.turns

    def parameters(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a node, over which the inputs of the run count."""
        return {name: value for name, value in {**own, **self.inputs}.items() if name != NO_SHARING}

    def after(self, turn: Turn) -> Walk:
        """Return the walk one turn later."""
        return replace(self, turns=(*self.turns, turn)[-MOST_TURNS:], count=self.count + 1)
