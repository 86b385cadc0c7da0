"""The names that tools have for models: legal for every provider, and each for one tool only."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

__all__ = ["MOST_CHARACTERS", "names_of", "parts_of"]

#: The longest name that every provider takes.
MOST_CHARACTERS: Final = 64
#: How much of a digest tells two names apart that would be one otherwise.
DIGITS: Final = 8

_ILLEGAL: Final = re.compile(r"[^A-Za-z0-9_-]")


def parts_of(reference: str) -> Sequence[str]:
    """Return what a function that is given as `module:qualname` is in, and its own name at the end."""
    return re.split("[.:]", reference)


def names_of(parts: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Name tools, given by what each is in, with its own name at the end, under references that all differ.

    A name is letters, digits, `_` and `-`, at most 64: the tool's own, with so much of what it is in before
    it as tells it from the others. Where that is too long, or has letters that are not legal, a digest of
    the reference stands at its end. The names follow from what is given, in whatever order.
    """
    short = {reference: _shortest(reference, parts) for reference in parts}
    often = Counter(short.values())
    return {
        reference: name if often[name] == 1 and _is_legal(name) else _digested(name, reference)
        for reference, name in short.items()
    }


def _shortest(reference: str, parts: Mapping[str, Sequence[str]]) -> str:
    own = parts[reference]
    for count in range(1, len(own) + 1):
        ending = own[-count:]
        if sum(1 for other in parts.values() if [*other[-count:]] == [*ending]) == 1:
            return "_".join(ending)
    return "_".join(own)


def _is_legal(name: str) -> bool:
    return len(name) <= MOST_CHARACTERS and _ILLEGAL.search(name) is None


def _digested(name: str, reference: str) -> str:
    digest = sha256(reference.encode()).hexdigest()[:DIGITS]
    return f"{_ILLEGAL.sub('_', name)[: MOST_CHARACTERS - DIGITS - 1]}_{digest}"
