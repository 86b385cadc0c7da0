"""Which types may feed which (S1.7)."""

from __future__ import annotations

import collections
import collections.abc as abc
import typing
from inspect import Parameter
from typing import (
    Annotated,
    Any,
    Final,
    ForwardRef,
    Literal,
    LiteralString,
    Never,
    Optional,
    SupportsFloat,
    Union,
    Unpack,
)

import pytest
import typing_extensions
from pydantic import EmailStr

from dataflow.types.agreement import agrees
from tests.types.example_types import (
    AdminId,
    Animal,
    Arguments,
    Box,
    Calls,
    Chain,
    Color,
    Dog,
    Film,
    Floats,
    GenericModel,
    Hashes,
    HasIteration,
    IntModel,
    Ints,
    Item,
    Items,
    Links,
    Lost,
    Maybe,
    Model,
    Movie,
    Named,
    Nest,
    Nothing,
    Pair,
    Person,
    Point,
    Rated,
    Same,
    Shelf,
    Ship,
    SmallBox,
    Table,
    Text,
    TextLinks,
    Texts,
    Titled,
    Unresolved,
    Untyped,
    UserId,
    Words,
)

AGREE: list[tuple[object, object]] = [
    (int, int),
    (Dog, Animal),
    (bool, int),
    (int, float),
    (bool, float),
    (None, type(None)),
    (int, Any),
    (Any, int),
    (Any, Never),
    (int, object),
    (object, object),
    (object, object | None),
    (int, Parameter.empty),
    (Parameter.empty, int),
    (Never, int),
    # unions
    (int, int | str),
    (int, Union[int, str]),  # noqa: UP007
    (int, float | None),
    (int | str, str | float),
    (Optional[Dog], Animal | None),  # noqa: UP045
    (int | str, object),
    # literals
    (Literal["a"], str),
    (Literal["a"], Literal["a", "b"]),
    (Literal["a", "b"], Literal["b", "a"]),
    (Literal["a", 1], int | str),
    (Literal["a", None], str | None),
    (Literal[Color.RED], Color),
    (Literal[1], float),
    (bool, Literal[True, False]),
    (Color, Literal[Color.RED, Color.BLUE]),
    (None, Literal["a", None]),
    (Item, Literal["a"]),
    (LiteralString, str),
    # containers
    (list[int], list[float]),
    (list[int], list),
    (list, list[int]),
    (typing.List, typing.List[int]),  # noqa: UP006
    (list[int], list[Any]),
    (list[list[bool]], abc.Iterable[abc.Sequence[float]]),
    (list[int], abc.Collection[int]),
    (set[int], abc.Set[float]),
    (frozenset[int], abc.Iterable[int]),
    (dict[str, int], abc.Mapping[str, float]),
    (dict[str, int], abc.Iterable[str]),
    (collections.defaultdict[str, int], dict[str, int]),
    (collections.Counter[str], abc.Mapping[str, int]),
    (collections.Counter[str], collections.Counter[str]),
    (collections.deque[int], abc.Sequence[int]),
    (abc.ItemsView[str, int], abc.Iterable[tuple[str, int]]),
    (abc.KeysView[str], abc.Iterable[str]),
    (abc.Generator[int, None, str], abc.Iterator[float]),
    (abc.AsyncGenerator[int, None], abc.AsyncIterable[int]),
    (abc.Coroutine[None, None, int], abc.Awaitable[int]),
    (str, abc.Sequence[str]),
    (Text, abc.Iterable[str]),
    (bytes, abc.Sequence[int]),
    (range, abc.Sequence[float]),
    (int, abc.Hashable),
    # tuples
    (tuple[int, str], tuple[float, str]),
    (tuple[int, bool], tuple[float, ...]),
    (tuple[int, ...], tuple[float, ...]),
    (tuple[()], tuple[int, ...]),
    (tuple[()], tuple[()]),
    (typing.Tuple[int, str], tuple),  # noqa: UP006
    (tuple, tuple[int, str]),
    (tuple[int, str], abc.Sequence[int | str]),
    (tuple[int, ...], abc.Iterable[float]),
    (tuple[int, Unpack[tuple[str, ...]]], tuple[int, str]),  # noqa: UP044 - as the old spelling
    (tuple[int, Unpack[tuple[str, ...]]], abc.Sequence[int]),  # noqa: UP044 - as above
    (tuple[int], tuple[Unpack[Items]]),  # type: ignore[valid-type]  # noqa: UP044 - as above
    (tuple[int], tuple[typing_extensions.Unpack[tuple[str, ...]]]),  # noqa: UP044 - as above
    (Point, tuple[float, int]),
    (Point, tuple),
    (Point, abc.Sequence[int]),
    (Pair[str], tuple[str, int]),
    (Untyped, tuple[int, int]),
    (Untyped, abc.Sequence[int]),
    # classes with parameters
    (Box[int], Box[float]),
    (Box[int], Box),
    (Box, Box[int]),
    (SmallBox[int], Box[float]),
    (SmallBox, Box[int]),
    (Shelf[int], list[float]),
    (Shelf[int], abc.Iterable[float]),
    (Table[int], abc.Mapping[str, float]),
    (Words, list[str]),
    (HasIteration, abc.Iterable[str]),
    (GenericModel[bool], GenericModel[int]),
    (GenericModel, GenericModel[int]),
    (IntModel, GenericModel[float]),
    (type[Dog], type[Animal]),
    (type[Dog], type),
    (type, type[Dog]),
    (type(Color), type[Color]),
    # annotations
    (Annotated[int, "source"], Annotated[float, "target"]),
    (list[Annotated[int, "deep"]], list[int]),
    (int, Final[int]),
    (Maybe[int], float | None),
    (int, Maybe[int]),
    (Same[int], float),
    (Same[list[int]], list[float]),
    # NewType
    (UserId, UserId),
    (UserId, int),
    (UserId, float),
    (AdminId, UserId),
    (AdminId, int | None),
    (Item, UserId),
    # protocols
    (Person, Named),
    (Ship, Named),
    (Named, Named),
    (int, SupportsFloat),
    (tuple[int], Hashes),
    # TypedDict
    (Movie, dict),
    (Movie, dict[str, int]),
    (Movie, abc.Mapping[str, object]),
    (Film, Movie),
    (Movie, Titled),
    (Rated[int], Titled),
    (dict[str, str], Titled),
    (Chain, Links),
    (Unresolved, Chain),
    (Chain, Unresolved),
    (Rated[int], Rated[float]),
    (Item, Titled),
    # what cannot be decided
    (abc.Callable[[int], str], abc.Callable[[str], int]),
    (Dog, Item),
    (Item, Dog),
    (list[int], list[Item]),  # type: ignore[valid-type]
    (int, "str"),
    ("str", int),
    (int, ForwardRef("str")),
    (int, 5),
    (5, int),
    (Arguments, int),
    (str, EmailStr),
    (EmailStr, str),
    # aliases that refer to themselves
    (Ints, Ints),
    (Ints, Floats),
    (list[Ints], Floats),
    (Nest[int], Nest[float]),
    (Nothing, int),
]

DISAGREE: list[tuple[object, object]] = [
    (str, int),
    (float, int),
    (int, complex),
    (Animal, Dog),
    (int, bool),
    (object, int),
    (object, EmailStr),
    (int, None),
    (None, int),
    (int, Never),
    (int | str, int),
    (int | None, int),
    (Any | None, int),
    (str, int | None),
    (Literal["a", "b"], Literal["a"]),
    (Literal[1], Literal[True]),
    (Literal["a", 1], str),
    (str, Literal["a"]),
    (bool, Literal[True]),
    (Color, Literal[Color.RED]),
    (None, Literal["a"]),
    (list[str], list[int]),
    (list[float], list[int]),
    (list[object], list[int]),
    (list[int], tuple[int, ...]),
    (list[int], set[int]),
    (abc.Sequence[int], list[int]),
    (dict[str, int], abc.Mapping[str, str]),
    (dict[str, int], abc.Iterable[int]),
    (collections.Counter[str], abc.Mapping[str, str]),
    (str, abc.Sequence[int]),
    (str, list[str]),
    (Text, abc.Iterable[int]),
    (bytes, abc.Sequence[str]),
    (abc.Generator[str, None, None], abc.Iterator[int]),
    (abc.ItemsView[str, int], abc.Iterable[str]),
    (tuple[int, str], tuple[int, int]),
    (tuple[int, str], tuple[int]),
    (tuple[int, str], tuple[int, ...]),
    (tuple[int, ...], tuple[int, int]),
    (tuple[int, ...], tuple[()]),
    (tuple[int, str], abc.Sequence[int]),
    (Point, tuple[str, str]),
    (Point, tuple[int]),
    (Pair[str], tuple[int, int]),
    (Box[str], Box[int]),
    (SmallBox[str], Box[int]),
    (Shelf[str], list[int]),
    (Table[str], abc.Mapping[str, int]),
    (Words, list[int]),
    (GenericModel[str], GenericModel[int]),
    (IntModel, GenericModel[str]),
    (Model, dict[str, int]),
    (type[Animal], type[Dog]),
    (int, UserId),
    (UserId, str),
    (UserId, AdminId),
    (Animal, Named),
    (Dog, Calls),
    (list[int], Hashes),
    (Named, Person),
    (Movie, int),
    (Movie, Film),
    (Chain, TextLinks),
    (Rated[str], Rated[int]),
    (Titled, Movie),
    (int, Movie),
    (Titled, list[str]),
    (int, abc.Callable[[], int]),
    (abc.Callable[[], int], int),
    (Ints, Texts),
    (Maybe[int], int),
    (Same[str], int),
]


def title(pair: tuple[object, object]) -> str:
    return f"{pair[0]}-{pair[1]}"


@pytest.mark.parametrize("pair", AGREE, ids=title)
def test_a_source_may_feed_a_target(pair: tuple[object, object]) -> None:
    assert agrees(*pair)


@pytest.mark.parametrize("pair", DISAGREE, ids=title)
def test_a_source_may_not_feed_a_target(pair: tuple[object, object]) -> None:
    assert not agrees(*pair)


@pytest.mark.parametrize("kind", [side for pair in AGREE + DISAGREE for side in pair], ids=str)
def test_every_type_agrees_with_itself(kind: object) -> None:
    assert agrees(kind, kind)
    assert agrees(list.__class_getitem__(kind), list.__class_getitem__(kind))


def test_a_hint_that_names_no_class_leaves_a_named_tuple_undecided() -> None:
    assert agrees(Lost, tuple[int])
