"""Read the text of a YAML document by the core rules of YAML 1.2, with places.

Only `true` and `false` are booleans, so `on`, `off`, `yes` and `no` stay text, and so do dates, `1_000` and
`1:30`. Tags other than those of the core rules are refused, and nothing is ever made but text, numbers,
booleans, null, lists and mappings with text for keys.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from dataflow.base.wording import shortened
from dataflow.errors import FormatError
from dataflow.formats.tree import Lines, Tree, place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_yaml"]

#: libyaml where PyYAML was built with it: about twenty times as fast.
PARSER: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader

#: How many characters of a message of the parser's, which may quote the text, and of a value are shown.
MOST_CHARACTERS: Final = 200
MOST_OF_VALUE: Final = 60

_REFUSED: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAG: Final = "tag:yaml.org,2002:"

_WORDS: Final[Mapping[str, object]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FLOATS: Final[Mapping[str, float]] = {
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_BEGINS: Final = frozenset("~nNtTfF.+-0123456789")
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_BASES: Final = {"0o": 8, "0x": 16}


def read_yaml(text: str, tree: Tree) -> None:
    """Put a YAML text into the tree; raises FormatError."""
    refused = _REFUSED.search(text)
    if refused is not None:
        place = Lines(text).place(refused.start())
        tree.fail(f"character U+{ord(refused[0]):04X} may not stand in YAML", place)
    try:
        for event in yaml.parse(text, Loader=PARSER):
            _take(event, tree)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        assert mark is not None, "both parsers say where they are"
        reason = " ".join(part for part in (error.problem, error.context) if part)
        if "nesting depth" in reason:  # libyaml reads ahead, and has a limit of its own
            tree.fail_depth(place_of(mark.line + 1, mark.column + 1))
        raise FormatError(
            tree.name, f"is no YAML: {shortened(reason, MOST_CHARACTERS)}", mark.line + 1, mark.column + 1
        ) from error


def _take(event: yaml.Event, tree: Tree) -> None:
    mark: Any = event.start_mark
    place = place_of(mark.line + 1, mark.column + 1)
    match event:
        case yaml.ScalarEvent():
            tree.scalar(_value(event, tree, place), place, event.anchor)
        case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            if event.tag not in (None, "!", _TAG + ("map" if is_mapping else "seq")):
                _refuse_tag(event.tag, tree, place)
            tree.open({} if is_mapping else [], place, event.anchor)
        case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
            tree.close()
        case yaml.AliasEvent():
            tree.alias(str(event.anchor), place)
        case yaml.DocumentStartEvent() if tree.found:
            tree.fail("a second document begins here; a file holds one", place)


def _value(event: yaml.ScalarEvent, tree: Tree, place: int) -> object:
    text: str = event.value
    tag = event.tag
    if tag is None:
        return _plain(text, tree, place) if event.implicit[0] else text
    if tag in ("!", _TAG + "str"):
        return text
    kinds = {"null": type(None), "bool": bool, "int": int, "float": float}
    kind = kinds.get(tag.removeprefix(_TAG)) if tag.startswith(_TAG) else None
    if kind is None:
        _refuse_tag(tag, tree, place)
    value = _plain(text, tree, place)
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        tree.fail(f"{shortened(text, MOST_OF_VALUE)!r} is no {tag.removeprefix(_TAG)}", place)
    return value


def _plain(text: str, tree: Tree, place: int) -> object:
    """Read an unquoted text by the core rules."""
    if text and text[0] not in _BEGINS:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text in _FLOATS:
        return _FLOATS[text]
    if _INT.fullmatch(text):
        return tree.number(text, _int, place)
    return tree.number(text, float, place) if _FLOAT.fullmatch(text) else text


def _int(text: str) -> int:
    base = _BASES.get(text[:2])
    return int(text[2:], base) if base else int(text)


def _refuse_tag(tag: str, tree: Tree, place: int) -> None:
    written = f"!!{tag.removeprefix(_TAG)}" if tag.startswith(_TAG) else tag
    tree.fail(f"tag {shortened(written, MOST_OF_VALUE)} is not known here", place)
