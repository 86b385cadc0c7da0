"""Whether a value in JSON fits a JSON Schema that was checked before. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import isfinite
from typing import Any, Final

from pydantic import TypeAdapter

from dataflow import ValueMismatch
from dataflow.authoring import TypeField, check_json, shortened
from dataflow_agent.models.schemas import KINDS, referred

__all__ = ["check_fit"]

#: How many characters of what was found are told.
MOST_SHOWN: Final = 60

_type_of: Final = TypeAdapter[Any](TypeField).validate_python


def check_fit(value: Any, root: Mapping[str, Any]) -> None:
    """Check a value by a schema, and by all that it refers to; raises ValueMismatch with the place inside."""
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
    for inner, part, step in _parts(value, schema):
        _check(inner, part, root, place + step)


def _check_kind(value: Any, schema: Mapping[str, Any], place: str) -> None:
    """Check the type, what is listed, and the formats that have a type, as dates."""
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
    """Return the fault deepest inside, where the value came closest, or tell of all alternatives."""
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


def _parts(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any, str]]:
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
    """Write a value so that it is compared as JSON is: no bool is a number, and 1.0 is 1."""
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
    """Return a number as it is written: 0.1 is a tenth."""
    return Fraction(number if isinstance(number, int) else str(number))


def _are_different(items: list[Any], wanted: bool) -> bool:
    return not wanted or len(set(map(_compared, items))) == len(items)


def _written(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _found(value: Any) -> str:
    return f"{type(value).__name__} {shortened(repr(value), MOST_SHOWN)}"


#: What looks at a value alone: the type that each keyword is about, what it expects, and whether that fits.
_PLAIN: Final[Mapping[str, tuple[str, str, Callable[[Any, Any], bool]]]] = {
    "minimum": ("number", "at least {}", lambda value, bound: value >= bound),
    "maximum": ("number", "at most {}", lambda value, bound: value <= bound),
    "exclusiveMinimum": ("number", "more than {}", lambda value, bound: value > bound),
    "exclusiveMaximum": ("number", "less than {}", lambda value, bound: value < bound),
    "multipleOf": ("number", "a multiple of {}", _is_multiple),
    "minLength": ("string", "at least {} characters", lambda value, count: len(value) >= count),
    "maxLength": ("string", "at most {} characters", lambda value, count: len(value) <= count),
    "pattern": ("string", "text that matches {}", lambda value, pattern: bool(re.search(pattern, value))),
    "minItems": ("array", "at least {} items", lambda value, count: len(value) >= count),
    "maxItems": ("array", "at most {} items", lambda value, count: len(value) <= count),
    "uniqueItems": ("array", "items that differ", _are_different),
    "minProperties": ("object", "at least {} fields", lambda value, count: len(value) >= count),
    "maxProperties": ("object", "at most {} fields", lambda value, count: len(value) <= count),
}
