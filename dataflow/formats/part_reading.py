"""Reading a part of a foreign file, which may hold anything: what is wrong with it is noted at its place."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from pydantic import BaseModel, ValidationError

from dataflow.formats.problems import described, problems_of, write_path
from dataflow.wording import choices, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.tree import Path

__all__ = ["PartReader", "check_ids", "named_ids"]

M = TypeVar("M", bound=BaseModel)
NOTHING: Final = MappingProxyType[str, str]({})


@dataclass(frozen=True, slots=True)
class PartReader:
    """Reads the mapping that stands at a place of a file; what is wrong with it is noted.

    What it returns for a part that is wrong is empty, and counts only if no problem is noted. `of` says whose
    part it is, as in `node 'a'`; a part without a name is told by its place alone.
    """

    notes: Notes
    part: JsonDict
    path: Path = ()
    of: str = ""

    def problem(self, text: str, *place: str | int) -> None:
        """Note what is wrong with what stands at a place in the part, or with the part itself."""
        self.notes.problem((*self.path, *place), f"{self.of}: {text}" if self.of else text)

    def expected(self, what: str, found: object, *place: str | int) -> None:
        """Note that something else was expected at a place."""
        self.problem(f"expected {what}, found {described(found)}", *place)

    def missing(self, key: str) -> bool:
        """Tell whether nothing stands under a key that has to be there, which is noted."""
        lacks = self.part.get(key) in (None, "")
        if lacks:
            self.problem(f"has no `{key}`")
        return lacks

    def text(self, key: str) -> str:
        """Return the text under a key, an empty one where there is none."""
        given = self.part.get(key)
        if isinstance(given, str | None):
            return given or ""
        self.expected("text", given, key)
        return ""

    def word(
        self, key: str, known: Collection[str], otherwise: str = "", *, renamed: Mapping[str, str] = NOTHING
    ) -> str:
        """Return the text under a key, which is one of those known; `renamed` are the older ones."""
        found = self.text(key) or otherwise
        found = renamed.get(found, found)
        if found in known or not isinstance(self.part.get(key), str | None):
            return found
        if found:
            self.problem(f"there is no {key} {found!r}; {choices(nearest(known, found))}", key)
        else:
            self.problem(f"has no `{key}`; {choices(known)}")
        return found

    def mapping(self, key: str, what: str = "a mapping") -> PartReader:
        """Return what reads the mapping under a key, an empty one where there is none."""
        given = self.part.get(key)
        if not isinstance(given, dict | None):
            self.expected(what, given, key)
            given = None
        return PartReader(self.notes, given or {}, (*self.path, key), self.of)

    def entries(
        self, key: str, noun: str = "", what: str = "a mapping", *, needed: bool = False
    ) -> list[PartReader]:
        """Return what reads each mapping in the list under a key; `noun` and its id name it."""
        given = self.part.get(key)
        if needed and key not in self.part:
            self.problem(f"has no `{key}`")
        elif not isinstance(given, list) and (needed or given is not None):
            self.expected("a list", given, key)
        found: list[PartReader] = []
        for number, entry in enumerate(given if isinstance(given, list) else ()):
            if isinstance(entry, dict):
                id = entry.get("id")
                of = f"{noun} {id!r}" if noun and isinstance(id, str) and id else self.of
                found.append(PartReader(self.notes, entry, (*self.path, key, number), of))
            else:
                self.expected(what, entry, key, number)
        return found

    def end(self, keys: Sequence[str], leads: str, nodes: Collection[str]) -> str:
        """Return the node that an edge leads from or to, which is one of these; the keys are its names."""
        key = next((one for one in keys if self.part.get(one) not in (None, "")), keys[0])
        found = "" if self.missing(key) else self.text(key)
        if found and found not in nodes:
            told = f"leads {leads} {found!r}, which is no node"
            self.problem(f"{told}; {choices(nearest(nodes, found))}", key)
        return found

    def checked(self, model: type[M]) -> M | None:
        """Return the part as a model has it, None where it does not fit."""
        try:
            return model.model_validate(self.part)
        except ValidationError as error:
            for problem in problems_of(error, self.part):
                self.problem(problem.text, *problem.path)
            return None


def named_ids(parts: Iterable[PartReader]) -> set[str]:
    """Return the ids that parts have."""
    return {id for part in parts if isinstance(id := part.part.get("id"), str) and id}


def check_ids(parts: Iterable[PartReader]) -> None:
    """Note each part that has the id of one before it."""
    first: dict[str, PartReader] = {}
    for part in parts:
        id = part.part.get("id")
        if isinstance(id, str) and id and (before := first.setdefault(id, part)) is not part:
            part.problem(f"has the id {id!r} of {write_path(before.path)}; each id stands once", "id")
