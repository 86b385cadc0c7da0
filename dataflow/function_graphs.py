"""Function graphs: a function with the functions that it wraps, binds and closes over (S13.2)."""

from __future__ import annotations

import dataclasses
import dis
from enum import Enum
from functools import lru_cache, partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    NoneType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataflow.code_digests import code_text
from dataflow.digest_leaves import Digested, hashed, text
from dataflow.functions import module_name

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CODE", "FUNCTIONS", "NAME", "Held", "graph_of", "is_plain", "observed"]

#: The types of what is looked through for code.
FUNCTIONS: Final = (
    FunctionType, MethodType, partial, type, staticmethod, classmethod, property, BuiltinFunctionType,
    MethodDescriptorType, WrapperDescriptorType, type(lru_cache(len)),
)  # fmt: skip
#: The label of the name of a function: it counts for a value, not for what a node does.
NAME: Final = "name"
CODE: Final = "code"
#: In place of the value of a variable that has none.
ABSENT: Final = Digested(b"-")
_PLAIN: Final = frozenset({NoneType, bool, int, float, complex, str, bytes})
_LOADS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


class Held(NamedTuple):
    """Something that decides what a function does: its label, and the part of a fingerprint that it is in."""

    part: str
    label: str
    value: Any


def is_plain(value: object) -> bool:
    """Tell whether a value is of those that cannot change: numbers, text, bytes, enums, tuples of them."""
    todo = [value]
    for one in todo:  # grows while it is walked
        kind = type(one)
        if kind in (tuple, frozenset):
            todo += one  # type: ignore[arg-type]  # as just looked at
        elif kind not in _PLAIN and not isinstance(one, Enum):
            return False
    return True


def graph_of(root: object) -> tuple[list[Any], list[Held]]:
    """List a function and those that stand behind it, and what they hold; each is described once.

    What a function in a closure or in an argument holds is in the part of that.
    """
    functions: list[Any] = [root]
    parts = [""]
    numbers = {id(root): 0}
    held: list[Held] = []
    for one, part in zip(functions, parts, strict=True):  # both grow while they are walked
        for label, value in _held(one):
            number = numbers.setdefault(id(value), len(functions)) if isinstance(value, FUNCTIONS) else None
            if number == len(functions):
                functions.append(value)
                parts.append(part or ("" if label == CODE else label))
            told = value if number is None else Digested(b"@%d" % number)
            held.append(Held(part or label, label, told))
    return functions, held


def observed(functions: list[Any]) -> list[Any]:
    """List the objects that can be replaced in functions: while all are the same, what is held is."""
    seen: list[Any] = []
    for one in functions:
        if type(one) is FunctionType:
            code = one.__code__
            seen += (code, one.__defaults__)
            if one.__kwdefaults__:
                seen += one.__kwdefaults__.values()
            if one.__closure__:
                seen += map(_content, one.__closure__)
            names = _global_names(code)
            if names:
                seen += map(one.__globals__.get, names)
        elif isinstance(one, type):
            seen += vars(one).values()
        elif isinstance(one, partial):
            seen += one.keywords.values()
    return seen


def _name(one: Any) -> str:
    module = getattr(one, "__module__", None) or getattr(getattr(one, "__objclass__", None), "__module__", "")
    return f"{module_name(module or '')}:{getattr(one, '__qualname__', type(one).__qualname__)}"


def _held(one: Any) -> Iterator[tuple[str, object]]:
    match one:
        case FunctionType():
            yield from _of_function(one)
        case MethodType():
            yield CODE, one.__func__
            yield "object", one.__self__
        case partial():
            yield CODE, one.func
            yield from ((f"argument {number}", value) for number, value in enumerate(one.args))
            yield from ((f"argument {name!r}", value) for name, value in sorted(one.keywords.items()))
        case property():
            yield from ((CODE, part) for part in (one.fget, one.fset, one.fdel))
        case type():
            yield from _of_class(one)
        case BuiltinFunctionType() | MethodDescriptorType() | WrapperDescriptorType():
            yield CODE, _name(one)
            if not isinstance(getattr(one, "__self__", None), ModuleType):
                yield "object", getattr(one, "__self__", None)
        case _ if isinstance(one, FUNCTIONS):  # staticmethod, classmethod, what lru_cache makes
            yield CODE, type(one).__qualname__
            wrapped: Any = one
            yield CODE, wrapped.__wrapped__
        case _:
            yield CODE, type(one).__call__
            yield "object", one


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
        value = _content(cell)
        is_own_class = name == "__class__" and isinstance(value, type)  # which holds the function
        yield f"closure {name!r}", _name(value) if is_own_class else value
    for name in _global_names(code):
        value = one.__globals__.get(name, ABSENT)
        if value is not ABSENT and is_plain(value):
            yield f"global {name!r}", value


def _of_class(one: type) -> Iterator[tuple[str, object]]:
    """Yield the name of a class, those of its bases, and its own functions and constants."""
    yield CODE, _name(one)
    yield CODE, tuple(map(_name, one.__bases__))
    for name, value in sorted(vars(one).items()):
        if isinstance(value, FunctionType):
            is_made = dataclasses.is_dataclass(one) and value.__code__.co_filename == "<string>"
            is_counted = not is_made  # what a dataclass makes follows from its fields
        elif isinstance(value, staticmethod | classmethod | property):
            is_counted = True
        else:
            is_counted = not name.startswith("__") and is_plain(value)
        if is_counted:
            yield CODE, name
            yield CODE, value


def _content(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # a variable that has no value yet
        return ABSENT


@lru_cache(maxsize=10_000)
def _code(code: CodeType) -> bytes:
    return hashed(b"x", text(code_text(code)))


@lru_cache(maxsize=10_000)
def _global_names(code: CodeType) -> tuple[str, ...]:
    """List the global variables that a code object reads, inner ones included."""
    found: dict[str, None] = {}
    codes = [code]
    for one in codes:  # grows while it is walked
        codes += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
        loads = (each for each in dis.get_instructions(one) if each.opname in _LOADS)
        found |= dict.fromkeys(each.argval for each in loads)
    return tuple(sorted(found))
