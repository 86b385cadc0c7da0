"""Secrets of pydantic, such as `SecretStr`, which hold their value: they are known once they enter a run."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice
from types import FunctionType, NoneType
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from dataflow.errors import SecretMissing
from dataflow.secrets.secret import noted

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["is_secret", "make_known"]

#: Frequent types without secrets in them.
_WITHOUT: Final = (str, int, float, bool, NoneType, FunctionType)
#: The maximum number of parts of a value that are searched for secrets.
MOST_PARTS: Final = 10_000

_NOT_OF_NAMES: Final = re.compile(r"[^\w.-]", re.ASCII)


def is_secret(kind: type) -> bool:
    """Return whether a class is one of pydantic's secrets, or derived from one; does not import pydantic."""
    return any(
        base.__module__ == "pydantic.types" and base.__name__ == "_SecretBase" for base in kind.__mro__
    )


def make_known(values: Iterable[tuple[str, Any]]) -> None:
    """Make the secrets in named values known, so that they are masked wherever they leave, under these names.

    Models, lists, tuples and dicts are searched.
    """
    todo = list(values)
    for name, value in todo:  # grows while it is walked
        parts: Iterable[tuple[str, Any]]
        if type(value) in _WITHOUT:
            continue
        if isinstance(value, BaseModel):
            parts = vars(value).items()
        elif isinstance(value, dict):
            parts = ((str(key), part) for key, part in value.items())
        elif isinstance(value, list | tuple):
            parts = ((name, part) for part in value)
        else:
            if is_secret(type(value)):
                _know(name, value.get_secret_value())
            continue
        todo += islice(parts, max(MOST_PARTS - len(todo), 0))


def _know(name: str, value: object) -> None:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if isinstance(text, str):
        with suppress(SecretMissing):  # it is empty, or not text
            noted(_masked_as(name), text)


def _masked_as(name: str) -> str:
    """Return the name of a secret for its masks, which cannot have all characters."""
    written = _NOT_OF_NAMES.sub("_", name)
    return written if written[:1].isalpha() else f"_{written}"
