"""Values as they are stored, made readable without the flow they belong to: no class of it is imported.

What the codec wrote of a class becomes an object of its fields, a text that is stored beside the journal
becomes the text; marks of secrets stay marks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataflow.cli.carrying import carried
from dataflow.errors import DataflowError
from dataflow.redaction import redacted
from dataflow.values.kinds import BY_NAME

if TYPE_CHECKING:
    from dataflow.stores import Store

__all__ = ["Stored"]

_SHOWN_AS_LISTS: Final = frozenset({"tuple", "set", "frozenset"})


class Stored:
    """Makes what was stored of a run readable, fetching what is stored beside its journal."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def readable(self, data: Any) -> Any:
        """Return what JSON carries in the place of a stored value; never fails."""
        try:
            return redacted(carried(self._plain(data)))
        except (DataflowError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            return f"(cannot be read: {error})"

    def _plain(self, data: Any) -> Any:
        if isinstance(data, list):
            return [self._plain(item) for item in data]
        if not isinstance(data, dict):
            return data
        if "$" not in data:
            return {key.removeprefix("$"): self._plain(item) for key, item in data.items()}
        return self._marked(data["$"], data.get("v"))

    def _marked(self, name: str, value: Any) -> Any:
        match name:
            case "text":
                return self._store.blob(value).decode()
            case "blob":
                return self._store.blob(value)
            case "secret":
                return self._plain(value[0])
            case "history":
                return self._history(value)
            case "dict":
                pairs = [(self._plain(key), self._plain(item)) for key, item in value]
                return {key if isinstance(key, str) else str(key): item for key, item in pairs}
            case _ if name in _SHOWN_AS_LISTS:
                return self._plain(value)
            case _ if name in BY_NAME:
                return BY_NAME[name].together(self._plain(value))
            case _:
                return self._plain(value)  # the fields of a class

    def _history(self, digest: str | None) -> list[Any]:
        parts: list[list[Any]] = []
        while digest is not None:
            part = json.loads(self._store.blob(digest))
            parts.append(part["items"])
            digest = part["before"]
        return [self._plain(item) for items in reversed(parts) for item in items]
