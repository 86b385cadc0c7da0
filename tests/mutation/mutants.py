"""The mutants that measure the tests: which they are, and how the list is stored."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from tests.mutation.sources import Change, Site, find, read

STORED: Final = Path(__file__).with_name("mutants.jsonl")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a function of the engine, and what is known about it."""

    module: str
    site: Site
    #: The changed line, by which the place is found again when the function has changed elsewhere.
    line: str
    #: Tests that fail with it, each alone; none where it survives.
    caught_by: tuple[str, ...] = ()
    #: Why no test can notice it.
    equivalent: str = ""

    def __str__(self) -> str:
        return f"{self.module}, {self.site.function}, {self.site.operator} {self.site.occurrence}"


def load() -> list[Mutant]:
    """Return the stored mutants, each in the module that has its function now."""
    mutants = []
    for text in STORED.read_text(encoding="utf-8").splitlines():
        fields = json.loads(text)
        site = Site(fields.pop("function"), fields.pop("operator"), fields.pop("occurrence"))
        fields["caught_by"] = tuple(fields["caught_by"])
        mutant = Mutant(site=site, **fields)
        mutants.append(replace(mutant, module=find(mutant.module, site.function)))
    return mutants


def change_of(mutant: Mutant) -> Change | None:
    """Make the change of a mutant; return None if its place is gone."""
    return read(mutant.module).change_to(mutant.line, mutant.site)


def store(mutants: Iterable[Mutant]) -> None:
    lines = []
    for mutant in mutants:
        fields = asdict(mutant)
        fields = {"module": fields.pop("module"), **fields.pop("site"), **fields}
        lines.append(json.dumps(fields, ensure_ascii=False) + "\n")
    STORED.write_text("".join(lines), encoding="utf-8")
