"""Which JSON Schemas answers can be checked by: a keyword that nobody would check is refused. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from math import inf
from typing import Any, Final

__all__ = ["DEFINITIONS", "KINDS", "check_schema", "referred"]

#: Where a schema has what it refers to.
DEFINITIONS: Final = ("$defs", "definitions")
#: What each JSON type is in Python; no bool is a number.
KINDS: Final[Mapping[str, type | tuple[type, ...]]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
_REFERENCE: Final = re.compile(r"#/(\$defs|definitions)/([^/]+)\Z")


def check_schema(schema: Mapping[str, Any]) -> None:
    """Refuse a schema that says what cannot be checked; raises ValueError with the place inside it."""
    todo: list[tuple[str, Any]] = [("", schema)]
    while todo:
        place, one = todo.pop()
        if isinstance(one, bool):
            continue
        if not isinstance(one, dict):
            raise ValueError(f"{place or 'the schema'}: expected a JSON Schema, found {one!r}")
        for keyword, operand in one.items():
            _check_operand(f"{place}.{keyword}".lstrip("."), keyword, operand)
        if "$ref" in one:
            referred(schema, one["$ref"])
        todo += ((f"{place}.{step}".lstrip("."), part) for step, part in _parts(one))
    _check_references(schema)


def referred(root: Mapping[str, Any], reference: str) -> Any:
    """Return the definition that a reference leads to; raises ValueError if there is none."""
    found = _REFERENCE.match(reference)
    if found is None:
        raise ValueError(f"$ref {reference!r} cannot be followed; expected #/$defs/NAME")
    name = found[2].replace("~1", "/").replace("~0", "~")
    shared = root.get(found[1], {})
    if name not in shared:
        raise ValueError(f"$ref {reference!r} leads to nothing in this schema")
    return shared[name]


def _check_operand(place: str, keyword: str, operand: Any) -> None:
    if keyword in _ANNOTATIONS or keyword in _ONE or keyword == "const":
        return
    if keyword not in _EXPECTED:
        raise ValueError(f"{place}: answers cannot be checked by {keyword!r}")
    expected, fits = _EXPECTED[keyword]
    if not fits(operand):
        raise ValueError(f"{place}: expected {expected}, found {operand!r}")


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the schemas in a schema, each with the steps that lead to it."""
    for keyword, operand in schema.items():
        if keyword in _ONE:
            yield keyword, operand
        elif keyword in _LISTS:
            yield from ((f"{keyword}.{number}", part) for number, part in enumerate(operand))
        elif keyword in _MAPPINGS:
            yield from ((f"{keyword}.{name}", part) for name, part in operand.items())


def _check_references(schema: Mapping[str, Any]) -> None:
    """Refuse definitions that lead to each other without a step into the value: checking would not end."""
    leads = {
        f"#/{key}/{name.replace('~', '~0').replace('/', '~1')}": set(_same_value(definition))
        for key in DEFINITIONS
        for name, definition in schema.get(key, {}).items()
    }
    try:
        TopologicalSorter(leads).prepare()
    except CycleError as error:
        raise ValueError(f"definitions that lead to each other: {' -> '.join(error.args[1])}") from None


def _same_value(schema: Any) -> Iterator[str]:
    """Yield the references by which a value is checked if it is checked by this schema."""
    todo = [schema]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            if "$ref" in one:
                yield one["$ref"]
            todo += [one.get("not"), *(part for keyword in _CHOICES for part in one.get(keyword, ()))]


def _is_number(found: Any) -> bool:
    return type(found) in (int, float)


def _is_count(found: Any) -> bool:
    return type(found) is int and found >= 0


def _is_text(found: Any) -> bool:
    return isinstance(found, str)


def _is_pattern(found: Any) -> bool:
    try:
        re.compile(found)
    except (TypeError, re.error):
        return False
    return True


def _are_texts(found: Any) -> bool:
    return isinstance(found, list) and all(map(_is_text, found))


def _are_types(found: Any) -> bool:
    names = found if isinstance(found, list) else [found]
    return bool(names) and all(_is_text(name) and name in KINDS for name in names)


def _is_list(found: Any) -> bool:
    return isinstance(found, list) and bool(found)


def _is_mapping(found: Any) -> bool:
    return isinstance(found, dict)


def _has_patterns(found: Any) -> bool:
    return isinstance(found, dict) and all(map(_is_pattern, found))


_CHOICES: Final = ("allOf", "anyOf", "oneOf")
_ONE: Final = ("items", "additionalProperties", "propertyNames", "not")  # each a schema
_LISTS: Final = (*_CHOICES, "prefixItems")
_MAPPINGS: Final = ("properties", "patternProperties", *DEFINITIONS)
_NUMBER: Final = ("a number", _is_number)
_COUNT: Final = ("a number of at least 0", _is_count)
#: What each keyword takes.
_EXPECTED: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "$ref": ("text", _is_text),
    "type": (f"one or several of {', '.join(KINDS)}", _are_types),
    "enum": ("a list that is not empty", _is_list),
    "pattern": ("a regular expression", _is_pattern),
    "patternProperties": ("a mapping of regular expressions", _has_patterns),
    "multipleOf": ("a number above 0", lambda found: _is_number(found) and 0 < found < inf),
    "uniqueItems": ("true or false", lambda found: isinstance(found, bool)),
    "required": ("a list of names", _are_texts),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT
    ),
    **dict.fromkeys(_LISTS, ("a list that is not empty", _is_list)),
    **dict.fromkeys(("properties", *DEFINITIONS), ("a mapping", _is_mapping)),
}
#: What says nothing about which values fit.
_ANNOTATIONS: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"}
    | {"readOnly", "writeOnly", "format", "discriminator"}
    | {"contentMediaType", "contentEncoding", "contentSchema"}
)
