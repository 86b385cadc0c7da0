"""Name types in messages."""

from __future__ import annotations

from types import NoneType
from typing import Any, ForwardRef, Literal, get_args, get_origin

from dataflow.base.wording import MOST_CHOICES
from dataflow.types.type_shapes import alternatives, bare

__all__ = ["type_name"]


def type_name(annotation: object) -> str:
    """Give the short readable name of a type: `str`, `list[str]`, `str | None`, `Parts`.

    Never raises: what has no name it can read is "an unnamed type".
    """
    try:
        return _name(annotation)
    except Exception:  # noqa: BLE001 - foreign metaclasses may raise anything, and a message is still due
        return "an unnamed type"


def _name(annotation: object) -> str:
    annotation = bare(annotation)
    if annotation is NoneType:
        return "None"
    if annotation is Any:
        return "Any"
    if annotation is ...:
        return "..."
    if isinstance(annotation, list):
        return f"[{_names(annotation)}]"
    if options := alternatives(annotation):
        return " | ".join(_name(option) for option in options)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        rest = len(args) - MOST_CHOICES
        more = [f"and {rest} more"] if rest > 0 else []
        return f"Literal[{', '.join([*map(_literal, args[:MOST_CHOICES]), *more])}]"
    if origin is None:
        return _plain(annotation)
    return f"{_plain(origin)}[{_names(args)}]" if args else _plain(origin)


def _names(annotations: tuple[object, ...] | list[object]) -> str:
    return ", ".join(_name(annotation) for annotation in annotations)


def _literal(value: object) -> str:
    """Write an enum member as `Color.RED`, anything else as its repr."""
    name = getattr(value, "name", None)
    return f"{type(value).__name__}.{name}" if isinstance(name, str) else repr(value)


def _plain(annotation: object) -> str:
    """Name what has no arguments, without the module or function it stands in."""
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    name = getattr(annotation, "__qualname__", None) or getattr(annotation, "__name__", None)
    if isinstance(name, str):
        return name.rpartition("<locals>.")[2]
    return repr(annotation).removeprefix("typing.")
