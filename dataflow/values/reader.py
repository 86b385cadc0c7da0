"""Decode values from the JSON that the writer has encoded them as (S12.3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import line_of_error
from dataflow.base.history import History, Part
from dataflow.base.wording import shortened
from dataflow.core.former_names import current_name
from dataflow.diagnostics.values import (
    CLASS_NOT_NAMED,
    CODEC_READS_OTHER,
    DATA_MALFORMED,
    NESTED_TOO_DEEPLY,
    VALUE_NOT_MADE,
)
from dataflow.errors import SecretMissing, StoreError
from dataflow.secrets.known import filled, filled_bytes
from dataflow.secrets.secret import look_up
from dataflow.types.shapes import type_name
from dataflow.values.codecs import kind_named
from dataflow.values.refusals import LEVELS, UnknownClass, Unreadable, malformed

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.values.classes import Classes
    from dataflow.values.forms import Form
    from dataflow.values.kinds import Kind
    from dataflow.values.writer import Json

__all__ = ["Reader"]

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
_TAGGED: Final = {"$", "v"}
_PART: Final = {"before", "items"}
A_HISTORY: Final = "a stored history"


class Reader:
    """Decodes the values of one run; `get_blob` returns separately stored blobs, errors name the `store`.

    Histories that shared parts share them again. No import depends on stored data: only classes in the types
    of the flow's ports are decoded, by their current or a former name.
    """

    __slots__ = ("_classes", "_former", "_get_blob", "_parts", "_readers", "_store")

    def __init__(self, classes: Classes, get_blob: Callable[[str], bytes], store: str) -> None:
        self._classes = classes
        self._get_blob = get_blob
        self._store = store
        self._former: dict[str, Form] = {}  # by former name
        self._parts: dict[str, Part[Any]] = {}
        self._readers: dict[str, Callable[[Json], object]] = {
            "blob": self._blob,
            "history": lambda stored: History(self._part(stored)),
            "secret": self._secret,
            "text": lambda stored: self._blob(stored).decode(),
        }

    def read(self, data: Json, what: str = "") -> Any:
        """Decode a value, which errors call `what`.

        Raises StoreError for invalid data, SecretMissing as `Secret` does.
        """
        if type(data) in _SCALARS:
            return data
        try:
            return self._value(data)
        except Unreadable as error:
            found = error.problem
            place = what or ("" if found.place else "a stored value")
            raise StoreError(self._store, found.within(place)) from error
        except RecursionError as error:
            problem = NESTED_TOO_DEEPLY(what, found="a stored value", expected=LEVELS)
            raise StoreError(self._store, problem) from error

    def _value(self, data: Json) -> Any:
        kind = type(data)
        if kind in _SCALARS:
            return data
        if kind is list:
            return [self._value(item) for item in data]
        if kind is not dict:
            raise malformed("JSON", data)
        if "$" in data:
            return self._marked(data)
        return {_key(key): self._value(item) for key, item in data.items()}

    def _marked(self, data: dict[str, Json]) -> object:
        name = data["$"]
        if type(name) is not str:
            raise malformed("a string under `$`", name)
        special = self._readers.get(name)
        kind = None if special else self._kind(name)
        if special is None and kind is None:
            return self._instance(name, data)
        if data.keys() != _TAGGED:
            found = ", ".join(map(repr, data))
            raise Unreadable(DATA_MALFORMED(f"a stored {name}", expected="'$' and 'v'", found=found))
        try:
            return special(data["v"]) if special else self._of_kind(kind, self._value(data["v"]))
        except (Unreadable, StoreError, SecretMissing, RecursionError):
            raise
        except Exception as error:
            raise Unreadable(VALUE_NOT_MADE(f"a stored {name}", error=line_of_error(error))) from error

    def _kind(self, name: str) -> Kind | None:
        """Return the kind of a name, unless it is that of a class of the flow."""
        return None if name in self._classes.forms else kind_named(name)

    def _of_kind(self, kind: Kind | None, simpler: object) -> object:
        assert kind is not None, "the caller has found a special reader or a kind"
        allowed = kind.simpler if isinstance(kind.simpler, tuple) else (kind.simpler,)
        if type(simpler) not in allowed and kind.simpler is not object:
            expected = " or ".join(one.__name__ for one in allowed)
            raise malformed(expected, simpler, f"a stored {kind.name}")
        try:
            made = kind.together(simpler)
        except Unreadable as error:
            raise error.within(f"a stored {kind.name}") from error
        if not isinstance(made, kind.of):
            problem = CODEC_READS_OTHER(
                f"a stored {kind.name}", expected=kind.name, found=type_name(type(made))
            )
            raise Unreadable(problem)
        return made

    def _instance(self, name: str, data: dict[str, Json]) -> object:
        form = self._form(name)
        parts = {key: self._value(part) for key, part in data.items() if key != "$"}
        if not parts.keys() <= form.keys:
            found = f"a part {min(parts.keys() - form.keys)!r}"
            raise Unreadable(DATA_MALFORMED(f"a stored {name}", found=found, available=sorted(form.keys)))
        try:
            return form.together(parts)
        except Unreadable as error:
            raise error.within(f"a stored {name}") from error
        except Exception as error:
            raise Unreadable(VALUE_NOT_MADE(f"a stored {name}", error=line_of_error(error))) from error

    def _form(self, name: str) -> Form:
        form = self._classes.form_named(name) or self._former.get(name)
        if form is not None:
            return form
        form = self._classes.form_named(current_name(name))
        if form is not None:
            return self._former.setdefault(name, form)
        if name in self._classes.twice:
            raise UnknownClass(self._classes.clash(name))
        raise UnknownClass(CLASS_NOT_NAMED(name=shortened(name, 200)))

    def _blob(self, name: Json) -> bytes:
        if type(name) is not str:
            raise malformed("the name of a blob", name)
        return self._get_blob(name)

    def _secret(self, stored: Json) -> str | bytes:
        text, spans = stored
        marked = self._value(text)
        if type(marked) is bytes:
            return filled_bytes(marked, spans, look_up)
        if type(marked) is not str:
            raise malformed("str or bytes with secrets", marked)
        return filled(marked, spans, look_up)

    def _part(self, digest: Json) -> Part[Any]:
        """Decode the parts of a history that are not decoded yet, dependencies first."""
        if digest is None:
            raise Unreadable(DATA_MALFORMED(A_HISTORY, found="no part"))
        opened: dict[str, dict[str, Json]] = {}
        waiting: list[Json] = [digest]
        while waiting:
            name = waiting[-1]
            if name in self._parts:
                waiting.pop()
                continue
            is_open = name in opened
            stored = opened[name] if is_open else opened.setdefault(name, self._stored_part(name))
            needed = [stored[key] for key in ("before", "of") if stored.get(key) is not None]
            new = [one for one in needed if one not in self._parts]
            if new and is_open:
                raise Unreadable(DATA_MALFORMED(A_HISTORY, found="a part that comes after itself"))
            waiting += new
            if not new:
                self._parts[name] = self._made_part(stored)
        return self._parts[digest]

    def _stored_part(self, name: Json) -> dict[str, Json]:
        stored = json.loads(self._blob(name))
        if type(stored) is not dict or not _PART <= stored.keys() <= _PART | {"of", "twin"}:
            found = ", ".join(map(repr, stored)) if type(stored) is dict else type(stored).__name__
            raise Unreadable(DATA_MALFORMED(A_HISTORY, expected="`before` and `items`", found=found))
        if type(stored["items"]) is not list:
            raise malformed("a list of messages", stored["items"], A_HISTORY)
        return stored

    def _made_part(self, stored: dict[str, Json]) -> Part[Any]:
        before, copied = self._parts.get(stored["before"]), self._parts.get(stored.get("of", ""))
        items = tuple(map(self._value, stored["items"]))
        return Part(items, 0 if before is None else before.end, before, copied)


def _key(key: str) -> str:
    if key[:1] != "$":
        return key
    if key[:2] != "$$":
        found = repr(shortened(key, 60))
        raise Unreadable(DATA_MALFORMED(expected="a key that begins with `$$`", found=found))
    return key[1:]
