"""`Secret`, a value that is looked up by name and never written."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dataflow.diagnostics.secrets import (
    SECRET_MISSING,
    SECRET_NAME_INVALID,
    SECRET_NOT_TEXT,
    SECRET_NOT_UTF8,
    SECRET_TOO_COMMON,
    SECRET_TOO_SHORT,
    SECRET_UNCHANGEABLE,
)
from dataflow.errors import ArgumentInvalid, SecretMissing
from dataflow.secrets.known import know, revealed
from dataflow.secrets.masking import SHORTEST

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

    from dataflow.diagnostics.diagnostic import Kind

__all__ = ["Secret", "look_up", "noted"]

#: A value of letters alone, or without letters, is masked from this length on: else it is a word or a number.
LONGEST_WORD: Final = 16
FEWEST_CHARACTERS: Final = 4
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


class Secret:
    """A secret, referred to by name: `reveal` looks it up in the environment, unless its value is given.

    It can be a constant, an input, a field of a `Config`, and travel along edges. Only its name is ever
    written: it serializes to its name, and two of one name are equal. A value that `reveal` has returned is
    masked as `[secret:NAME]` in what the engine writes, and in logs behind a `SecretFilter`.
    """

    __slots__ = ("_value", "name")

    takes_only_itself: ClassVar = True  # its schema is for JSON: no other Python value is converted
    name: str
    _value: str | None

    def __init__(self, name: str, value: str | None = None) -> None:
        if _NAME.fullmatch(name) is None:
            raise ArgumentInvalid(SECRET_NAME_INVALID(name=name))
        if value is not None and not isinstance(value, str):
            raise ArgumentInvalid(SECRET_NOT_TEXT(f"secret {name!r}", found=type(value).__name__))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "_value", value)

    def reveal(self) -> str:
        """Return the value, and warn of one too short or too common to be masked; raises SecretMissing."""
        return noted(self.name, _found(self.name) if self._value is None else self._value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(str(SECRET_UNCHANGEABLE()))

    def __delattr__(self, name: str) -> None:
        raise AttributeError(str(SECRET_UNCHANGEABLE()))

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, Secret) else NotImplemented

    def __hash__(self) -> int:
        return hash((Secret, self.name))

    def __repr__(self) -> str:
        return f"Secret({self.name!r})"

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, _: object) -> Secret:
        return self

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return Secret, (self.name,)  # a value given in Python stays in its process

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        from pydantic_core import core_schema

        instance = core_schema.is_instance_schema(cls)
        name = core_schema.str_schema(pattern=f"^{_NAME.pattern.replace(chr(92) + 'w', '0-9A-Za-z_')}$")
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(cls, name),
            # A Python string is refused: it could be the value itself, which would then be shown as a name.
            python_schema=instance,
            serialization=core_schema.plain_serializer_function_ser_schema(
                _name_of, return_schema=core_schema.str_schema()
            ),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, *_: object) -> dict[str, Any]:
        return {"type": "string", "format": "secret"}  # its name


def look_up(name: str) -> str:
    """Return the value of a secret from the environment, else the last one revealed in this process.

    Raises SecretMissing.
    """
    return noted(name, _found(name))


def noted(name: str, value: str) -> str:
    """Return the value of a secret, masked from now on; warns of one that cannot be masked by its text.

    Raises SecretMissing for one that is empty or not text.
    """
    if not value:
        raise SecretMissing(name, SECRET_MISSING())
    if not _is_text(value):
        raise SecretMissing(name, SECRET_NOT_UTF8())
    weakness = _weakness(value)
    if know(name, value, is_masked=weakness is None) and weakness is not None:
        warnings.warn(str(weakness(f"secret {name!r}")), stacklevel=3)
    return value


def _found(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        value = revealed(name)
    if value is None:
        raise SecretMissing(name, SECRET_MISSING())
    return value


def _weakness(value: str) -> Kind | None:
    """Return why a value cannot be masked: a short or common one is part of any text by chance."""
    if len(value) < SHORTEST:
        return SECRET_TOO_SHORT
    is_word_or_number = value.isalpha() or not any(map(str.isalpha, value))
    if (is_word_or_number and len(value) < LONGEST_WORD) or len(set(value)) < FEWEST_CHARACTERS:
        return SECRET_TOO_COMMON
    paths = (*sys.path, sys.executable, *map(os.environ.get, ("HOME", "PWD")))
    return SECRET_TOO_COMMON if any(value in path for path in paths if path) else None


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _name_of(secret: Secret) -> str:
    return secret.name
