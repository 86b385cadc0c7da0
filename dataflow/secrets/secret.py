"""`Secret`, a value that is looked up by name and never written, and log records with secrets masked."""

from __future__ import annotations

import logging
import os
import re
import threading
import traceback
from typing import TYPE_CHECKING, Any, ClassVar, Final

from dataflow.diagnostics.secrets import (
    SECRET_MISSING,
    SECRET_NAME_INVALID,
    SECRET_NOT_TEXT,
    SECRET_NOT_UTF8,
    SECRET_TOO_SHORT,
    SECRET_UNCHANGEABLE,
)
from dataflow.errors import ArgumentInvalid, SecretMissing
from dataflow.secrets.known import know, redacted, revealed
from dataflow.secrets.masking import GUARDED

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

__all__ = ["Secret", "look_up", "redact_logs"]

#: The minimum length of a secret: shorter values occur in any text by chance.
SHORTEST: Final = 8
_NAME: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_noting: Final = threading.Lock()  # a value is masked in logs before any caller has it


class Secret:
    """A secret, referred to by name: `reveal` looks it up in the environment, unless its value is given.

    It can be a constant, an input, a field of a `Config`, and travel along edges. Only its name is ever
    written: it serializes to its name, and two of one name are equal. A value that `reveal` has returned is
    masked as `[secret:NAME]` wherever the engine or a logger writes it.
    """

    __slots__ = ("_value", "name")

    takes_only_itself: ClassVar = True  # its schema is for JSON: no other Python value is converted
    shows_only_its_name: ClassVar = True  # so masking does not inspect its fields
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
        """Return the value; raises SecretMissing if there is none, or one under 8 characters."""
        value = self._value
        if value is None:
            return look_up(self.name)
        return _noted(self.name, value)

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
    value = os.environ.get(name)
    if value is None:
        value = revealed(name)
    if value is None:
        raise SecretMissing(name, SECRET_MISSING())
    return _noted(name, value)


def _noted(name: str, value: str) -> str:
    if len(value) < SHORTEST:
        expected, found = f"at least {SHORTEST} characters", str(len(value))
        raise SecretMissing(name, SECRET_TOO_SHORT(expected=expected, found=found))
    if not _is_text(value):
        raise SecretMissing(name, SECRET_NOT_UTF8())
    with _noting:
        if know(name, value):
            redact_logs()
    return value


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _name_of(secret: Secret) -> str:
    return secret.name


def redact_logs() -> None:
    """Mask secrets in the message, arguments and exception of every log record created from now on."""
    make = logging.getLogRecordFactory()

    def make_redacted(*args: Any, **keywords: Any) -> logging.LogRecord:
        record = make(*args, **keywords)
        _redact(record)
        return record

    logging.setLogRecordFactory(make_redacted)


def _redact(record: logging.LogRecord) -> None:
    record.stack_info = redacted(record.stack_info)
    _redact_exception(record)
    message = None
    with GUARDED:
        message = record.getMessage()
    msg, args, clean = redacted(record.msg), redacted(record.args), redacted(message)
    if message is None:  # logging itself reports what is wrong when the record is written
        record.msg, record.args = msg, args
    elif not (msg is record.msg and args is record.args and clean is message):
        record.msg, record.args = clean, None  # copies may format differently from the originals


def _redact_exception(record: logging.LogRecord) -> None:
    """Replace an exception whose text has a secret by the masked text; leave others unchanged."""
    if not record.exc_info or record.exc_info[0] is None:
        return
    text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    clean = redacted(text)
    if clean != text:
        record.exc_info, record.exc_text = None, clean
