"""Paths of firings as people read and type them: the keys of items without percent-encoding."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from dataflow.base.wording import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["path_text", "read_path", "with_paths"]

#: An iteration, or an item by its number or its key; brackets inside a key are always encoded.
_KEY: Final = re.compile(r"\[[^\[\]]*\]")
#: The characters that have a meaning in paths, though not inside brackets, by their encoding.
_DECODED: Final = {"%2E": ".", "%2F": "/", "%20": " ", "%24": "$"}
_ENCODED: Final = {text: code for code, text in _DECODED.items()}
_CODES: Final = re.compile("|".join(_DECODED))
_CHARACTERS: Final = re.compile("[" + re.escape("".join(_ENCODED)) + "]")


def path_text(path: str) -> str:
    """Return a path, or the id of an ask, for people: `. / $` and spaces of keys as they are.

    All else that is percent-encoded remains so; `read_path` returns the path again.
    """
    if "%" in path:
        path = _KEY.sub(lambda key: _CODES.sub(lambda code: _DECODED[code[0]], key[0]), path)
    return visible(path)


def read_path(text: str) -> str:
    """Return the path that is meant by a text, in which the keys are encoded or not."""
    return _KEY.sub(lambda key: _CHARACTERS.sub(lambda one: _ENCODED[one[0]], key[0]), text)


def with_paths(text: str, paths: Iterable[str]) -> str:
    """Return a text for people in which these paths, and those above them, are written for people, too."""
    if "%" in text:
        known = {above for path in paths for above in accumulate(path.split("/"), "{}/{}".format)}
        for path in sorted((one for one in known if "%" in one), key=len, reverse=True):
            text = text.replace(path, path_text(path))
    return visible(text)
