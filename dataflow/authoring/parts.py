"""Read the parts of a foreign file, and record problems with their locations."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from dataflow.diagnostics.diagnostic import Diagnostic
from dataflow.diagnostics.foreign import (
    FOREIGN_CHOICE_UNKNOWN,
    FOREIGN_ID_TWICE,
    FOREIGN_KEY_MISSING,
    FOREIGN_KEY_UNKNOWN,
    FOREIGN_NODE_UNKNOWN,
    FOREIGN_PROBLEM,
    FOREIGN_VALUE_INVALID,
)
from dataflow.formats.problems import describe_value, problems_of, write_path

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.tree import DocumentPath

__all__ = ["PartReader", "get_mapping", "get_mappings", "unique_ids"]

M = TypeVar("M", bound=BaseModel)
#: The keys that may hold the name of a part.
BY_ID: Final = ("id",)
NOTHING: Final = MappingProxyType[str, str]({})


@dataclass(frozen=True, slots=True)
class PartReader:
    """Reads one mapping of a file key by key, and records problems at their paths.

    For an invalid value it returns an empty one; files with a problem are not used. `of` names the part in
    messages, as in `node 'a'`; a part without a name is identified by its location alone.
    """

    notes: Notes
    part: JsonDict
    path: DocumentPath = ()
    of: str = ""

    def problem(self, problem: Diagnostic | str, *place: str | int) -> None:
        """Record a problem at a location in the part, or of the part itself.

        A string becomes a problem of the kind DF4001, for formats without kinds.
        """
        found = problem if isinstance(problem, Diagnostic) else FOREIGN_PROBLEM(text=problem)
        self.notes.problem((*self.path, *place), found.within(self.of))

    def expected(self, what: str, found: object, *place: str | int) -> None:
        """Record that something else was expected at a location."""
        self.problem(FOREIGN_VALUE_INVALID(expected=what, found=describe_value(found)), *place)

    def missing(self, key: str) -> bool:
        """Return whether a required key has no value, and record that as a problem."""
        is_missing = self.part.get(key) in (None, "")
        if is_missing:
            self.problem(FOREIGN_KEY_MISSING(key=key))
        return is_missing

    def string(self, key: str) -> str:
        """Return the string under a key, an empty one if there is none."""
        given = self.part.get(key)
        if isinstance(given, str | None):
            return given or ""
        self.expected("a string", given, key)
        return ""

    def integer(self, key: str) -> int | None:
        """Return the integer under a key, None if there is none."""
        given = self.part.get(key)
        if given is None or type(given) is int:
            return given
        self.expected("an integer", given, key)
        return None

    def choice(
        self, key: str, known: Collection[str], otherwise: str = "", *, renamed: Mapping[str, str] = NOTHING
    ) -> str:
        """Return the string under a key, one of those known, `otherwise` if there is none.

        `renamed` maps older names to known ones. Another string is recorded as a problem, and returned.
        """
        found = self.string(key) or otherwise
        found = renamed.get(found, found)
        if found in known or not isinstance(self.part.get(key), str | None):
            return found
        if found:
            problem = FOREIGN_CHOICE_UNKNOWN(key=key, value=found, available=known, near=found)
            self.problem(problem, key)
        else:
            self.problem(FOREIGN_KEY_MISSING(key=key, available=known))
        return found

    def mapping(self, key: str, what: str = "a mapping") -> PartReader:
        """Return a reader of the mapping under a key, of an empty one if there is none."""
        given = self.part.get(key)
        if not isinstance(given, dict | None):
            self.expected(what, given, key)
            given = None
        return PartReader(self.notes, given or {}, (*self.path, key), self.of)

    def items(self, key: str, *, needed: bool = False) -> list[Any]:
        """Return the items of the list under a key, none if there is no such list."""
        given = self.part.get(key)
        if needed and key not in self.part:
            self.problem(FOREIGN_KEY_MISSING(key=key))
        elif not isinstance(given, list) and (needed or given is not None):
            self.expected("a list", given, key)
        return given if isinstance(given, list) else []

    def entries(
        self,
        key: str,
        noun: str = "",
        what: str = "a mapping",
        *,
        needed: bool = False,
        named_by: Sequence[str] = BY_ID,
    ) -> list[PartReader]:
        """Return a reader of each mapping in the list under a key.

        `needed` records a problem if there is no list; for the other parameters see `entry`.
        """
        items = enumerate(self.items(key, needed=needed))
        found = (self.entry(item, noun, key, number, what=what, named_by=named_by) for number, item in items)
        return [part for part in found if part is not None]

    def entry(
        self,
        given: object,
        noun: str,
        *place: str | int,
        what: str = "a mapping",
        named_by: Sequence[str] = BY_ID,
    ) -> PartReader | None:
        """Return a reader of the mapping at a location, None if it is not a mapping.

        Messages name the entry by `noun` and the first of the keys `named_by` with a name, as in `node 'a'`,
        without them as this part. `what` is what they say was expected in place of another value.
        """
        if not isinstance(given, dict):
            self.expected(what, given, *place)
            return None
        name = next((name for key in named_by if isinstance(name := given.get(key), str) and name), None)
        of = f"{noun} {name!r}" if noun and name else self.of
        return PartReader(self.notes, given, (*self.path, *place), of)

    def endpoint(self, keys: Sequence[str], leads: str, nodes: Collection[str]) -> str:
        """Return the node at one end of an edge, under the first of these keys that is given.

        `leads` is `from` or `to`, for the message; an unknown node is recorded as a problem.
        """
        key = next((one for one in keys if self.part.get(one) not in (None, "")), keys[0])
        found = "" if self.missing(key) else self.string(key)
        if found and found not in nodes:
            problem = FOREIGN_NODE_UNKNOWN(direction=leads, node=found, available=nodes, near=found)
            self.problem(problem, key)
        return found

    def repeats_id(self, id: str, first: DocumentPath) -> None:
        """Record that the part has the id of another, whose location is `first`."""
        self.problem(FOREIGN_ID_TWICE(id=id, first=write_path(first)), "id")

    def check_keys(self, known: Collection[str]) -> None:
        """Record each unknown key."""
        for key in self.part:
            if key not in known:
                self.problem(FOREIGN_KEY_UNKNOWN(key=key, available=known, near=key), key)

    def checked(self, model: type[M]) -> M | None:
        """Return the part validated by a model, None if it does not fit."""
        try:
            return model.model_validate(self.part)
        except ValidationError as error:
            for found in problems_of(error, self.part, model):
                self.problem(found.diagnostic, *found.path)
            return None


def unique_ids(parts: Iterable[PartReader]) -> set[str]:
    """Return the ids of parts, and record each part with the id of an earlier one."""
    first: dict[str, PartReader] = {}
    for part in parts:
        id = part.part.get("id")
        if isinstance(id, str) and id and (before := first.setdefault(id, part)) is not part:
            part.repeats_id(id, before.path)
    return {*first}


def get_mappings(data: Any, key: str) -> list[dict[str, Any]]:
    """Return the mappings in the list under a key, none if there is no mapping or no list."""
    found = data.get(key) if isinstance(data, dict) else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def get_mapping(data: Any, key: str) -> dict[str, Any]:
    """Return the mapping under a key, an empty one if `data` is not a mapping or has none."""
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}
