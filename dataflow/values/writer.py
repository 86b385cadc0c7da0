"""Encode values as JSON that the reader decodes to equal values (S12.3)."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakKeyDictionary

from dataflow.base.copies import own_copy
from dataflow.base.failure import line_of_error
from dataflow.base.history import History, Part
from dataflow.diagnostics.values import (
    CLASS_NOT_NAMED,
    CODEC_NOT_SIMPLER,
    CODEC_READS_OTHER,
    NOT_TAKEN_APART,
    SECRET_NOT_STORED,
    VALUE_NOT_MADE,
)
from dataflow.errors import ValueRefused
from dataflow.secrets.foreign import is_secret, make_known
from dataflow.secrets.known import known
from dataflow.types.shapes import type_name
from dataflow.values.classes import class_name
from dataflow.values.codecs import kind_of
from dataflow.values.forms import has_fields
from dataflow.values.kinds import BY_TYPE, escaped, is_plain_number
from dataflow.values.refusals import (
    MOST_LEVELS,
    NO_FIELDS,
    Refused,
    not_storable,
    place_of,
    step_into,
    too_deep,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn

    from dataflow.secrets.known import Secrets
    from dataflow.values.classes import Classes
    from dataflow.values.kinds import Kind

__all__ = ["MOST_BYTES", "MOST_TEXT", "Json", "Writer"]

#: What json.dumps takes: strings, numbers, booleans, None, and lists and dicts of them.
Json: TypeAlias = Any
MOST_TEXT: Final = 4_096  # bytes in UTF-8; a longer string is stored as a blob, once for all its copies
MOST_BYTES: Final = 1_024  # longer bytes are stored as a blob
_FREE: Final = frozenset({bool, NoneType})  # types whose values are always written unchanged
_TEXT: Final = frozenset({str})


class Writer:
    """Encodes the values of one run; `put_blob` stores blobs separately, by their SHA-256.

    Not thread-safe. Parts of a history that were encoded before are not encoded again.
    """

    __slots__ = ("_alike", "_clash", "_classes", "_digests", "_forms", "_leaves", "_names", "_secrets")

    def __init__(self, classes: Classes, put_blob: Callable[[str, bytes], None]) -> None:
        self._classes = classes
        self._names = classes.names
        self._forms = classes.forms
        self._clash = classes.clash
        self._leaves = _Leaves(put_blob)
        self._digests: WeakKeyDictionary[Part[Any], str] = WeakKeyDictionary()
        self._alike: Counter[str] = Counter()  # parts of histories with equal content, by content hash
        self._secrets: Secrets | None = None

    def write(self, value: object, place: str) -> Json:
        """Encode a value; the result shares nothing with it. `place` names the port, as `a.out`.

        Raises ValueRefused with the location of the refused part.
        """
        self._secrets = self._leaves.secrets = known()
        try:
            return self._value(value, MOST_LEVELS)
        except Refused as refused:
            where, found, problem = place_of(place, refused)
            raise ValueRefused(where, type_name(type(found)), problem) from refused.__cause__
        except RecursionError as error:
            raise ValueRefused(place, type_name(type(value)), too_deep(type(value))) from error

    def _value(self, value: Any, levels: int) -> Json:
        kind = type(value)
        if kind is str:
            if self._secrets is None and len(value) <= MOST_TEXT and value.isascii():
                return value
            return self._leaves.text(value)
        if kind in (int, float):
            return value if self._secrets is None and is_plain_number(value) else self._leaves.number(value)
        if kind is dict:
            return self._dict(value, levels)
        if kind is list:
            return self._list(value, levels)
        return value if value is None or kind is bool else self._other(value, kind, levels)

    def _list(self, items: list[Any], levels: int) -> list[Json]:
        if not levels:
            raise Refused(too_deep(list), items)
        if _are_plain(items, self._secrets is not None):
            return items.copy()
        return self._items(items, items, levels - 1)

    def _items(
        self, items: Iterable[Any], holder: object, levels: int, step: str = "[{}]", start: int = 0
    ) -> list[Json]:
        written: list[Json] = []
        add = written.append
        try:
            for item in items:
                add(self._value(item, levels))
        except Refused as refused:
            refused.path.append((holder, step.format(start + len(written))))
            raise
        return written

    def _dict(self, mapping: dict[Any, Any], levels: int) -> dict[str, Json]:
        if not levels:
            raise Refused(too_deep(dict), mapping)
        if mapping and not self._has_plain_keys(mapping):
            return {"$": "dict", "v": self._pairs(mapping, levels - 1)}
        written = {}
        key = ""
        try:
            for key, item in mapping.items():
                written[f"${key}" if key[:1] == "$" else key] = self._value(item, levels - 1)
        except Refused as refused:
            refused.path.append((mapping, step_into(key)))
            raise
        return written

    def _has_plain_keys(self, mapping: dict[Any, Any]) -> bool:
        if set(map(type, mapping)) != _TEXT:
            return False
        together = "".join(mapping)
        if self._secrets is None and len(together) <= MOST_TEXT and together.isascii():
            return True
        return all(type(self._leaves.text(key)) is str for key in mapping)

    def _pairs(self, mapping: dict[Any, Any], levels: int) -> list[list[Json]]:
        written = []
        step = ""
        try:
            for key, item in mapping.items():
                step = ".keys()"
                first = self._value(key, levels)
                step = step_into(key)
                written.append([first, self._value(item, levels)])
        except Refused as refused:
            refused.path.append((mapping, step))
            raise
        return written

    def _other(self, value: Any, kind: type, levels: int) -> Json:
        try:
            name = self._names.get(kind)
        except TypeError as error:  # a class that has no hash
            raise Refused(not_storable(kind, *NO_FIELDS), value) from error
        if name is not None:
            return self._instance(value, name, levels)
        if kind is bytes:
            return self._leaves.data(value)
        if not levels:
            raise Refused(too_deep(kind), value)
        if kind is tuple:
            return {"$": "tuple", "v": self._items(value, value, levels - 1)}
        if kind is set or kind is frozenset:
            items = self._items(value, value, levels - 1, "[?]")
            return {"$": kind.__name__, "v": sorted(items, key=json.dumps)}
        if kind is History:
            return {"$": "history", "v": self._history(value, levels - 1)}
        known_kind = kind_of(kind)
        if known_kind is None:
            name = self._classes.name_of(kind)
            if name is not None:
                return self._instance(value, name, levels)
            _refuse(value, kind)
        return {"$": known_kind.name, "v": self._simpler(known_kind, value, levels)}

    def _simpler(self, kind: Kind, value: object, levels: int) -> Json:
        simpler = _taken_apart(kind.apart, value)
        if simpler is value or (levels == 1 and type(simpler) is type(value)):  # it would never end
            raise Refused(CODEC_NOT_SIMPLER(found=type_name(type(value))), value)
        try:
            written = self._value(simpler, levels - 1)
        except Refused as refused:
            refused.path.append((value, ""))
            raise
        if kind.simpler is object:  # of a codec that a user registered, and may be wrong
            _make_again(kind, simpler, value)
        return written

    def _instance(self, value: object, name: str, levels: int) -> Json:
        form = self._classes.form_of(name)
        if form is None:
            raise Refused(self._clash(name), value)
        written = {"$": name}
        for key, part in _taken_apart(form.apart, value).items():
            try:
                written[key] = self._value(part, levels)
            except Refused as refused:
                if refused.path and refused.path[-1][0] is part:
                    _, step = refused.path.pop()
                    refused.path.append((value, f".{step[2:-2]}"))
                raise
        return written

    def _history(self, history: History[Any], levels: int) -> str:
        """Encode the new parts of a history, each as a blob that refers to those before."""
        waiting = [history.last]
        while waiting:
            part = waiting[-1]
            needed = [one for one in (part.before, part.copy_of) if one is not None]
            new = [one for one in needed if one not in self._digests]
            waiting += new
            if not new:
                waiting.pop()
                if part not in self._digests:
                    self._digests[part] = self._part(part, history, levels)
        return self._digests[history.last]

    def _part(self, part: Part[Any], history: History[Any], levels: int) -> str:
        items = self._items(part.items, history, levels, start=part.start)
        written: dict[str, Json] = {
            "before": None if part.before is None else self._digests[part.before],
            "items": items,
        }
        if part.copy_of is not None:
            written["of"] = self._digests[part.copy_of]
        digest = self._blob_of(written)
        twin = self._alike[digest]
        self._alike[digest] += 1
        if twin and items:  # appended separately: equal parts must be read back as different ones
            digest = self._blob_of(written | {"twin": twin})
        return digest

    def _blob_of(self, written: dict[str, Json]) -> str:
        return self._leaves.blob(json.dumps(written, separators=(",", ":")).encode())


def _taken_apart(apart: Callable[[Any], Any], value: object) -> Any:
    try:
        return apart(value)
    except Refused as refused:
        refused.value = value
        raise
    except Exception as error:
        problem = NOT_TAKEN_APART(found=type_name(type(value)), error=line_of_error(error))
        raise Refused(problem, value) from error


def _make_again(kind: Kind, simpler: object, value: object) -> None:
    """Raise Refused if a resumed run could not read what is written."""
    try:
        made = kind.together(own_copy(simpler))
    except Exception as error:
        raise Refused(VALUE_NOT_MADE(error=line_of_error(error)), value) from error
    if not isinstance(made, kind.of):
        raise Refused(CODEC_READS_OTHER(expected=kind.name, found=type_name(type(made))), value)


def _are_plain(items: list[Any], has_secrets: bool) -> bool:
    """Return whether the items of a list are of one type, and all can be written unchanged."""
    kinds = set(map(type, items))
    if kinds <= _FREE:
        return True
    if len(kinds) > 1 or has_secrets:
        return False
    if str in kinds:
        together = "".join(items)
        return len(together) <= MOST_TEXT and together.isascii()
    if int in kinds:
        return is_plain_number(min(items)) and is_plain_number(max(items))
    return float in kinds and is_plain_number(sum(items))


def _refuse(value: object, kind: type) -> NoReturn:
    if is_secret(kind):
        with suppress(UserWarning):  # of a weak value, where warnings are errors: it is refused anyway
            make_known([(kind.__name__, value)])
        raise Refused(SECRET_NOT_STORED(found=type_name(kind)), value)
    if not has_fields(kind) or issubclass(kind, BaseException):
        raise Refused(not_storable(kind), value)
    raise Refused(CLASS_NOT_NAMED(name=class_name(kind)), value)


class _Leaves:
    """Encodes strings, numbers and bytes, and masks the known `secrets` in them."""

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
        marked = self.secrets.text.mark(text) if self.secrets else None
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
        marked = self.secrets.data.mark(data) if self.secrets else None
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
