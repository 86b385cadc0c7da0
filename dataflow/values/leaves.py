"""Writing what holds nothing else: texts, numbers and bytes, without secrets (S12.3, S12.4)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dataflow.values.kinds import BY_TYPE, escaped, is_plain_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.secrets.known import Secrets

__all__ = ["MOST_BYTES", "MOST_TEXT", "Json", "Leaves"]

#: What json.dumps takes: texts, numbers, booleans, None, and lists and dicts of them.
Json: TypeAlias = Any

MOST_TEXT: Final = 16_384  # bytes in UTF-8; longer text is a blob
MOST_BYTES: Final = 1_024


class Leaves:
    """Writes texts, numbers and bytes; `secrets` are those that are known now."""

    __slots__ = ("_put_blob", "secrets")

    def __init__(self, put_blob: Callable[[str, bytes], None]) -> None:
        self._put_blob = put_blob
        self.secrets: Secrets | None = None

    def number(self, number: float) -> Json:
        if not is_plain_number(number):
            kind = BY_TYPE[type(number)]
            return {"$": kind.name, "v": self.text(kind.apart(number))}
        text = self.text(str(number)) if type(number) is int else ""
        return number if type(text) is str else {"$": "int", "v": text}  # the number is a secret

    def text(self, text: str) -> Json:
        marked = self.secrets.mark(text) if self.secrets else None
        if marked is not None:
            return {"$": "secret", "v": [self._sized(marked.value), marked.spans]}
        return self._sized(text)

    def _sized(self, text: str) -> Json:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return {"$": "str", "v": self._sized(escaped(text))}
        return text if len(data) <= MOST_TEXT else {"$": "text", "v": self.blob(data)}

    def data(self, data: bytes) -> Json:
        marked = self.secrets.mark_bytes(data) if self.secrets else None
        if marked is not None:
            return {"$": "secret", "v": [self._sized_bytes(marked.value), marked.spans]}
        return self._sized_bytes(data)

    def _sized_bytes(self, data: bytes) -> Json:
        if len(data) > MOST_BYTES:
            return {"$": "blob", "v": self.blob(data)}
        return {"$": "bytes", "v": BY_TYPE[bytes].apart(data)}

    def blob(self, data: bytes) -> str:
        name = sha256(data).hexdigest()
        self._put_blob(name, data)
        return name
