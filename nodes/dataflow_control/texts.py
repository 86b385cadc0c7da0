"""Node types that split, join and replace text, and read and write JSON."""

from __future__ import annotations

import json
import sys
from math import isinf
from typing import Any, NoReturn

from dataflow import ArgumentInvalid, Diagnostic
from dataflow_control.diagnostics import JSON_CONSTANT, JSON_TOO_DEEP, JSON_VALUE, TEXT_EMPTY, TOO_LARGE
from dataflow_control.limits import Work, check_characters, check_items, plain_list, plain_text

__all__ = ["join_text", "parse_json", "replace_text", "split_lines", "split_text", "write_json"]


async def split_text(text: str, separator: str) -> list[str]:
    """Split a text at every separator; one without it gives itself.

    The separators are left out, empty pieces are not. At most 1,000,000 pieces. Raises ValueError for an
    empty separator or more pieces.
    """
    if not separator:
        raise ArgumentInvalid(TEXT_EMPTY("separator"))
    text = plain_text(text)
    check_items(text.count(separator) + 1)
    return text.split(separator)


async def split_lines(text: str) -> list[str]:
    r"""Split a text into lines, without their ends: \n, \r\n or \r.

    An end at the very end begins no further line; an empty text has no lines. At most 1,000,000 lines. Raises
    ValueError for more.
    """
    text = plain_text(text)
    ended = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    if not text:
        return []
    check_items(ended.count("\n") + 1)
    return ended.split("\n")


async def join_text(texts: list[str], separator: str = "") -> str:
    """Put texts together, with the separator between them.

    No texts give an empty one. At most 10,000,000 characters. Raises ValueError for more.
    """
    texts, separator = [plain_text(text) for text in plain_list(texts)], plain_text(separator)
    check_characters(sum(map(len, texts)) + len(separator) * max(0, len(texts) - 1))
    return separator.join(texts)


async def replace_text(text: str, old: str, new: str) -> str:
    """Put a new text in every place of an old one, from the left, without looking at what was put in.

    At most 10,000,000 characters. Raises ValueError for an empty old text or more characters.
    """
    if not old:
        raise ArgumentInvalid(TEXT_EMPTY("old"))
    text, old, new = plain_text(text), plain_text(old), plain_text(new)
    check_characters(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


async def parse_json(text: str) -> Any:
    """Read a JSON text.

    Of two equal keys the last counts. At most 10,000,000 characters. Raises ValueError (json.JSONDecodeError
    with line and column) for invalid JSON, NaN and Infinity included, for a number that is too large,
    nested too deep or too long.
    """
    text = plain_text(text)
    check_characters(len(text))
    try:
        return json.loads(text, parse_constant=_no_json, parse_int=_integer, parse_float=_finite)
    except RecursionError as error:
        raise ArgumentInvalid(JSON_TOO_DEEP("text")) from error


def _no_json(name: str) -> NoReturn:
    raise ArgumentInvalid(JSON_CONSTANT(name=name))


def _integer(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:  # whose message is advice for Python programmers
        raise ArgumentInvalid(_too_many_digits(f"{len(digits.removeprefix('-')):,}")) from error


def _finite(digits: str) -> float:
    """Read a finite number: infinity could not be written as JSON again."""
    number = float(digits)
    if isinf(number):
        shown = digits if len(digits) <= 20 else f"{digits[:17]}..."
        expected = "a magnitude below 1.8e308"
        raise ArgumentInvalid(TOO_LARGE(what=f"the number {shown}", expected=expected))
    return number


def _too_many_digits(found: str = "") -> Diagnostic:
    expected = f"at most {sys.get_int_max_str_digits():,} digits"
    return TOO_LARGE(what="an integer", expected=expected, found=found)


async def write_json(value: Any, indented: bool = False) -> str:
    """Write a value as JSON, on one line, or indented by two blanks.

    A tuple becomes a list, a key that is a number, boolean or None a text. At most 10,000,000 characters.
    Raises TypeError for a value that JSON has not, ValueError for nan, infinity, a value that holds itself,
    one that is nested too deep, or more characters.
    """
    writer = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2 if indented else None)
    pieces: list[str] = []
    size, work = 0, Work()
    try:
        for piece in writer.iterencode(value):
            size += len(piece)
            check_characters(size)  # before the next piece: a small value may hold one list many times
            pieces.append(piece)
            work.spend(1 + len(piece))
            await work.turn()
    except RecursionError as error:
        raise ArgumentInvalid(JSON_TOO_DEEP("value")) from error
    except ValueError as error:
        if (problem := _problem_of(error)) is None:
            raise
        raise ArgumentInvalid(problem) from error
    return "".join(pieces)


def _problem_of(error: ValueError) -> Diagnostic | None:
    """Return the problem of an error of the JSON writer, or None if it is not known."""
    for theirs, ours in (
        ("Circular reference", JSON_VALUE(problem="contains itself")),
        ("Out of range float", JSON_VALUE(problem="has nan or infinity")),
        ("Exceeds the limit", _too_many_digits()),
    ):
        if theirs in str(error):
            return ours
    return None
