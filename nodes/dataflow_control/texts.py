"""Node types for texts: taking them apart, putting them together, JSON."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from anyio.lowlevel import checkpoint

from dataflow_control.bounds import check_characters, check_items

__all__ = ["join_text", "parse_json", "replace_text", "split_lines", "split_text", "write_json"]


async def split_text(text: str, separator: str) -> list[str]:
    """Split a text at every separator; one without it gives itself.

    The separators are left out, empty pieces are not. At most 1,000,000 pieces. Raises ValueError for an
    empty separator or more pieces.
    """
    if not separator:
        raise ValueError("the separator is empty; expected at least one character")
    check_items(text.count(separator) + 1)
    return text.split(separator)


async def split_lines(text: str) -> list[str]:
    r"""Split a text into lines, without their ends: \n, \r\n or \r.

    An end at the very end begins no further line; an empty text has no lines. At most 1,000,000 lines. Raises
    ValueError for more.
    """
    ended = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    if not text:
        return []
    check_items(ended.count("\n") + 1)
    return ended.split("\n")


async def join_text(texts: list[str], separator: str = "") -> str:
    """Put texts together, with the separator between them.

    No texts give an empty one. At most 10,000,000 characters. Raises ValueError for more.
    """
    check_characters(sum(map(len, texts)) + len(separator) * max(0, len(texts) - 1))
    return separator.join(texts)


async def replace_text(text: str, old: str, new: str) -> str:
    """Put a new text in every place of an old one, from the left, without looking at what was put in.

    At most 10,000,000 characters. Raises ValueError for an empty old text or more characters.
    """
    if not old:
        raise ValueError("the text to replace is empty; expected at least one character")
    check_characters(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON; expected a number, text, boolean, null, list or object")


async def parse_json(text: str) -> Any:
    """Read a JSON text.

    Of two equal keys the last counts. At most 10,000,000 characters. Raises ValueError (json.JSONDecodeError
    with line and column) for what is no JSON, NaN and Infinity included, nested too deep or too long.
    """
    check_characters(len(text))
    try:
        return json.loads(text, parse_constant=_no_json)
    except RecursionError as error:
        raise ValueError("the JSON is nested too deep") from error


#: How many pieces of JSON are written before others get a turn.
AT_ONCE: Final = 10_000

_WRITERS: Final = {
    indented: json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2 if indented else None)
    for indented in (False, True)
}


async def write_json(value: Any, indented: bool = False) -> str:
    """Write a value as JSON, on one line, or indented by two blanks.

    A tuple becomes a list, a key that is a number, boolean or None a text. At most 10,000,000 characters.
    Raises TypeError for a value that JSON has not, ValueError for nan, infinity, a value that holds itself,
    one that is nested too deep, or more characters.
    """
    pieces: list[str] = []
    size = 0
    try:
        for count, piece in enumerate(_WRITERS[indented].iterencode(value), 1):
            size += len(piece)
            check_characters(size)  # at once: a small value may hold one list many times
            pieces.append(piece)
            if count % AT_ONCE == 0:
                await checkpoint()
    except RecursionError as error:
        raise ValueError("the value is nested too deep for JSON") from error
    return "".join(pieces)
