"""Code digests: whether a function does what it did, told from its code object (S11.4, S13.2)."""

from __future__ import annotations

import functools
import sys
from hashlib import blake2b
from types import CodeType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, Final

from dataflow.values.canonical import told_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["PYTHON", "code_digest", "code_text", "codes_of", "digest_of"]

PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
#: How many functions stand behind one another at most; more of them are wrapped in a circle.
MOST_WRAPPED: Final = 1_000


def digest_of(text: str) -> str:
    """Return a short digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def code_digest(function: object) -> str | None:
    """Digest the code of a function, of what it wraps and of its defaults; None where there is no code.

    Equal in every process of one minor version of Python. Not in it: where the code stands, the values of
    closures and globals, and the functions it calls.
    """
    parts = [part for one in _behind(function) for part in _parts(one)]
    return digest_of("\n".join([PYTHON, *parts])) if parts else None


def codes_of(functions: Iterable[object]) -> list[str]:
    """Digest those of some functions that have code, and are no part of the engine: it changes as a whole."""
    digests = [code_digest(one) for one in functions if not _is_own(one)]
    return [digest for digest in digests if digest is not None]


def _is_own(function: object) -> bool:
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] in ("dataflow", "dataflow_formats")


def _behind(function: object) -> Iterator[object]:
    """Go through a function and what it wraps: partials, methods, callable objects, `functools.wraps`."""
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
            todo.append(type(one).__call__)  # a class has no code, nor has what is not written in Python
        wrapped = getattr(one, "__wrapped__", None)
        if wrapped is not None and not isinstance(one, MethodType):  # whose function has it too
            todo.append(wrapped)


def _parts(one: object) -> list[str]:
    if isinstance(one, FunctionType):
        return [code_text(one.__code__), told_value([one.__defaults__, one.__kwdefaults__])]
    if isinstance(one, functools.partial):
        return [told_value([one.args, one.keywords])]
    return []


def code_text(code: CodeType) -> str:
    """Tell all that decides what a code object does; code in code is as deep as the source is indented."""
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    constants = [_told_constant(one) for one in code.co_consts]
    return repr((code.co_code, getattr(code, "co_exceptiontable", b""), counts, names, constants))


def _told_constant(constant: Any) -> str:
    """Tell a constant with its type; the compiler nests them no deeper than the source does."""
    match constant:
        case CodeType():
            return code_text(constant)
        case tuple():
            return f"({', '.join(map(_told_constant, constant))})"
        case frozenset():
            return f"{{{', '.join(sorted(map(_told_constant, constant)))}}}"
        case _:
            return _repr(constant)


def _repr(constant: object) -> str:
    try:
        return repr(constant)
    except ValueError:  # an integer that Python writes in no other way, being so long
        assert isinstance(constant, int), "nothing else is refused"
        return hex(constant)
