"""Write a document as readable YAML that reads back the same under YAML 1.1 and 1.2.

Short values are written in one line, as `{type: text.split, inputs: {doc: page}}`; nodes and edges always
have their own lines.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["write_yaml"]

WIDTH: Final = 110
#: The maximum length of a key in the line of its colon (YAML 1.2, 7.4.2).
LONGEST_KEY: Final = 1000
#: Fields whose entries have their own lines.
SPREAD: Final = frozenset({"nodes", "edges"})

_PLAIN: Final = re.compile(r"(?:\.{0,2}/|\$)?[^\W\d](?:[\w.$/%+-]++|:(?=[\w$./])| (?=[\w$./]))*+")
#: Plain strings that some readers convert to another type.
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_UNPRINTED: Final = "^\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_ESCAPED: Final = re.compile(rf'["\\]|[{_UNPRINTED}]')
_UNFIT_FOR_LINES: Final = re.compile(rf"\A\s|\n\n\Z|[{_UNPRINTED}\n]")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write_yaml(document: dict[str, Any]) -> str:
    """Write a document of plain JSON values, including nan and infinity."""
    return "\n".join(_mapping(document, 0)) + "\n"


def _mapping(value: dict[str, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, item in value.items():
        written = _scalar(key)
        if len(written) > LONGEST_KEY:
            yield f"{pad}? {written}"
            written = ""
        yield from _entry(f"{pad}{written}:", item, indent, _is_spread(key, item))


def _sequence(value: list[Any], indent: int) -> Iterator[str]:
    for item in value:
        yield from _entry(f"{' ' * indent}-", item, indent, spread=False)


def _entry(head: str, item: Any, indent: int, spread: bool) -> Iterator[str]:
    """Write an entry after its key or dash: in the same line if it fits, else below."""
    if isinstance(item, str) and "\n" in item and not _UNFIT_FOR_LINES.search(item):
        yield f"{head} |" if item.endswith("\n") else f"{head} |-"
        pad = " " * (indent + 2)
        yield from (pad + line if line else "" for line in item.removesuffix("\n").split("\n"))
        return
    flow = None if spread else _flow(item, WIDTH - len(head) - 1)
    if flow is not None:
        yield f"{head} {flow}"
        return
    yield head
    yield from _mapping(item, indent + 2) if isinstance(item, dict) else _sequence(item, indent + 2)


def _is_spread(key: object, item: object) -> bool:
    return key in SPREAD and isinstance(item, dict | list) and bool(item)


def _flow(value: Any, room: int) -> str | None:
    """Write a value in one line; None if it does not fit or has entries with their own lines."""
    if not isinstance(value, dict | list) or not value:
        return _scalar(value)
    parts: list[str] = []
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if _is_spread(key, item) or (isinstance(item, str) and ("\n" in item or len(item) > room)):
            return None
        head = f"{_scalar(key)}: " if isinstance(value, dict) else ""
        part = _flow(item, room - len(head) - 2)
        if part is None:
            return None
        parts.append(head + part)
        room -= len(head) + len(part) + 2
        if room < 0:
            return None
    return f"{{{', '.join(parts)}}}" if isinstance(value, dict) else f"[{', '.join(parts)}]"


def _scalar(value: object) -> str:
    """Write a string, a number, a boolean, null, or an empty list or mapping."""
    if isinstance(value, str):
        is_plain = _PLAIN.fullmatch(value) and value.casefold() not in _WORDS
        return value if is_plain else '"' + _ESCAPED.sub(_escape, value) + '"'
    if isinstance(value, float):
        return _float(value)
    return json.dumps(value)


def _float(value: float) -> str:
    text = repr(value)
    if text.lstrip("-") in ("inf", "nan"):
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, e, exponent = text.partition("e")
    return text if "." in mantissa or not e else f"{mantissa}.0e{exponent}"


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    number = ord(char)
    return _ESCAPES.get(char) or (f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}")
