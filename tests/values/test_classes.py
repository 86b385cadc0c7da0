"""Which classes the types of ports lead to (S12.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Generic, Literal, NamedTuple, NewType, TypedDict, TypeVar

from pydantic import BaseModel
from typing_extensions import TypeAliasType

from dataflow.values.classes import classes_of

if TYPE_CHECKING:
    from decimal import Context as Elsewhere

T = TypeVar("T")


class Shade(Enum):
    DARK = 1


@dataclass
class Part:
    shade: Shade


@dataclass
class Whole(Generic[T]):
    part: T
    next: Whole[T] | None = None


class Pair(NamedTuple):
    left: Part


class Model(BaseModel):
    pair: Pair


class Holder(BaseModel, Generic[T]):
    held: T


class Keys(TypedDict):
    pair: Pair


@dataclass
class Torn:
    part: Part
    other: Elsewhere


PartId = NewType("PartId", Part)
Parts = TypeAliasType("Parts", list[Part])
Bound = TypeVar("Bound", bound=Part)


def found(*types: object) -> set[str]:
    known = classes_of(types).names
    return {kind.__name__ for kind in known if kind.__module__ == __name__}


def test_a_class_is_found_in_each_form_of_type() -> None:
    cases: list[object] = [
        Part, Part | None, list[Part], dict[str, tuple[Part, ...]], Annotated[Part, "note"],
        Mapping[str, Part], PartId, Parts, Bound, Sequence[Sequence[Part]], Callable[[Part], None],
        Literal["a"] | Part,
    ]  # fmt: skip
    assert [one for one in cases if not {"Part", "Shade"} <= found(one)] == []


def test_classes_are_found_through_what_types_are_made_of() -> None:
    cases: list[tuple[object, set[str]]] = [
        (Model, {"Model", "Pair", "Part", "Shade"}),
        (Keys, {"Pair", "Part", "Shade"}),
        (Literal[Shade.DARK], {"Shade"}),
        (Whole[Part], {"Whole", "Part", "Shade"}),
        (Holder[Shade], {"Holder", "Holder[Shade]", "Shade"}),
        (Torn, {"Torn"}),
    ]
    for kind, names in cases:
        assert found(kind) == names, kind
