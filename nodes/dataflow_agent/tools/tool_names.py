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
    it as tells it from the others. Where that is not legal, or is the name of another, a digest of the
    reference stands at its end. The names follow from what is given, in whatever order.
    """
    short = {reference: _shortest(reference, parts) for reference in parts}
    digits = {reference: 0 if _is_legal(name) else DIGITS for reference, name in short.items()}
    while True:
        names = {
            reference: _digested(name, reference, digits[reference]) for reference, name in short.items()
        }
        often = Counter(names.values())
        clashing = [reference for reference, name in names.items() if often[name] > 1]
        if not clashing:
            return names
        fewest = min(digits[reference] for reference in clashing)
        for reference in clashing:  # a name with a digest stays, and the one that is like it gives way
            digits[reference] += DIGITS if digits[reference] == fewest else 0


def _shortest(reference: str, parts: Mapping[str, Sequence[str]]) -> str:
    own = parts[reference]
    for count in range(1, len(own) + 1):
        ending = own[-count:]
        if sum(1 for other in parts.values() if [*other[-count:]] == [*ending]) == 1:
            return "_".join(ending)
    return "_".join(own)


def _is_legal(name: str) -> bool:
    return 0 < len(name) <= MOST_CHARACTERS and _ILLEGAL.search(name) is None


def _digested(name: str, reference: str, digits: int) -> str:
    if not digits:
        return name
    digest = sha256(reference.encode()).hexdigest()[:digits]
    return f"{_ILLEGAL.sub('_', name)[: MOST_CHARACTERS - digits - 1]}_{digest}"
