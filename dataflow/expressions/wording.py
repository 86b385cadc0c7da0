"""What jinja2 says of a source that it cannot parse, in the words of its author (S16.1)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["in_our_words"]

#: How jinja2 says that it has met something else than it can take.
_MET: Final = re.compile(
    r"(?:[Ee]xpected (?:token '(?P<expected>.+)'|an expression), got|[Uu]nexpected(?! char)) "
    r"'?(?P<found>end of [a-z ]+|.+?)'?(?:[,.] .+)?$"
)
_TAG: Final = re.compile("Encountered unknown tag '(.+?)'")
#: What it calls the ends, and what is said of one that comes too early.
_ENDS: Final = {
    "end of template": "ends too early",
    "end of print statement": "what stands in {{ }} ends too early",
    "end of statement block": "what stands in {% %} ends too early",
}


def in_our_words(message: str) -> str:
    """Turn a message of jinja2, which speaks of tokens and blocks, into one of ours."""
    if met := _MET.match(message):
        expected, found = met["expected"], met["found"]
        if found in _ENDS:
            return f"{_ENDS[found]}{': {% endif %} is missing' if 'endif' in message else ''}"
        if expected is None or expected in _ENDS:
            return f"unexpected {found!r}"
        return f"expected {expected!r}, found {found!r}"
    if tag := _TAG.match(message):  # the others were refused before
        return f"'{{% {tag[1]} %}}' belongs to no {{% if %}}"
    if message == "expected name or number":
        return "expected a name after '.'"
    if message.startswith("unexpected char "):
        return f"unexpected {message.split()[2]}"  # its place is one in what was prepared
    return message[:200]
