"""The places of what cannot be stored, written as one would write them in Python (S12.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from dataflow.base.wording import shortened
from dataflow.secrets.known import redacted

if TYPE_CHECKING:
    from dataflow.values.refusing import Refused

__all__ = ["MOST_LEVELS", "TOO_DEEP", "place_of", "step_into"]

MOST_LEVELS: Final = 200  # Python's own reader and writer of JSON stop at about 1,000
TOO_DEEP: Final = f"it is nested too deep; at most {MOST_LEVELS} levels of containers and objects are stored"
#: How many characters of a key and of a whole place are shown.
MOST_OF_KEY: Final = 60
MOST_STEPS: Final = 20
_SHOWN: Final = (int, float, bool, bytes, type(None))


def step_into(key: object) -> str:
    """Write the step to the value of a key; of a key that could not be shown whole, what it is."""
    if type(key) is str:
        return f"[{json.dumps(shortened(key, MOST_OF_KEY), ensure_ascii=False)}]"
    shown = repr(redacted(key)) if type(key) in _SHOWN and not _is_long(key) else type(key).__name__
    return f"[{shown}]"


def place_of(place: str, refused: Refused) -> tuple[str, object, str]:
    """Tell where something was refused, what it is and why; of what is in itself, where that closes."""
    path = refused.path[::-1]
    steps = [step for _, step in path]
    seen: dict[int, int] = {}
    for index, (holder, _) in enumerate(path):
        first = seen.setdefault(id(holder), index)
        if first != index:
            whole = _joined(place, steps[:first])
            return (
                _joined(place, steps[:index]),
                holder,
                f"it is in itself: it is {whole}; pass what it is made of",
            )
    return _joined(place, steps), refused.value, refused.reason


def _joined(place: str, steps: list[str]) -> str:
    rest = len(steps) - MOST_STEPS
    return place + "".join(steps[:MOST_STEPS]) + (f" and {rest} more steps" if rest > 0 else "")


def _is_long(key: object) -> bool:
    if isinstance(key, int):
        return key.bit_length() > 4 * MOST_OF_KEY
    return isinstance(key, bytes) and len(key) > MOST_OF_KEY
