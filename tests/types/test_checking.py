"""Values from Python are checked where they enter (S1.7)."""

from __future__ import annotations

import collections
import collections.abc as abc
import datetime as dt
import inspect
import math
from typing import Annotated, Any, Literal, LiteralString, NewType

import pytest
from annotated_types import Gt, MinLen
from pydantic import AfterValidator, BeforeValidator, Field, PastDate

from dataflow.errors import ValueMismatch
from dataflow.types.validation import check_value
from tests.types.example_types import (
    Box,
    Calls,
    Chain,
    Color,
    Floats,
    GenericModel,
    Hashes,
    Ints,
    Item,
    Items,
    Model,
    Movie,
    Named,
    Nest,
    Pair,
    Person,
    Point,
    Shelf,
    Text,
    Unresolved,
    UserId,
    Words,
)

Metres = NewType("Metres", float)


class Undecided(type):
    """A metaclass whose classes cannot say what is an instance of them."""

    def __instancecheck__(cls, value: object) -> bool:
        raise TypeError


class Taker:
    """A class that pydantic may not make from anything."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        raise RuntimeError


class Wordless:
    def __repr__(self) -> str:
        raise RuntimeError


def positive(value: int) -> int:
    if value <= 0:
        raise ValueError("not above zero")
    return value


def squares() -> abc.Iterator[int]:
    yield 1


async def pieces() -> abc.AsyncIterator[int]:
    yield 1


JOHN = Person("John")
CALLS = len
NUMBERS = iter([1])
TODAY = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
SELF: list[Any] = []
SELF.append(SELF)
CHAIN: dict[str, Any] = {"value": 1}
CHAIN["rest"] = CHAIN

RIGHT: list[tuple[object, object]] = [
    (object(), Any),
    (object(), object),
    (object(), inspect.Parameter.empty),
    (1, int),
    (True, int),
    (0, int),
    (None, None),
    (None, int | None),
    (1, int | str),
    (1, int | float),
    (1.5, float),
    (math.nan, float),
    (math.inf, float | None),
    ("", str),
    ("a", LiteralString),
    (Text("a"), str),
    (1, Literal[1, 2]),
    (Color.RED, Literal[Color.RED]),
    (Color.RED, Color),
    (TODAY, dt.date),
    # containers
    ([], list[int]),
    ([1, True], list[int]),
    ([1], list[float]),
    ([1, 1.5], list[float]),
    ([1, "a"], list),
    ([1, "a"], list[Any]),
    (Words(["a"]), list[str]),
    (Words([1]), Words),  # type: ignore[list-item]
    (Shelf([1]), Shelf[int]),
    ([[1], []], list[list[int]]),
    ([1, None], list[int | None]),
    ([{"title": "a"}], list[Movie]),
    ([JOHN], list[Named]),
    ([1], list[Item]),  # type: ignore[valid-type]
    ([1], abc.Sequence[int]),
    ([1], abc.Iterable[int]),
    ({1}, set[int]),
    (frozenset({1}), abc.Set[int]),
    (collections.deque([1]), collections.deque[int]),
    (collections.deque([1]), abc.Sequence[int]),
    ("ab", abc.Sequence[str]),
    (b"ab", abc.Sequence[int]),
    (range(3), abc.Sequence[int]),
    ({"a": 1}, dict[str, float]),
    ({"a": 1}, abc.Mapping[str, int]),
    ({"a": 1}, abc.Iterable[str]),
    ({"a": 1}, dict),
    (collections.Counter("a"), collections.Counter[str]),
    (collections.Counter("a"), abc.Mapping[str, int]),
    ((1, "a"), tuple[int, str]),
    ((1, 2), tuple[int, ...]),
    ((1, "a"), tuple),
    ((), tuple[()]),
    ((1, "a"), tuple[int, *Items]),  # type: ignore[valid-type]
    ((1, 2), abc.Sequence[int]),
    # what is not looked into
    (NUMBERS, abc.Iterator[str]),
    (NUMBERS, abc.Iterable[str]),
    (squares(), abc.Generator[int, None, None]),
    (pieces(), abc.AsyncIterator[int]),
    (CALLS, abc.Callable[[str], int]),
    ({"a": 1}.items(), abc.ItemsView[str, str]),
    (collections.UserDict(a=1), abc.Mapping[str, str]),
    (Box(), Box[int]),
    # instances
    (JOHN, Person),
    (Point(1, 2), Point),
    (Point(1, 2), tuple[int, int]),
    (Pair("a", 1), Pair[str]),
    (Model(x=1), Model),
    (GenericModel[int](x=1), GenericModel[str]),
    (int, type[int]),
    (bool, type[int]),
    (int, type[Any]),
    (int, type),
    # protocols and TypedDicts
    (JOHN, Named),
    (len, Calls),
    (1, Hashes),
    ({"title": "a"}, Movie),
    ({"title": "a", "year": 1, "stars": 5}, Movie),
    ({"value": object()}, Unresolved),
    (CHAIN, Chain),
    # names for types
    (1, UserId),
    (True, UserId),
    (1, Ints),
    ([1, [2, []]], Ints),
    (SELF, Ints),
    # constraints
    (5, Annotated[int, Gt(0)]),
    (True, Annotated[int, Gt(0)]),
    (5, Annotated[int, "a note"]),
    (5, Annotated[int, AfterValidator(positive)]),
    ([1, True], Annotated[list[int], MinLen(2)]),
    ([JOHN], Annotated[list[Named], MinLen(1)]),
    (5, Annotated[int, BeforeValidator(str)]),
    (dt.date(2000, 1, 1), PastDate),
    # what cannot be decided
    (1, "str"),
    (1, Item),
    (1, 5),
    (1, Undecided("undecided", (), {})),
]

WRONG: list[tuple[object, object, str]] = [
    ("1", int, "expected int, found str '1'"),
    (1.0, int, "expected int, found float 1.0"),
    ("1.0", float, "expected float, found str '1.0'"),
    (1, bool, "expected bool, found int 1"),
    (1, str, "expected str, found int 1"),
    (b"a", str, "expected str, found bytes b'a'"),
    (0, None, "expected None, found int 0"),
    (None, int, "expected int, found None"),
    ("", int | None, "expected int | None, found str ''"),
    (object(), int, "expected int, found object"),
    (Wordless(), int, "expected int, found Wordless"),
    (10**400, float, "expected float (in its range), found int 1000000"),
    (10**5000, str, "expected str, found int"),
    ("x" * 999, int, "expected int, found str 'xxxx"),
    (True, Literal[1], "expected Literal[1], found bool True"),
    ("c", Literal["a", "b"], "expected Literal['a', 'b'], found str 'c'"),
    ("red", Color, "expected Color, found str 'red'"),
    # containers
    ((1,), list[int], "expected list[int], found tuple (1,)"),
    ([1], tuple[int], "expected tuple[int], found list [1]"),
    ([1], set[int], "expected set[int], found list [1]"),
    ([1, "a"], list[int], "[1]: expected int, found str 'a'"),
    ([1, "a"], list[float], "[1]: expected float, found str 'a'"),
    (Shelf(["a"]), Shelf[int], "[0]: expected int, found str 'a'"),
    ([[1], ["a"]], list[list[int]], "[1][0]: expected int, found str 'a'"),
    ("a", abc.Sequence[int], "[0]: expected int, found str 'a'"),
    ({"a"}, set[int], "[?]: expected int, found str 'a'"),
    ({"a": "b"}, dict[str, int], ".a: expected int, found str 'b'"),
    ({"a b": "b"}, dict[str, int], "['a b']: expected int, found str 'b'"),
    ({1: 2}, dict[str, int], ".keys(): expected str, found int 1"),
    ({1: 2}, abc.Iterable[str], "[?]: expected str, found int 1"),
    (
        [{"n": [0, {"name": 1}]}],
        list[dict[str, list[int | dict[str, str]]]],
        "[0].n[1].name: expected str, found",
    ),
    ((1, 2), tuple[int, str], "[1]: expected str, found int 2"),
    ((1, 2), tuple[int], "expected tuple[int], found tuple (1, 2)"),
    ((1, "a"), tuple[int, ...], "[1]: expected int, found str 'a'"),
    (Point(1, 2), tuple[int, str], "[1]: expected str, found int 2"),
    # unions
    (["a"], list[int] | None, "[0]: expected int, found str 'a'"),
    (["a"], list[int] | list[bool], "expected list[int] | list[bool], found list ['a']"),
    (-1, Annotated[int, Gt(0)] | None, "expected int (greater than 0), found int -1"),
    # instances
    ({"x": 1}, Model, "expected Model, found dict {'x': 1}"),
    ({"name": "John"}, Person, "expected Person, found dict {'name': 'John'}"),
    ((1, 2), Point, "expected Point, found tuple (1, 2)"),
    (str, type[int], "expected type[int], found type <class 'str'>"),
    (5, abc.Callable[[], int], "expected Callable[[], int], found int 5"),
    ([1], abc.Iterator[int], "expected Iterator[int], found list [1]"),
    # protocols and TypedDicts
    (Box(), Named, "expected Named, found Box"),
    ([], Hashes, "expected Hashes, found list []"),
    ({}, Movie, ".title: expected str, found nothing"),
    ({"title": 1}, Movie, ".title: expected str, found int 1"),
    ([("title", "a")], Movie, "expected Movie, found list [('title', 'a')]"),
    ({"value": 1, "rest": {"value": 2}}, Chain, ".rest.rest: expected Chain | None, found nothing"),
    # names for types
    ("a", UserId, "expected int, found str 'a'"),
    ([1, ["a"]], Ints, "[1][0]: expected int | list[Ints], found str 'a'"),
    # constraints
    (-1, Annotated[int, Gt(0)], "expected int (greater than 0), found int -1"),
    ([1, -1], list[Annotated[int, Field(gt=0)]], "[1]: expected int (greater than 0), found int -1"),
    (
        -1,
        Annotated[int, AfterValidator(positive)],
        "expected int (value error, not above",
    ),
    (dt.date(9000, 1, 1), PastDate, "expected PastDate (date should be in the past), found date"),
    ("2000-01-01", PastDate, "expected PastDate (a valid date), found str '2000-01-01'"),
    (1, Taker, "expected Taker, found int 1"),
]


@pytest.mark.parametrize(("value", "expected"), RIGHT, ids=lambda part: type(part).__name__)
def test_a_value_of_the_right_type_is_handed_on_itself(value: object, expected: object) -> None:
    assert check_value(value, expected) is value


@pytest.mark.parametrize(("value", "expected", "message"), WRONG, ids=lambda part: type(part).__name__)
def test_a_value_of_another_type_is_refused(value: object, expected: object, message: str) -> None:
    with pytest.raises(ValueMismatch) as caught:
        check_value(value, expected)
    assert str(caught.value).startswith(message)
    assert len(caught.value.found) < 100


@pytest.mark.parametrize(
    "expected",
    [
        float,
        float | None,
        float | str,
        Metres,
        Metres | None,
        Annotated[float, "a note"],
        Annotated[float, Gt(-1)] | None,
        Annotated[int, Gt(9)] | float,
    ],
    ids=str,
)
@pytest.mark.parametrize("number", [0, 1, True])
def test_an_int_for_a_float_becomes_a_float(number: int, expected: object) -> None:
    result = check_value(number, expected)
    assert type(result) is float
    assert result == number


@pytest.mark.parametrize("expected", [float | int, Floats | int, complex | int, float | object, float | Item])
def test_an_int_stays_one_where_an_int_may_come(expected: object) -> None:
    assert type(check_value(1, expected)) is int


def test_a_float_behind_an_alias_is_found() -> None:
    assert type(check_value(1, Floats)) is float


def test_an_iterator_is_not_used_up() -> None:
    numbers = iter([1, 2])
    assert check_value(numbers, abc.Iterable[int]) is numbers
    assert list(numbers) == [1, 2]


def test_a_value_nested_deeper_than_the_stack_is_not_followed_to_its_end() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert check_value(deep, Ints) is deep
    assert check_value(deep, Nest[int]) is deep


def test_a_wide_value_that_refers_to_itself_is_looked_at_once() -> None:
    twice: list[Any] = []
    for _ in range(30):
        twice = [twice, twice]
    assert check_value(twice, Ints) is twice


def test_the_error_holds_its_parts() -> None:
    with pytest.raises(ValueMismatch) as caught:
        check_value([1, "a"], list[int])
    assert (caught.value.found, caught.value.expected, caught.value.place) == ("str 'a'", "int", "[1]")
