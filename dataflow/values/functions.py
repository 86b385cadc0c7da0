"""Content hashes of functions: their code and everything they refer to."""

from __future__ import annotations

import dataclasses
import functools
import sys
from functools import cached_property, lru_cache, partial, partialmethod
from hashlib import blake2b
from operator import is_
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic.fields import FieldInfo

from dataflow.core.distributions import versions_of_module
from dataflow.core.functions import module_name
from dataflow.types.shapes import type_name
from dataflow.values.canonical import NO_NAMES, canonical_text
from dataflow.values.constants import (
    ABSENT,
    PLAIN,
    Constant,
    constant_of,
    content_of,
    is_function,
    is_plain,
    parts_of_value,
)
from dataflow.values.digest_leaves import Digested, hashed, text
from dataflow.values.projects import (
    OWN_PACKAGES,
    Origin,
    Reference,
    imported,
    module_of,
    origin_of,
    references_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = [
    "NAME",
    "PYTHON",
    "FunctionGraph",
    "code_digest",
    "codes_of",
    "digest_of",
    "is_own",
]

PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
#: The maximum length of a chain of wrapped functions; a longer one is a cycle.
MOST_WRAPPED: Final = 1_000
#: The types that decorators make of the functions of a class.
_DECORATED: Final = (
    staticmethod, classmethod, property, cached_property, partial, partialmethod, type(lru_cache(len)),
)  # fmt: skip
#: The settings of a pydantic field that are part of its hash; its type is in the annotations of the class.
_SETTINGS: Final = sorted(
    name
    for name in FieldInfo.__slots__
    if not name.startswith("_") and name not in ("annotation", "default_factory")
)
#: Constants of a class that do not matter, or that Python adds.
_MADE: Final = frozenset(
    {"__annotations__", "__doc__", "__firstlineno__", "__hash__", "__module__", "__qualname__",
     "__non_callable_proto_members__", "__static_attributes__"}
)  # fmt: skip
#: How much of a value is searched for functions.
MOST_SEARCHED: Final = 10_000
#: The label of a function's name: part of the hash of a function as a value, but not of a node's behaviour.
NAME: Final = "name"
CODE: Final = "code"


def digest_of(text: str) -> str:
    """Return a short content hash of a string."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def code_digest(function: object, names: Mapping[str, str] = NO_NAMES) -> str | None:
    """Return the content hash of the code and defaults of a function and those it wraps; None without code.

    Equal in every process of one minor Python version. The location of the code, the values of closures and
    globals, and called functions are not included. `names` replaces some names of types and functions.
    """
    parts = [part for one in _wrapped_by(function) for part in _parts(one, names)]
    return digest_of("\n".join([PYTHON, *parts])) if parts else None


def codes_of(functions: Iterable[object], names: Mapping[str, str] = NO_NAMES) -> list[str]:
    """Return the code hashes of the functions that have code and are not part of this distribution."""
    digests = [code_digest(one, names) for one in functions if not is_own(one)]
    return [digest for digest in digests if digest is not None]


def is_own(function: object) -> bool:
    """Return whether a function or class is of this distribution, whose code no user edits."""
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in OWN_PACKAGES


def _wrapped_by(function: object) -> Iterator[object]:
    """Yield a function and what it wraps: by partials, methods, callable objects, `functools.wraps`."""
    todo = [function]
    for one in todo:  # grows while it is walked
        if len(todo) > MOST_WRAPPED:
            return
        yield one
        if isinstance(one, functools.partial):
            todo.append(one.func)
        elif isinstance(one, MethodType):
            todo.append(one.__func__)
        elif callable(one) and not isinstance(one, FunctionType | type):
            todo.append(type(one).__call__)
        wrapped = getattr(one, "__wrapped__", None)
        if wrapped is not None and not isinstance(one, MethodType):  # its function has the same attribute
            todo.append(wrapped)


def _parts(one: object, names: Mapping[str, str]) -> list[str]:
    if isinstance(one, FunctionType):
        defaults = [one.__defaults__, one.__kwdefaults__]
        return [code_text(one.__code__), canonical_text(defaults, names=names)]
    if isinstance(one, functools.partial):
        return [canonical_text([one.args, one.keywords], names=names)]
    return []


def code_text(code: CodeType) -> str:
    """Write everything that determines what a code object does; recursion is as deep as the source nests."""
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    constants = [_constant_text(one) for one in code.co_consts]
    return repr((code.co_code, getattr(code, "co_exceptiontable", b""), counts, names, constants))


def _constant_text(constant: Any) -> str:
    """Write a constant with its type; the compiler nests constants no deeper than the source does."""
    match constant:
        case CodeType():
            return code_text(constant)
        case tuple():
            return f"({', '.join(map(_constant_text, constant))})"
        case frozenset():
            return f"{{{', '.join(sorted(map(_constant_text, constant)))}}}"
        case _:
            return _repr(constant)


def _repr(constant: object) -> str:
    try:
        return repr(constant)
    except ValueError:  # an integer that is too long for decimal digits
        assert isinstance(constant, int), "only integers have such a limit"
        return hex(constant)


class Held(NamedTuple):
    """A value that determines what a function does, its label, and the part of the cache key it is in."""

    part: str
    label: str
    value: Any


def _constant(value: object) -> object:
    """Return a plain value itself, another constant as a `Constant`, and ABSENT for any other value."""
    if value is ABSENT or is_plain(value):
        return value
    found = None if is_function(value) or type(value) is ModuleType else constant_of(value)
    return ABSENT if found is None else found


class FunctionGraph:
    """A function, the functions it wraps or refers to, and the values they depend on; each is listed once.

    Values of a function in a closure or in an argument belong to the part of that closure or argument.
    Functions and classes of the same project that code reads as global variables, or imports, are its
    helpers: each is a separate part, of which only immutable values count. Libraries count by version.
    """

    __slots__ = ("_helpers", "_included", "_libraries", "functions", "held", "links", "seen")

    def __init__(self, root: object) -> None:
        self.functions: list[Any] = []
        self.held: list[Held] = []
        self.links: list[tuple[dict[str, Any], str, object]] = []  # attributes of modules, with their values
        self._libraries: set[str] = set()
        self._included: dict[int, object] = {}  # by id
        self._helpers: dict[int, tuple[str, Any]] = {id(root): ("", root)}  # by id, with their parts
        todo = [("", root)]
        for part, one in todo:  # grows while it is walked
            known = len(self._helpers)
            for function in self._walk(part, one):
                self._refer(function)
            todo += list(self._helpers.values())[known:]
        self.held += [
            Held(f"library {name!r}", "library", versions_of_module(name)) for name in sorted(self._libraries)
        ]
        self.seen = [_Seen(one) for one in self.functions]

    def _walk(self, start: str, root: object) -> list[Any]:
        """List what a function holds; returns it with the functions that it wraps or holds."""
        functions, numbers, parts = [root], {id(root): 0}, [start]
        for one, part in zip(functions, parts, strict=True):  # both grow while they are walked
            for label, value in _held(one):
                content = value
                if is_function(value):
                    number = numbers.setdefault(id(value), len(parts))
                    if number == len(parts):
                        functions.append(value)
                        parts.append(part or ("" if label == CODE else label))
                    content = Digested(b"@%d" % number)
                elif type(value) not in (Constant, Digested):
                    self._include(value, label)
                    if start:
                        content = _constant(value)
                    if content is ABSENT and label != CODE:  # its state, which may change with each call
                        continue
                    if content is ABSENT:
                        content = Digested(hashed(b"x", text(canonical_text(value))))
                is_of_helper = start and label != CODE
                self.held.append(
                    Held(f"{label} of {part}" if is_of_helper else part or label, label, content)
                )
        self.functions += functions
        return functions

    def _refer(self, one: Any) -> None:
        """Note the helpers and libraries that a function, or a class by its bases, refers to."""
        module = one.__globals__.get("__name__") if type(one) is FunctionType else module_of(one)
        origin = origin_of(module) if isinstance(module, str) else Origin.FIXED
        if origin is Origin.LIBRARY:
            self._libraries.add(str(module).partition(".")[0])
        elif origin is Origin.PROJECT and type(one) is FunctionType:
            for reference in references_in(one.__code__):
                self._follow(reference, one.__globals__)
        elif origin is Origin.PROJECT and isinstance(one, type):
            for name, value in _beside_members(one):
                self._include(value, name)

    def _follow(self, reference: Reference, variables: dict[str, Any]) -> None:
        """Note what code reads as a global variable, as an attribute of a module, or imports."""
        if reference.module is None:
            value = variables.get(reference.names[0], ABSENT)
            self._read(value, reference.names[0], reference.names[1:])
            return
        found = imported(reference, variables)
        if isinstance(found, ModuleType):
            for name in reference.names or _defined_in(found):
                self._read(found, found.__name__, (name,))
        elif isinstance(found, str) and origin_of(found) is Origin.LIBRARY:
            self._libraries.add(found.partition(".")[0])

    def _read(self, value: Any, name: str, attributes: Sequence[str]) -> None:
        """Note a value, or what is read of it if it is a module of the project."""
        for attribute in attributes:
            if type(value) is not ModuleType or origin_of(value.__name__) is not Origin.PROJECT:
                break
            module, name = vars(value), f"{name}.{attribute}"
            value = module.get(attribute, module.get("__getattr__", ABSENT))
            self.links.append((module, attribute, value))
            if (constant := _constant(value)) is not ABSENT:
                self.held.append(Held(f"global {name!r}", "global", constant))
        self._include(value, name)

    def _include(self, value: Any, name: str) -> None:
        """Note the functions and classes that a value is, has or consists of."""
        todo = [value]
        for one in todo:  # grows while it is walked
            if type(one) in PLAIN or id(one) in self._included:
                continue
            self._included[id(one)] = one
            origin = self._note(one, name)
            if (
                type(one) is ModuleType
                or issubclass(type(one), type)
                or (is_function(one) and origin is Origin.PROJECT)
            ):
                continue  # what a helper has follows when it is walked
            if not is_function(one):
                origin = self._note(type(one), name)
            if len(todo) < MOST_SEARCHED:
                todo += parts_of_value(one, is_searched=origin is Origin.PROJECT)

    def _note(self, value: Any, name: str) -> Origin:
        """Note a function or class as a helper, or its library."""
        module = module_of(value) if is_function(value) or type(value) is ModuleType else ""
        origin = origin_of(module) if module else Origin.FIXED
        if origin is Origin.LIBRARY:
            self._libraries.add(module.partition(".")[0])
        if _is_made(value) or (origin is Origin.PROJECT and type(value) is not ModuleType):
            origin = Origin.PROJECT
            shown = _name(value) if hasattr(value, "__qualname__") else name
            self._helpers.setdefault(id(value), (f"helper {shown!r}", value))
        return origin

    def is_same(self) -> bool:
        """Return whether all functions still refer to the same objects."""
        if not all(map(_Seen.is_same, self.seen)):
            return False
        return all(variables.get(name, ABSENT) is value for variables, name, value in self.links)


def _is_made(value: Any) -> bool:
    """Return whether a function is one of another module with a value of this one: `partial`, `[].index`."""
    kind = type(value)
    is_bound = issubclass(kind, BuiltinFunctionType) and not isinstance(
        value.__self__, ModuleType | type | None
    )
    return kind is partial or is_bound


def _defined_in(module: ModuleType) -> list[str]:
    """List the variables of a module but for those that it has imported from elsewhere."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("__") and (is_plain(value) or module_of(value) == module.__name__)
    ]


class _Seen:
    """A function, and a snapshot of the objects in it that can be replaced."""

    __slots__ = ("cells", "code", "defaults", "function", "held", "named", "variables")

    def __init__(self, function: Any) -> None:
        is_function = type(function) is FunctionType
        self.function = function
        self.code = function.__code__ if is_function else None
        self.defaults = function.__defaults__ if is_function else None
        self.named = function.__kwdefaults__ if is_function else None
        self.cells = [(cell, content_of(cell)) for cell in (is_function and function.__closure__) or ()]
        names = _global_names(function.__code__) if is_function else ()
        self.variables = [(name, function.__globals__.get(name)) for name in names]
        self.held = _replaceable(function)

    def is_same(self) -> bool:
        """Return whether all of them are still the same objects."""
        one = self.function
        if self.code is not None:
            if one.__code__ is not self.code or one.__defaults__ is not self.defaults:
                return False
            if one.__kwdefaults__ is not self.named:
                return False
            variables = one.__globals__
            for name, value in self.variables:
                if variables.get(name) is not value:
                    return False
            for cell, value in self.cells:
                if content_of(cell) is not value:
                    return False
            if self.named is None:
                return True
        held = _replaceable(one)
        return len(held) == len(self.held) and all(map(is_, held, self.held))


def _replaceable(one: Any) -> Sequence[object]:
    """List the objects in the dicts of a function: keyword defaults, arguments, members of a class."""
    if type(one) is FunctionType:
        return tuple((one.__kwdefaults__ or {}).values())
    if isinstance(one, type):
        return tuple(vars(one).values())
    return tuple(one.keywords.values()) if isinstance(one, partial | partialmethod) else ()


def _name(one: Any) -> str:
    of = getattr(one, "__objclass__", one)
    module = getattr(of, "__module__", None)
    return f"{module_name(module) if isinstance(module, str) else ''}:{one.__qualname__}"


def _held(one: Any) -> Iterator[tuple[str, object]]:
    if not is_function(one):
        yield CODE, type(one).__call__
        yield "object", one
        return
    match one:
        case FunctionType():
            yield from _of_function(one)
        case MethodType():
            yield CODE, one.__func__
            yield "object", one.__self__
        case partial() | partialmethod():
            yield CODE, one.func
            yield from ((f"argument {number}", value) for number, value in enumerate(one.args))
            yield from ((f"argument {name!r}", value) for name, value in sorted(one.keywords.items()))
        case cached_property():
            yield CODE, one.func
        case property():
            yield from ((CODE, part) for part in (one.fget, one.fset, one.fdel))
        case type():
            yield from _of_class(one)
        case BuiltinFunctionType() | MethodDescriptorType() | WrapperDescriptorType():
            yield CODE, _name(one)
            if not isinstance(getattr(one, "__self__", None), ModuleType):
                yield "object", getattr(one, "__self__", None)
        case _:  # staticmethod, classmethod, the result of lru_cache
            yield CODE, type(one).__qualname__
            yield CODE, one.__wrapped__


def _of_function(one: FunctionType) -> Iterator[tuple[str, object]]:
    code = one.__code__
    yield NAME, _name(one)
    yield CODE, Digested(_code(code))
    wrapped = getattr(one, "__wrapped__", None)
    if wrapped is not None:
        yield CODE, wrapped
    if one.__defaults__:
        names = code.co_varnames[: code.co_argcount][-len(one.__defaults__) :]
        yield from (
            (f"default {name!r}", value) for name, value in zip(names, one.__defaults__, strict=False)
        )
    yield from ((f"default {name!r}", value) for name, value in sorted((one.__kwdefaults__ or {}).items()))
    for name, cell in zip(code.co_freevars, one.__closure__ or (), strict=True):
        value = content_of(cell)
        is_own_class = name == "__class__" and isinstance(value, type)  # the class contains the function
        yield f"closure {name!r}", _name(value) if is_own_class else value
    for name in _global_names(code):
        if (constant := _constant(one.__globals__.get(name, ABSENT))) is not ABSENT:
            yield f"global {name!r}", constant


def _of_class(one: type) -> Iterator[tuple[str, object]]:
    """Yield the name of a class, those of its bases, and its own fields, functions and constants."""
    yield CODE, _name(one)
    yield CODE, tuple(map(_name, one.__bases__))
    fields = vars(one).get("__annotations__", {})
    yield CODE, tuple((name, type_name(hint)) for name, hint in fields.items())
    yield from _of_fields(one)
    for name, value in sorted(vars(one).items()):
        if isinstance(value, FunctionType):  # methods generated by dataclass follow from the fields
            is_generated = value.__code__.co_filename == "<string>" and name.startswith("__")
            is_counted = not (is_generated and dataclasses.is_dataclass(one))
        elif isinstance(value, _DECORATED):
            is_counted = True
        else:
            value = ABSENT if name in _MADE or name.startswith("__pydantic") else _constant(value)  # noqa: PLW2901 - as it is hashed
            is_counted = value is not ABSENT
        if is_counted:
            yield CODE, name
            yield CODE, value


def _beside_members(one: type) -> Iterator[tuple[str, object]]:
    """Yield the bases and metaclass of a class, its members except its functions, and its types of fields."""
    yield from ((base.__qualname__, base) for base in (*one.__bases__, type(one)))
    for name, value in vars(one).items():
        if not name.startswith("__") and not isinstance(value, (FunctionType, *_DECORATED)):
            yield f"{one.__qualname__}.{name}", value
    for name, field in vars(one).get("__pydantic_fields__", {}).items():
        yield name, field.annotation


def _of_fields(one: type) -> Iterator[tuple[str, object]]:
    """Yield the defaults and settings of the fields of a dataclass or a pydantic model."""
    members = vars(one)
    if (made := members.get("__dataclass_params__")) is not None:
        yield (
            CODE,
            tuple(bool(getattr(made, name)) for name in ("init", "eq", "order", "unsafe_hash", "frozen")),
        )
    for name, field in members.get("__dataclass_fields__", {}).items():
        yield CODE, (name, field.default, field.init, field.compare, field.hash, field.kw_only)
        yield CODE, field.default_factory
    if "__pydantic_fields__" in members:
        yield CODE, members.get("model_config")
    for name, field in members.get("__pydantic_fields__", {}).items():
        yield CODE, (name, *(getattr(field, setting) for setting in _SETTINGS))
        yield CODE, field.default_factory


@lru_cache(maxsize=10_000)
def _code(code: CodeType) -> bytes:
    return hashed(b"x", text(code_text(code)))


@lru_cache(maxsize=10_000)
def _global_names(code: CodeType) -> tuple[str, ...]:
    """List the global variables that a code object and its inner code objects read."""
    found = {reference.names[0] for reference in references_in(code) if reference.module is None}
    return tuple(sorted(found))
