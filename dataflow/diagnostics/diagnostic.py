"""Problems as data: a kind with a stable code, where the problem is, what was expected and what was found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from string import Formatter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dataflow.base.wording import conceal, listed, nearest, on_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

__all__ = ["NOWHERE", "Diagnostic", "Kind", "Location", "joined", "kinds_of"]


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A position in a file: its name, line and column, both counted from 1, 0 where not known."""

    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Return `file:line:column` without what is not known."""
        numbers = [str(number) for number in (self.line, self.column) if number]
        return ":".join([*([self.file] if self.file else []), *numbers])


T = TypeVar("T")
NOWHERE: Final = Location()
#: How many steps at each end of a long path a message names.
ENDS: Final = 4
#: The maximum number of names in `available`: a flow may have thousands of problems, and of names for each.
MOST_AVAILABLE: Final = 100


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem. Call it with the fields of a problem to make a `Diagnostic`.

    `problem` and `hint` are templates of `str.format` over the fields and details of the diagnostic. What was
    expected, found and is available is appended to the problem, unless the template names it; `expected` is
    what is expected where the call does not say. `meaning`,
    `example` and `cure` are what `dataflow explain` shows.
    """

    code: str
    problem: str
    hint: str = ""
    expected: str = ""
    meaning: str = ""
    example: str = ""
    cure: str = ""

    def __call__(
        self,
        place: object = "",
        *,
        port: str = "",
        expected: object = "",
        found: object = "",
        available: Iterable[object] | None = None,
        out_of: int | None = None,
        near: str | None = None,
        location: Location = NOWHERE,
        **details: object,
    ) -> Diagnostic:
        """Make a problem of this kind.

        `available` is sorted by similarity to `near` if that is given. With `out_of`, the number of names,
        only the first of `available` are read.
        """
        names = (
            [] if available is None else list(map(str, available if out_of is None else _first(available)))
        )
        if near is not None:
            names = nearest(names, near)
        return Diagnostic(
            kind=self,
            place=str(place),
            port=port,
            expected=str(expected) or self.expected,
            found=str(found),
            available=None if available is None else tuple(_first(names)),
            others=max((len(names) if out_of is None else out_of) - MOST_AVAILABLE, 0),
            location=location,
            details=tuple((name, _plain(value)) for name, value in details.items()),
        )

    @property
    def outline(self) -> str:
        """The text with the names of its fields in place of their values, such as `the loop LOOP failed`."""
        if self.problem:
            expected = f"expected {self.expected}" if self.expected else ""
        else:
            expected = f"expected {self.expected or 'TYPE'}, found VALUE"
        parts = (_without_values(self.problem), expected, _without_values(self.hint))
        return "; ".join(part for part in parts if part)


def _without_values(template: str) -> str:
    return "".join(text + (name or "").upper() for text, name, _, _ in Formatter().parse(template))


def _first(names: Iterable[T]) -> Iterable[T]:
    return islice(names, MOST_AVAILABLE)


def _plain(value: object) -> str | int | float:
    return value if isinstance(value, int | float) else str(value)


def kinds_of(table: ModuleType) -> tuple[Kind, ...]:
    """Return the kinds that a module defines, in the order of their codes."""
    found = [value for value in vars(table).values() if isinstance(value, Kind)]
    return tuple(sorted(found, key=lambda kind: kind.code))


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A problem: its kind, where it is, and the values that its text is made of.

    `place` is the path in the flow, document or value, such as `load.text` or `nodes.load.policy`; `port` is
    the name of the port, if the problem is about one. `available` are the names that could be meant, None
    where there is no such choice; `others` counts those beyond the first 100. Secrets are masked in `text`,
    `str()` and `as_json()`, not in the fields.
    """

    kind: Kind
    place: str = ""
    port: str = ""
    expected: str = ""
    found: str = ""
    available: tuple[str, ...] | None = None
    others: int = 0
    location: Location = NOWHERE
    details: tuple[tuple[str, str | int | float], ...] = ()

    @property
    def code(self) -> str:
        """The stable code of the kind."""
        return self.kind.code

    @property
    def hint(self) -> str:
        """What to do about it, empty where the text says it all."""
        return self._write(self.kind.hint)

    @property
    def problem(self) -> str:
        """The problem in words, without code, place and location."""
        template = self.kind.problem
        parts = [self._write(template)] if template else []
        named = {name for _, name, _, _ in Formatter().parse(template)} if "{" in template else set()
        required = [
            f"{word} {value}"
            for word, value in (("expected", self.expected), ("found", self.found))
            if value and word not in named
        ]
        if required:
            parts.append(", ".join(required))
        if self.available is not None and "available" not in named:
            parts.append(self._choices())
        if self.hint:
            parts.append(self.hint)
        return "; ".join(parts)

    @property
    def text(self) -> str:
        """The place and the problem, on one line; of a place in many nested flows the two ends."""
        place = _shortened(self.place)
        return on_one_line(f"{place}: {self.problem}" if place else self.problem)

    def __str__(self) -> str:
        """Return `location: code place: problem`, on one line."""
        head = f"{self.location}: {self.code}" if self.location != NOWHERE else self.code
        return f"{on_one_line(head)} {self.text}"

    def within(self, place: object) -> Diagnostic:
        """Return the same problem of a part of what is at a place."""
        return replace(self, place=joined(str(place), self.place))

    def at(self, location: Location) -> Diagnostic:
        """Return the same problem with its location, if it has none yet."""
        return replace(self, location=location) if self.location == NOWHERE else self

    def as_json(self) -> dict[str, Any]:
        """Return all fields as JSON values, with secrets masked; None where there is nothing to say."""
        names = self.available
        return {
            "code": self.code,
            "text": self.text,
            "file": conceal(self.location.file) or None,
            "line": self.location.line or None,
            "column": self.location.column or None,
            "place": conceal(self.place) or None,
            "port": conceal(self.port) or None,
            "expected": conceal(self.expected) or None,
            "found": conceal(self.found) or None,
            "available": None if names is None else [conceal(name) for name in names],
            "hint": conceal(self.hint) or None,
        }

    def _write(self, template: str) -> str:
        if "{" not in template:
            return template
        return template.format(
            place=self.place,
            port=self.port,
            expected=self.expected,
            found=self.found,
            available=self._choices(),
            **dict(self.details),
        )

    def _choices(self) -> str:
        names = self.available
        return f"available: {listed(names, len(names) + self.others)}" if names else "none are available"


def _shortened(place: str) -> str:
    """Replace the middle of a long path by the number of its steps."""
    steps = place.split("/")
    left_out = len(steps) - 2 * ENDS
    if left_out <= ENDS:
        return place
    return "/".join([*steps[:ENDS], f"… {left_out} more …", *steps[-ENDS:]])


def joined(outer: str, inner: str) -> str:
    """Join a place and a place inside it: `load.text` and `[2].name` are `load.text[2].name`."""
    if not inner or not outer:
        return inner or outer
    return outer + inner if inner[0] in "[." else f"{outer}: {inner}"
