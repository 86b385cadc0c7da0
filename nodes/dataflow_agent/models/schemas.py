"""The subset of JSON Schema that typed answers may use, and its validation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import inf, isfinite
from typing import Any, Final

from pydantic import TypeAdapter

from dataflow import ArgumentInvalid, ValueMismatch
from dataflow.authoring import TypeField, check_json, shortened
from dataflow_agent.diagnostics.models import (
    SCHEMA_CYCLIC,
    SCHEMA_INVALID,
    SCHEMA_KEYWORD_UNSUPPORTED,
    SCHEMA_REFERENCE_UNKNOWN,
)

__all__ = ["DEFINITIONS", "KINDS", "check_fit", "check_schema"]

#: The keywords that contain shared definitions.
DEFINITIONS: Final = ("$defs", "definitions")
#: The Python classes of each JSON type; a bool is not a number.
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
#: How many characters an error quotes of a value.
MOST_SHOWN: Final = 60
_type_of: Final = TypeAdapter[Any](TypeField).validate_python


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise ValueError for a schema that cannot be checked, with the location in it."""
    todo: list[tuple[str, Any]] = [("", schema)]
    while todo:
        place, one = todo.pop()
        if isinstance(one, bool):
            continue
        if not isinstance(one, dict):
            raise ArgumentInvalid(SCHEMA_INVALID(place, expected="a JSON Schema", found=repr(one)))
        for keyword, operand in one.items():
            _check_operand(f"{place}.{keyword}".lstrip("."), keyword, operand)
        if "$ref" in one:
            referred(schema, one["$ref"], place)
        todo += ((f"{place}.{step}".lstrip("."), part) for step, part in _parts(one))
    _check_references(schema)


def referred(root: Mapping[str, Any], reference: str, place: str = "") -> Any:
    """Return the definition that a `$ref` at a place refers to; raises ValueError if there is none."""
    found = _REFERENCE.match(reference)
    name = found[2].replace("~1", "/").replace("~0", "~") if found else ""
    shared = root.get(found[1], {}) if found else {}
    if name not in shared:
        known = [f"#/{key}/{one}" for key in DEFINITIONS for one in root.get(key, ())]
        raise ArgumentInvalid(SCHEMA_REFERENCE_UNKNOWN(place, reference=reference, available=known))
    return shared[name]


def _check_operand(place: str, keyword: str, operand: Any) -> None:
    if keyword in _ANNOTATIONS or keyword in _ONE or keyword == "const":
        return
    if keyword not in _EXPECTED:
        raise ArgumentInvalid(SCHEMA_KEYWORD_UNSUPPORTED(place, keyword=keyword))
    expected, fits = _EXPECTED[keyword]
    if not fits(operand):
        raise ArgumentInvalid(SCHEMA_INVALID(place, expected=expected, found=repr(operand)))


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the direct subschemas of a schema, each with its path."""
    for keyword, operand in schema.items():
        if keyword in _ONE:
            yield keyword, operand
        elif keyword in _LISTS:
            yield from ((f"{keyword}.{number}", part) for number, part in enumerate(operand))
        elif keyword in _MAPPINGS:
            yield from ((f"{keyword}.{name}", part) for name, part in operand.items())


def _check_references(schema: Mapping[str, Any]) -> None:
    """Refuse cyclic definitions that do not descend into the value: checking would not end."""
    leads = {
        f"#/{key}/{name.replace('~', '~0').replace('/', '~1')}": set(_same_value(definition))
        for key in DEFINITIONS
        for name, definition in schema.get(key, {}).items()
    }
    try:
        TopologicalSorter(leads).prepare()
    except CycleError as error:
        raise ArgumentInvalid(SCHEMA_CYCLIC(path=" -> ".join(error.args[1]))) from None


def _same_value(schema: Any) -> Iterator[str]:
    """Yield the references that this schema applies to the same value."""
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
#: The expected operand of each keyword.
_EXPECTED: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "$ref": ("a string", _is_text),
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
#: Keywords without influence on which values fit.
_ANNOTATIONS: Final = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"}
    | {"readOnly", "writeOnly", "format", "discriminator"}
    | {"contentMediaType", "contentEncoding", "contentSchema"}
)


def check_fit(value: Any, root: Mapping[str, Any]) -> None:
    """Validate a value against a schema; raises ValueMismatch with the location in the value."""
    _check(value, root, root, "")


def _check(value: Any, schema: Any, root: Mapping[str, Any], place: str) -> None:
    if schema is True:
        return
    if schema is False:
        raise ValueMismatch(_found(value), "nothing", place)
    if "$ref" in schema:
        _check(value, referred(root, schema["$ref"]), root, place)
    _check_kind(value, schema, place)
    for keyword, (kind, expected, fits) in _PLAIN.items():
        if keyword in schema and _is_of(value, kind) and not fits(value, schema[keyword]):
            raise ValueMismatch(_found(value), expected.format(_written(schema[keyword])), place)
    _check_choices(value, schema, root, place)
    for inner, part, step in _parts_of_value(value, schema):
        _check(inner, part, root, place + step)


def _check_kind(value: Any, schema: Mapping[str, Any], place: str) -> None:
    """Validate type, enumerated values, formats that have a type, as dates, and required fields."""
    names = schema.get("type", [*KINDS])
    kinds = names if isinstance(names, list) else [names]
    if not any(_is_of(value, kind) for kind in kinds):
        raise ValueMismatch(_found(value), " or ".join(kinds), place)
    if "enum" in schema:
        _check_listed(value, schema["enum"], place)
    if "const" in schema:
        _check_listed(value, [schema["const"]], place)
    if "format" in schema and isinstance(value, str):
        try:
            check_json(value, _type_of({"type": "string", "format": schema["format"]}))
        except ValueMismatch as mismatch:
            raise ValueMismatch(mismatch.found, mismatch.expected, place) from None
    if isinstance(value, dict):
        for name in schema.get("required", ()):
            if name not in value:
                raise ValueMismatch("nothing", "a value", f"{place}.{name}")


def _check_listed(value: Any, allowed: list[Any], place: str) -> None:
    if not any(_is_same(value, one) for one in allowed):
        raise ValueMismatch(_found(value), " or ".join(map(_written, allowed)), place)


def _check_choices(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> None:
    for option in schema.get("allOf", ()):
        _check(value, option, root, place)
    if "not" in schema and _fault(value, schema["not"], root, place) is None:
        raise ValueMismatch(_found(value), "what does not fit the schema of `not`", place)
    for keyword in ("anyOf", "oneOf"):
        faults = [_fault(value, option, root, place) for option in schema.get(keyword, ())]
        fitting = faults.count(None)
        if keyword == "oneOf" and fitting > 1:
            raise ValueMismatch(_found(value), f"what fits one alternative alone, not {fitting}", place)
        if faults and not fitting:
            raise _nearest([fault for fault in faults if fault is not None], place)


def _nearest(faults: list[ValueMismatch], place: str) -> ValueMismatch:
    """Return the deepest mismatch, of the closest alternative, or one that lists all alternatives."""
    deepest = max(faults, key=lambda fault: len(fault.place))
    if deepest.place != place:
        return deepest
    return ValueMismatch(deepest.found, " or ".join(dict.fromkeys(fault.expected for fault in faults)), place)


def _fault(value: Any, schema: Any, root: Mapping[str, Any], place: str) -> ValueMismatch | None:
    try:
        _check(value, schema, root, place)
    except ValueMismatch as mismatch:
        return mismatch
    return None


def _parts_of_value(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any, str]]:
    """Yield what is inside a value with the schema that it is to fit, and the step to it."""
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        rest = schema.get("items", True)
        for number, item in enumerate(value):
            yield item, first[number] if number < len(first) else rest, f"[{number}]"
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name, schema.get("propertyNames", True), f".{name}"
            for part in _parts_of_field(name, schema):
                yield item, part, f".{name}"


def _parts_of_field(name: str, schema: Mapping[str, Any]) -> list[Any]:
    fields = schema.get("properties", {})
    parts = [fields[name]] if name in fields else []
    parts += [
        part for pattern, part in schema.get("patternProperties", {}).items() if re.search(pattern, name)
    ]
    return parts or [schema.get("additionalProperties", True)]


def _is_of(value: Any, kind: str) -> bool:
    is_of_class = isinstance(value, KINDS[kind])
    return is_of_class and (kind == "boolean" or not isinstance(value, bool))


def _is_same(one: Any, other: Any) -> bool:
    return _compared(one) == _compared(other)


def _compared(value: Any) -> str:
    """Return a value in a form for comparison as JSON: a bool is not a number, and 1.0 equals 1."""
    return _written(_in_one_form(value))


def _in_one_form(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_in_one_form(item) for item in value]
        case dict():
            return {name: _in_one_form(item) for name, item in value.items()}
        case _:
            return value


def _is_multiple(value: float, step: float) -> bool:
    return (isinstance(value, int) or isfinite(value)) and _exact(value) % _exact(step) == 0


def _exact(number: float) -> Fraction:
    """Return a number by its decimal form: 0.1 is exactly one tenth."""
    return Fraction(number if isinstance(number, int) else str(number))


def _are_different(items: list[Any], wanted: bool) -> bool:
    return not wanted or len(set(map(_compared, items))) == len(items)


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _found(value: Any) -> str:
    return f"{type(value).__name__} {shortened(repr(value), MOST_SHOWN)}"


#: Keywords that constrain a single value: the type that they apply to, the expectation, and the test.
_PLAIN: Final[Mapping[str, tuple[str, str, Callable[[Any, Any], bool]]]] = {
    "minimum": ("number", "at least {}", lambda value, bound: value >= bound),
    "maximum": ("number", "at most {}", lambda value, bound: value <= bound),
    "exclusiveMinimum": ("number", "more than {}", lambda value, bound: value > bound),
    "exclusiveMaximum": ("number", "less than {}", lambda value, bound: value < bound),
    "multipleOf": ("number", "a multiple of {}", _is_multiple),
    "minLength": ("string", "at least {} characters", lambda value, count: len(value) >= count),
    "maxLength": ("string", "at most {} characters", lambda value, count: len(value) <= count),
    "pattern": ("string", "a string that matches {}", lambda value, pattern: bool(re.search(pattern, value))),
    "minItems": ("array", "at least {} items", lambda value, count: len(value) >= count),
    "maxItems": ("array", "at most {} items", lambda value, count: len(value) <= count),
    "uniqueItems": ("array", "items that differ", _are_different),
    "minProperties": ("object", "at least {} fields", lambda value, count: len(value) >= count),
    "maxProperties": ("object", "at most {} fields", lambda value, count: len(value) <= count),
}
