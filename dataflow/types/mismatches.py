"""Find the part of a value that does not match a type."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Annotated, Any, ForwardRef, Literal, NewType, get_args, get_origin

from pydantic import BeforeValidator, ConfigDict, PlainValidator, TypeAdapter, ValidationError, WrapValidator

from dataflow.base.scalars import plain_number
from dataflow.types.agreement import agrees
from dataflow.types.schemas import ABSENT, JsonSchema
from dataflow.types.shapes import (
    Shape,
    alternatives,
    arguments_as,
    bare,
    behind_alias,
    has_own_schema,
    is_alias,
    is_open_tuple,
    is_typed_dict,
    keys_of,
    protocol_members,
    shape,
    unqualified,
)

__all__ = [
    "ABSENT",
    "PREFIX",
    "UNAWAITED",
    "adapter_of",
    "by_schema",
    "find_mismatch",
    "find_unawaited",
    "is_constraint",
    "requirement",
    "step_into",
]

# Containers that can be iterated over repeatedly; others might be exhausted.
LASTING = (list, tuple, set, frozenset, dict, deque, str, bytes, bytearray, range)
# Containers whose items are searched for what nobody awaited.
SEARCHED = (list, tuple, set, frozenset, dict, deque)
#: What a call of an async function or generator makes, instead of its result.
UNAWAITED = (Awaitable, AsyncGenerator)
# Validators that convert values, while a value from Python is checked and never converted.
CONVERTERS = (BeforeValidator, PlainValidator, WrapValidator)
#: The beginning of a message of pydantic that only says what was expected.
PREFIX = "Input should be "
# How often types may refer to themselves in one value: more exhausts the stack, so the rest is accepted.
MOST_DEPTH = 40
# Types come from signatures, so there are few; the limit is for types created at run time.
MOST_ADAPTERS = 1024
# pydantic refuses a config for types that have their own: models, dataclasses, TypedDicts.
CONFIGS = (ConfigDict(arbitrary_types_allowed=True), None)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A part of a value that does not match, the expected type, and what else is required of it.

    expected: a type, or a string that says what is expected
    place: the location in the whole value, as in `[2].name`; empty for the whole value
    """

    value: object
    expected: object
    place: str = ""
    requirement: str = ""

    def within(self, step: str) -> Mismatch:
        """Return the same mismatch as seen from one level further out."""
        return replace(self, place=step + self.place)


@dataclass(slots=True)
class _Walk:
    """The state of one search.

    known: the results for self-referential types, by the ids of value and type, which it keeps alive
    depth: how many such types enclose the current part
    is_searching: whether parts without a known type are searched for what nobody awaited
    """

    known: dict[tuple[int, int], tuple[object, object, Mismatch | None]] = field(default_factory=dict)
    depth: int = 0
    is_searching: bool = False


def find_mismatch(value: object, expected: object) -> Mismatch | None:
    """Return the first part of a value that does not match a type, or None.

    A number of another library, such as `numpy.int64`, matches as the number of Python that it is.
    """
    return _find(value, expected, _Walk())


def find_unawaited(value: object, expected: object) -> Mismatch | None:
    """Return the first part of type Any that is an unawaited call or an async generator; None without one."""
    return _find(value, expected, _Walk(is_searching=True))


def requirement(message: str) -> str:
    """Reduce a message of pydantic to what was expected."""
    text = message.removeprefix(PREFIX)
    return text[:1].lower() + text[1:]


def step_into(key: object) -> str:
    """Write one step into a value: `.name` for a key that reads like a name, else `[key]`."""
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"


def _find(value: object, expected: object, walk: _Walk) -> Mismatch | None:
    found = _find_bare(value, bare(expected), walk)
    if found is None:
        return _find_constraint(value, unqualified(expected))
    number = plain_number(value) if found.value is value else None
    is_number = number is not None and _find(number, expected, walk) is None
    return None if is_number else found


def _find_bare(value: object, expected: object, walk: _Walk) -> Mismatch | None:
    if expected is Any or expected is object:
        return _find_untyped(value, walk)
    if is_alias(expected):
        return _find_deeper(value, expected, walk, lambda: _find(value, behind_alias(expected), walk))
    if isinstance(expected, NewType):
        return _find(value, expected.__supertype__, walk)
    if options := alternatives(expected):
        return _find_in_union(value, expected, options, walk)
    if get_origin(expected) is Literal:
        fits = any(type(value) is type(option) and value == option for option in get_args(expected))
        return None if fits else Mismatch(value, expected)
    if is_typed_dict(expected):
        find = partial(_find_in_typed_dict, value, expected, walk)
        return _find_deeper(value, expected, walk, find)
    known = shape(expected)
    if known is None:
        return _find_untyped(value, walk)
    if not _is_instance(value, known.origin):
        return _ask_pydantic(value, expected, known.origin)
    if known.args is None:
        return _find_untyped(value, walk) if isinstance(value, SEARCHED) else None
    return _find_in_items(value, expected, known, walk)


def _find_untyped(value: object, walk: _Walk) -> Mismatch | None:
    """Return the first part of a value without a known type that nobody awaited, if it is searched."""
    if not walk.is_searching:
        return None
    left: list[tuple[object, str]] = [(value, "")]
    seen: set[int] = set()
    while left:
        part, place = left.pop()
        if isinstance(part, UNAWAITED):
            return Mismatch(part, "what it gives when it is awaited", place)
        if not isinstance(part, SEARCHED) or id(part) in seen:
            continue
        seen.add(id(part))
        is_dict = isinstance(part, dict)
        steps = part.items() if isinstance(part, dict) else enumerate(part)
        left += reversed(
            [
                (item, place + (step_into(step) if is_dict else f"[{step}]"))
                for step, item in steps
                if isinstance(item, SEARCHED + UNAWAITED)
            ]
        )
    return None


def _is_instance(value: object, kind: type) -> bool:
    members = protocol_members(kind)
    if members is not None:
        # As in agreement: a special method that is None is absent.
        return all(hasattr(value, name) for name in members) and not any(
            name.startswith("__") and getattr(value, name) is None for name in members
        )
    try:
        return isinstance(value, kind) or (kind is float and isinstance(value, int))
    except TypeError:
        return True  # undecidable: the class does not support isinstance


def _ask_pydantic(value: object, expected: object, kind: type) -> Mismatch | None:
    """Let a class with its own schema decide about a value that is not an instance of it."""
    adapter = adapter_of(expected) if has_own_schema(kind) else None
    if adapter is None:
        return Mismatch(value, expected)
    try:
        adapter.validate_python(value, strict=True)
    except ValidationError as error:
        return Mismatch(value, expected, requirement=requirement(error.errors()[0]["msg"]))
    return None


def _find_constraint(value: object, expected: object) -> Mismatch | None:
    """Check a value of the right type against the constraints in Annotated."""
    if get_origin(expected) is not Annotated:
        return None
    inner, *metadata = get_args(expected)
    for item in metadata:
        if isinstance(item, JsonSchema) and (found := by_schema(value, item)) is not None:
            return found
    constraints = tuple(item for item in metadata if is_constraint(item) and type(item) is not JsonSchema)
    adapter = adapter_of(Annotated[(inner, *constraints)]) if constraints else None
    if adapter is None:
        return None
    try:
        # Not strict, which would refuse subclasses; the type has been checked already.
        adapter.validate_python(value)
    except ValidationError as error:
        return Mismatch(value, expected, requirement=requirement(error.errors()[0]["msg"]))
    return None


def by_schema(value: object, schema: JsonSchema) -> Mismatch | None:
    """Return the first part of a value that does not fit a JSON Schema, or None."""
    misfit = schema.misfit(value)
    if misfit is None:
        return None
    part = misfit.value if misfit.path else value
    return Mismatch(part, misfit.expected, "".join(map(step_into, misfit.path)))


def is_constraint(item: object) -> bool:
    """Return whether a piece of metadata restricts values, and does not convert them."""
    library = type(item).__module__.partition(".")[0]
    known = library in ("annotated_types", "pydantic") or hasattr(item, "__get_pydantic_core_schema__")
    return known and not isinstance(item, CONVERTERS)


def _find_deeper(
    value: object, expected: object, walk: _Walk, find: Callable[[], Mismatch | None]
) -> Mismatch | None:
    """Search a value once per type: both may refer to themselves."""
    key = (id(value), id(expected))
    if key in walk.known:
        return walk.known[key][2]
    if walk.depth >= MOST_DEPTH:
        return None
    walk.known[key] = (value, expected, None)
    walk.depth += 1
    found = find()
    walk.depth -= 1
    walk.known[key] = (value, expected, found)
    return found


def _find_in_union(
    value: object, expected: object, options: tuple[object, ...], walk: _Walk
) -> Mismatch | None:
    """Report the mismatch inside the only option whose outermost type matches, else the whole value."""
    near = []
    for option in options:
        found = _find(value, option, walk)
        if found is None:
            return None
        if found.place or found.requirement:
            near.append(found)
    return near[0] if len(near) == 1 else Mismatch(value, expected)


def _find_in_typed_dict(value: object, expected: object, walk: _Walk) -> Mismatch | None:
    """Check the keys that a TypedDict declares; others are allowed, as a derived type may have them."""
    if not isinstance(value, dict):
        return Mismatch(value, expected)
    for name, key in keys_of(expected).items():
        if name in value:
            found = _find(value[name], key.hint, walk)
        else:
            found = Mismatch(ABSENT, key.hint) if key.required else None
        if found is not None:
            return found.within(step_into(name))
    return None


def _find_in_items(value: object, expected: object, known: Shape, walk: _Walk) -> Mismatch | None:
    """Check the items of a reusable container against the arguments of its type."""
    origin, args = known
    if origin is type:
        return None if agrees(value, args[0] if args else Any) else Mismatch(value, expected)
    if not isinstance(value, LASTING) or not issubclass(origin, Iterable):
        return None
    if issubclass(origin, tuple) and isinstance(value, tuple):
        return _find_in_tuple(value, expected, arguments_as(known, tuple), walk)
    if issubclass(origin, Mapping) and isinstance(value, dict):
        keys, values = arguments_as(known, Mapping) or (Any, Any)
        found = _find_in_each(value, keys, lambda _: ".keys()", walk)
        return found or _find_in_each(
            value.values(), values, lambda index: step_into(list(value)[index]), walk
        )
    item = (arguments_as(known, Iterable) or (Any,))[0]
    ordered = not isinstance(value, set | frozenset | dict)
    return _find_in_each(value, item, lambda index: f"[{index}]" if ordered else "[?]", walk)


def _find_in_tuple(
    value: tuple[object, ...], expected: object, args: tuple[object, ...] | None, walk: _Walk
) -> Mismatch | None:
    if args is None or is_open_tuple(args):
        return None
    if args[1:] == (...,):
        return _find_in_each(value, args[0], lambda index: f"[{index}]", walk)
    if len(args) != len(value):
        return Mismatch(value, expected)
    for index, (item, kind) in enumerate(zip(value, args, strict=True)):
        found = _find(item, kind, walk)
        if found is not None:
            return found.within(f"[{index}]")
    return None


def _find_in_each(
    items: Iterable[object], expected: object, step: Callable[[int], str], walk: _Walk
) -> Mismatch | None:
    is_searched = walk.is_searching and expected in (Any, object, *SEARCHED)
    if not is_searched and _fits_by_class(items, expected):
        return None
    for index, item in enumerate(items):
        found = _find(item, expected, walk)
        if found is not None:
            return found.within(step(index))
    return None


def _fits_by_class(items: Iterable[object], expected: object) -> bool:
    """Check a flat container by the set of its items' classes, which is fast for long ones."""
    if expected is Any or expected is object:
        return True
    if not isinstance(expected, type) or is_typed_dict(expected) or protocol_members(expected) is not None:
        return False
    accepted = (expected, int) if expected is float else (expected,)
    return shape(expected) == (expected, None) and set(map(type, items)).issubset(accepted)


def adapter_of(expected: Any) -> TypeAdapter[Any] | None:
    """Return the pydantic adapter of a type; None if pydantic cannot build one."""
    if isinstance(expected, str | ForwardRef):
        # pydantic would resolve the name in this module.
        return None
    try:
        hash(expected)
    except TypeError:
        return _build(expected)
    return _build_once(expected)


def _build(expected: Any) -> TypeAdapter[Any] | None:
    for config in CONFIGS:
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(expected, config=config)
        except Exception:  # noqa: BLE001, S112 - the schema hooks of foreign types may raise anything
            continue
        if adapter.pydantic_complete:
            return adapter
    return None


_build_once = lru_cache(MOST_ADAPTERS)(_build)
