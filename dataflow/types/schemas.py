"""Check JSON Schemas, and values by them, with the library `jsonschema`; a type may be one with a schema."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, get_args, get_origin

from pydantic_core import (
    PydanticSerializationError,
    SchemaError,
    SchemaValidator,
    core_schema,
    to_jsonable_python,
)

from dataflow.base.scalars import plain_number
from dataflow.base.wording import shortened
from dataflow.diagnostics.node_types import (
    SCHEMA_CYCLIC,
    SCHEMA_DRAFT_UNKNOWN,
    SCHEMA_FORMAT_UNCHECKED,
    SCHEMA_INVALID,
    SCHEMA_KEYWORD_UNCHECKED,
    SCHEMA_PATTERN_UNCHECKED,
    SCHEMA_REFERENCE_REMOTE,
    SCHEMA_REFERENCE_UNKNOWN,
    SCHEMA_TYPE_UNKNOWN,
)
from dataflow.errors import ArgumentInvalid
from dataflow.maximums import maximum
from dataflow.types.string_formats import FORMATS, has_format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "ABSENT",
    "TYPE_NAMES",
    "JsonSchema",
    "Misfit",
    "schema_of_type",
    "unknown_type",
]

#: The names of the JSON types.
TYPE_NAMES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
#: The maximum number of characters of a pattern, and of a string that is compared with one. Matching takes
#: time in proportion to their product, so that no pattern of a document takes longer than about a second.
MOST_PATTERN: Final = maximum("PATTERN_CHARACTERS", 1_000)
MOST_MATCHED: Final = maximum("MATCHED_CHARACTERS", 100_000)
MOST_SHOWN: Final = 80
#: The only look-ahead that is known begins the pattern that pydantic 2.12 writes for decimal numbers.
_NO_DIGIT: Final = r"^[-+.]*$"
_DECIMAL: Final = f"^(?!{_NO_DIGIT})"
#: A class of characters, or an escaped character outside of one.
_CLASS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
#: In a class an escaped character, or what begins an inner class or set operator; `!--` is a range up to `-`.
_OPERATOR: Final = re.compile(r"\\.|(\[|&(?=&)|~(?=~)|(?<![\x00-,])-(?=-)|(?<=[\x00-,]-)-)", re.DOTALL)
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
#: Keywords that say nothing about which values fit, or are read with another keyword.
_NO_ASSERTIONS: Final = frozenset(
    {"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$vocabulary", "$comment", "$defs", "definitions"}
    | {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
    | {"contentMediaType", "contentEncoding", "contentSchema", "discriminator", "nullable"}
    | {"then", "else", "minContains", "maxContains"}
)
#: Keywords whose operand is a schema, a list of schemas, and a mapping of names to schemas.
_ONE: Final = frozenset(
    {"items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "propertyNames"}
    | {"unevaluatedProperties", "not", "if", "then", "else"}
)
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_MAPPINGS: Final = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"}
)
#: One value of each JSON type: a reference that leads back to itself does so for one of them.
_PROBES: Final[tuple[Any, ...]] = (None, True, 0, "", [], {})


class _Absent:
    """The value of a required field that is missing."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = _Absent()


class Misfit(NamedTuple):
    """A part of a value that does not fit a schema, what the schema asks for there, and the keys to it."""

    value: Any
    expected: str
    path: tuple[str | int, ...] = ()


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """A JSON Schema in the metadata of a type: it is the type's schema, and each value has to fit it.

    text: the schema as its author wrote it, as JSON
    is_checked: False if the type alone accepts exactly the values that fit
    """

    text: str
    is_checked: bool = True

    @classmethod
    def of(cls, schema: object, *, is_checked: bool = True) -> JsonSchema:
        """Return a schema; raises ArgumentInvalid with each part that is invalid or unchecked."""
        try:
            made = cls(json.dumps(schema), is_checked)
            problems = _problems_in(made.text) if is_checked else ()
        except (TypeError, ValueError, RecursionError) as error:
            raise ArgumentInvalid(SCHEMA_INVALID(expected="JSON", found=str(error))) from None
        if problems:
            refused = ArgumentInvalid(problems[0])
            refused.diagnostics = problems
            raise refused
        return made

    @property
    def schema(self) -> dict[str, Any]:
        """A copy of the schema; a schema that is a boolean is written as an object."""
        found = json.loads(self.text)
        if isinstance(found, dict):
            return found
        return {} if found else {"not": {}}

    @property
    def has_references(self) -> bool:
        return '"$ref"' in self.text or '"$dynamicRef"' in self.text

    def misfit(self, value: object) -> Misfit | None:
        """Return the part of a value that does not fit, None if the whole value does."""
        if not self.is_checked:
            return None
        try:
            plain = to_jsonable_python(value, by_alias=True, fallback=_plain)
        except (PydanticSerializationError, ValueError, RecursionError):
            return Misfit(value, "a JSON value")
        try:
            return _misfit(_validator(self.text), plain)
        except RecursionError:
            return Misfit(value, "fewer levels")

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        inner = handler(source)
        return core_schema.no_info_after_validator_function(self._fitting, inner)

    def _fitting(self, value: Any) -> Any:
        misfit = self.misfit(value)
        if misfit is not None:
            raise ValueError(f"Input should be {misfit.expected}")
        return value

    def __get_pydantic_json_schema__(
        self, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        # References lead to the root of a schema, which is another one where the type is a part.
        return handler(core) if self.has_references else self.schema


def schema_of_type(annotation: object) -> JsonSchema | None:
    """Return the schema in the metadata of a type, None if it has none."""
    if get_origin(annotation) is not Annotated:
        return None
    return next((item for item in get_args(annotation)[1:] if isinstance(item, JsonSchema)), None)


def _plain(value: object) -> object:
    """Return the JSON value of an object that pydantic does not know; raises ValueError for any other."""
    from dataflow.secrets.secret import Secret  # few values are

    if isinstance(value, Secret):
        return value.reveal()
    number = plain_number(value)
    if number is None:
        raise ValueError(type(value).__name__)
    return number


@lru_cache(maxsize=1024)
def _problems_in(text: str) -> tuple[Diagnostic, ...]:
    schema = json.loads(text)
    draft = schema.get("$schema", _DRAFT) if isinstance(schema, dict) else _DRAFT
    kind = _kind_of(draft) if isinstance(draft, str) else None
    if kind is None:
        return (SCHEMA_DRAFT_UNKNOWN("$schema", found=repr(draft)),)
    problems = dict.fromkeys(map(_problem_of, kind(kind.META_SCHEMA).iter_errors(schema)))
    if not problems:
        review = _Review(schema, kind)
        problems = dict.fromkeys(review.problems())
        if not problems and _is_cyclic(text, {reference for _, reference, _ in review.references}):
            problems = {SCHEMA_CYCLIC(): None}
    return tuple(problems)


def _problem_of(error: Any) -> Diagnostic:
    """Return the problem of a part that the schema of schemas refuses."""
    path, found = [*error.absolute_path], error.instance
    place = ".".join(map(str, path))
    expected = _expected(error)
    if path[-1:] == ["type"]:
        unknown = [one for one in (found if isinstance(found, list) else [found]) if one not in TYPE_NAMES]
        if unknown:
            return unknown_type(unknown[0], place)
        expected = "one or several types"
    return SCHEMA_INVALID(place, expected=expected, found=shortened(repr(found), MOST_SHOWN))


def unknown_type(name: object, place: str = "") -> Diagnostic:
    """Return the problem of a name that is not one of a JSON type."""
    advice = "a secret is {type: string, format: secret}" if name == "secret" else ""
    return SCHEMA_TYPE_UNKNOWN(place, name=name, advice=advice, available=TYPE_NAMES)


class _Review:
    """The search for parts of a valid schema that are not checked.

    references: where each `$ref` is, what it says, and the part that it leads to
    seen: the ids of the schemas within the whole
    patterned: where names of fields are compared with patterns
    is_closed: whether a part has `unevaluatedProperties`, by which the library compares them without a bound
    """

    def __init__(self, schema: object, kind: Any) -> None:
        from referencing.jsonschema import specification_with

        self.schema = schema
        self.known: Any = kind.VALIDATORS
        self.specification = specification_with(kind.META_SCHEMA["$schema"])
        self.references: list[tuple[str, str, object]] = []
        self.seen: set[int] = set()
        self.patterned: list[str] = []
        self.is_closed = False

    def problems(self) -> Iterator[Diagnostic]:
        from referencing import Registry

        resolver = Registry().resolver_with_root(self.specification.create_resource(self.schema))
        todo: list[tuple[tuple[str, ...], Any, Any]] = [((), self.schema, resolver)]
        while todo:
            path, part, resolver = todo.pop()
            self.seen.add(id(part))
            if isinstance(part, dict):
                resolver = resolver.in_subresource(self.specification.create_resource(part))
                for keyword, operand in part.items():
                    yield from self._of_keyword(".".join((*path, keyword)), keyword, operand, resolver)
                    todo += [((*path, *steps), inner, resolver) for steps, inner in _parts(keyword, operand)]
        for place, reference, target in self.references:
            if id(target) not in self.seen:
                yield SCHEMA_REFERENCE_UNKNOWN(place, reference=reference)
        for place in self.patterned if self.is_closed else ():
            yield SCHEMA_KEYWORD_UNCHECKED(place, keyword="patternProperties with unevaluatedProperties")

    def _of_keyword(self, place: str, keyword: str, operand: Any, resolver: Any) -> Iterator[Diagnostic]:
        match keyword:
            case "$ref" | "$dynamicRef":
                yield from self._of_reference(place, operand, resolver)
            case "format" if operand not in FORMATS:
                yield SCHEMA_FORMAT_UNCHECKED(place, format=operand, available=FORMATS, near=operand)
            case "pattern":
                yield from _refused_pattern(place, operand)
            case "patternProperties":
                self.patterned.append(place)
                for pattern in operand:
                    yield from _refused_pattern(place, pattern)
            case "unevaluatedProperties":
                self.is_closed = True
            case "enum" if not operand:
                yield SCHEMA_INVALID(place, expected="a list that is not empty", found=repr(operand))
        if not (keyword in self.known or keyword in _NO_ASSERTIONS or keyword.startswith("x-")):
            yield SCHEMA_KEYWORD_UNCHECKED(place, keyword=keyword)

    def _of_reference(self, place: str, reference: str, resolver: Any) -> Iterator[Diagnostic]:
        from referencing.exceptions import Unresolvable

        try:
            target = resolver.lookup(reference).contents
        except Unresolvable:
            kind = SCHEMA_REFERENCE_UNKNOWN if reference.startswith("#") else SCHEMA_REFERENCE_REMOTE
            yield kind(place, reference=reference)
        else:
            self.references.append((place, reference, target))


def _parts(keyword: str, operand: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the schemas that the operand of a keyword consists of, and the steps to each."""
    if keyword in _MAPPINGS:
        yield from (((keyword, name), part) for name, part in operand.items())
    elif keyword in _LISTS and isinstance(operand, list):
        yield from (((keyword, str(number)), part) for number, part in enumerate(operand))
    elif keyword in _ONE:
        yield (keyword,), operand


def _refused_pattern(place: str, pattern: str) -> Iterator[Diagnostic]:
    try:
        _matcher(pattern)
    except SchemaError as error:
        reason = str(error).strip().rpartition("\n")[2].strip()
        for prefix in ("SchemaError: ", "error: "):
            reason = reason.removeprefix(prefix)
        yield SCHEMA_PATTERN_UNCHECKED(place, pattern=shortened(pattern, MOST_SHOWN), reason=reason)


def _is_cyclic(text: str, references: set[str]) -> bool:
    """Return whether a reference leads back to itself: then no value can be checked by it."""
    from referencing.exceptions import Unresolvable

    for reference in references:
        validator = _validator(text).evolve(schema={"$ref": reference})
        try:
            for probe in _PROBES:
                validator.is_valid(probe)
        except RecursionError:
            return True
        except Unresolvable:  # it begins at the root of an inner schema that has an address
            continue
    return False


def _plain_class(found: re.Match[str]) -> str:
    """Escape what JSON Schema takes literally in a class of characters, and the engine for an operator."""
    text = found[0]
    return (
        text if text[0] == "\\" else "[" + _OPERATOR.sub(lambda one: "\\" * bool(one[1]) + one[0], text[1:])
    )


@lru_cache(maxsize=1024)
def _matcher(pattern: str) -> SchemaValidator:
    """Compile a pattern for an engine that never backtracks; raises SchemaError if it cannot be."""
    pattern = pattern.removeprefix(_DECIMAL)
    if len(pattern) > MOST_PATTERN:
        raise SchemaError(
            f"it has more than {MOST_PATTERN:,} characters; DATAFLOW_MAX_PATTERN_CHARACTERS allows more"
        )
    pattern = _CLASS.sub(_plain_class, pattern)
    return SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))


def _matches(pattern: str, text: str) -> bool:
    if len(text) > MOST_MATCHED:
        return False
    if pattern.startswith(_DECIMAL):
        return not _matcher(_NO_DIGIT).isinstance_python(text) and _matcher(pattern).isinstance_python(text)
    return _matcher(pattern).isinstance_python(text)


@lru_cache(maxsize=1024)
def _validator(text: str) -> Any:
    from referencing import Registry

    schema = json.loads(text)
    kind = _kind_of(schema.get("$schema", _DRAFT) if isinstance(schema, dict) else _DRAFT)
    assert kind is not None, "the schema has been checked"
    return kind(schema, registry=Registry(), format_checker=_format_checker())  # knows no remote schema


@cache
def _kind_of(draft: str) -> Any:
    """Return the class of validators for a draft of JSON Schema, None for an unknown one."""
    from jsonschema import validators

    known: Any = validators.validator_for({"$schema": draft}, default=None)
    if known is None:
        return None
    more = {
        "additionalProperties": _additional_properties,
        "multipleOf": _multiple_of,
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
    }
    return validators.extend(known, more)


def _pattern(validator: Any, pattern: str, value: Any, _: object) -> Iterator[Any]:
    if validator.is_type(value, "string") and not _matches(pattern, value):
        yield _error(f"does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, value: Any, _: object) -> Iterator[Any]:
    if validator.is_type(value, "object"):
        for pattern, part in patterns.items():
            for name in value:
                if _matches(pattern, name):
                    yield from validator.descend(value[name], part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, part: Any, value: Any, schema: Any) -> Iterator[Any]:
    """Check the fields that neither their names nor patterns declare; the library would match by `re`."""
    if validator.is_type(value, "object"):
        declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name in value:
            if name in declared or any(_matches(pattern, name) for pattern in patterns):
                continue
            if part is False:  # the library would not say which field
                yield _error("is not declared", path=[name], instance=value[name], validator=None)
            else:
                yield from validator.descend(value[name], part, path=name)


def _multiple_of(validator: Any, step: float, value: Any, _: object) -> Iterator[Any]:
    """Compare numbers by their decimal forms: 0.3 is a multiple of 0.1, which it is not to the library."""
    if validator.is_type(value, "number"):
        is_finite = isinstance(value, int) or isfinite(value)
        if not is_finite or _exact(value) % _exact(step):
            yield _error(f"{value!r} is not a multiple of {step}")


def _exact(number: float) -> Fraction:
    return Fraction(number if isinstance(number, int) else str(number))


def _error(message: str, **fields: Any) -> Any:
    from jsonschema import ValidationError as Error

    return Error(message, **fields)


def _misfit(validator: Any, value: object) -> Misfit | None:
    from jsonschema.exceptions import best_match

    error: Any = best_match(validator.iter_errors(value))
    if error is None:
        return None
    path = tuple(error.absolute_path)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return Misfit(ABSENT, "a value", (*path, missing))
    return Misfit(error.instance, _expected(error), path)


def _expected(error: Any) -> str:
    """Write what a schema expects; of alternatives, what each expects of the same value."""
    choice = error.parent
    if choice is not None and choice.validator in ("anyOf", "oneOf") and not error.relative_path:
        faults = [fault for fault in choice.context if not fault.relative_path]
        return " or ".join(dict.fromkeys(map(_demand, faults)))
    return _demand(error)


def _demand(error: Any) -> str:
    operand = error.validator_value
    match error.validator:
        case "type":
            return " or ".join([operand] if isinstance(operand, str) else operand)
        case "enum":
            return " or ".join(map(json.dumps, operand))
        case "const":
            return json.dumps(operand)
        case "format":
            return f"a string of the format {operand}"
        case None:  # the schema `false`
            return "nothing"
        case keyword:
            written = json.dumps(operand, ensure_ascii=False)
            return f"a value that fits {keyword}: {shortened(written, MOST_SHOWN)}"


@cache
def _format_checker() -> Any:
    from jsonschema import FormatChecker

    checker = FormatChecker(())
    for name, is_valid in FORMATS.items():
        checker.checks(name)(partial(has_format, is_valid))
    return checker
