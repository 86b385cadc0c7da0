# mypy: disable-error-code="valid-type, list-item"
"""Values from Python and from JSON are checked, or turned into their type, where they enter (S1.7)."""

from __future__ import annotations

import collections
import collections.abc as abc
import datetime as dt
import math
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NewType, get_args, get_origin

import pytest
from annotated_types import Gt, MinLen
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PastDate, field_validator

from dataflow import Flow, RunFailed
from dataflow.errors import ValueMismatch
from dataflow.types.agreement import agrees
from dataflow.types.validation import check_json, check_value, json_schema
from tests.compiler.typed_nodes import anything, whole
from tests.types import example_types as ex
from tests.types.example_types import Color, UserId

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


async def pieces() -> abc.AsyncIterator[int]:
    yield 1


JOHN = ex.Person("John")
CALLS = len
NUMBERS = iter([1])
SELF: list[Any] = []
SELF.append(SELF)
CHAIN: dict[str, Any] = {"value": 1}
CHAIN["rest"] = CHAIN

#: Types with values that have them.
RIGHT: list[tuple[object, list[object]]] = [
    (Any, [object()]), (int, [1, True, 0]), (int | str, [1]), (float, [1.5, math.nan]),
    (float | None, [math.inf]), (str, ["", ex.Text("a")]), (Literal[1, 2], [1]),
    (Literal[ex.Color.RED], [ex.Color.RED]),
    (list[int], [[], [1, True]]), (list[float], [[1], [1, 1.5]]), (list[str], [ex.Words(["a"])]),
    (ex.Words, [ex.Words([1])]), (ex.Shelf[int], [ex.Shelf([1])]), (list[list[int]], [[[1], []]]),
    (list[ex.Movie], [[{"title": "a"}]]),
    (abc.Sequence[int], [[1], collections.deque([1]), b"ab", range(3), (1, 2)]),
    (set[int], [{1}]),
    (abc.Sequence[str], ["ab"]),
    (dict[str, float], [{"a": 1}]),
    (abc.Mapping[str, int], [{"a": 1}, collections.Counter("a")]),
    (abc.Iterable[str], [{"a": 1}, NUMBERS]),
    (tuple[int, str], [(1, "a")]), (tuple[int, ...], [(1, 2)]), (tuple[int, *ex.Items], [(1, "a")]),
    (abc.Iterator[str], [NUMBERS]), (abc.AsyncIterator[int], [pieces()]), (abc.Callable[[str], int], [CALLS]),
    (abc.ItemsView[str, str], [{"a": 1}.items()]),
    (abc.Mapping[str, str], [collections.UserDict(a=1)]),
    (ex.Box[int], [ex.Box()]), (ex.Point, [ex.Point(1, 2)]), (tuple[int, int], [ex.Point(1, 2)]),
    (ex.Model, [ex.Model(x=1)]),
    (ex.GenericModel[str], [ex.GenericModel[int](x=1)]),
    (type[int], [int, bool]), (type[Any], [int]), (ex.Named, [JOHN]), (ex.Hashes, [1]),
    (ex.Movie, [{"title": "a"}, {"title": "a", "year": 1, "stars": 5}]),
    (ex.Unresolved, [{"value": object()}]),
    (ex.Chain, [CHAIN]), (ex.UserId, [1, True]), (ex.Ints, [1, [1, [2, []]], SELF]),
    (Annotated[int, Gt(0)], [5, True]), (Annotated[int, "a note"], [5]),
    (Annotated[int, AfterValidator(positive)], [5]),
    (Annotated[list[int], MinLen(2)], [[1, True]]),
    (Annotated[list[ex.Named], MinLen(1)], [[JOHN]]),
    (Annotated[int, BeforeValidator(str)], [5]),
    (PastDate, [dt.date(2000, 1, 1)]), ("str", [1]), (ex.Item, [1]), (Undecided("undecided", (), {}), [1]),
]  # fmt: skip

#: Values, the expected types, and place, expected and found of the mismatch.
WRONG: list[tuple[object, object, str]] = [
    ("1", int, "int <- str '1'"), (1.0, int, "int <- float 1.0"), ("1.0", float, "float <- str '1.0'"),
    (b"a", str, "str <- bytes b'a'"), ("", int | None, "int | None <- str ''"),
    (object(), int, "int <- object"), (Wordless(), int, "int <- Wordless"),
    (10**400, float, "float (in its range) <- int 1000000"),
    ("x" * 999, int, "int <- str 'xxxx"),
    (True, Literal[1], "Literal[1] <- bool True"),
    ("red", ex.Color, "Color <- str 'red'"),
    ((1,), list[int], "list[int] <- tuple (1,)"),
    ([1, "a"], list[int], "[1] int <- str 'a'"),
    (ex.Shelf(["a"]), ex.Shelf[int], "[0] int <- str 'a'"),
    ([[1], ["a"]], list[list[int]], "[1][0] int <- str 'a'"),
    ("a", abc.Sequence[int], "[0] int <- str 'a'"),
    ({"a"}, set[int], "[?] int <- str 'a'"),
    ({"a b": "b"}, dict[str, int], "['a b'] int <- str 'b'"),
    ({1: 2}, dict[str, int], ".keys() str <- int 1"),
    ({1: 2}, abc.Iterable[str], "[?] str <- int 1"),
    ([{"n": [0, {"name": 1}]}], list[dict[str, list[int | dict[str, str]]]], "[0].n[1].name str <-"),
    ((1, 2), tuple[int, str], "[1] str <- int 2"),
    ((1, 2), tuple[int], "tuple[int] <- tuple (1, 2)"),
    ((1, "a"), tuple[int, ...], "[1] int <- str 'a'"),
    (["a"], list[int] | None, "[0] int <- str 'a'"),
    (["a"], list[int] | list[bool], "list[int] | list[bool] <- list ['a']"),
    (-1, Annotated[int, Gt(0)] | None, "int (greater than 0) <- int -1"),
    ({"x": 1}, ex.Model, "Model <- dict {'x': 1}"),
    ((1, 2), ex.Point, "Point <- tuple (1, 2)"),
    (5, abc.Callable[[], int], "Callable[[], int] <- int 5"),
    ([1], abc.Iterator[int], "Iterator[int] <- list [1]"),
    (ex.Box(), ex.Named, "Named <- Box"),
    ([], ex.Hashes, "Hashes <- list []"),
    ({}, ex.Movie, ".title str <- nothing"),
    ({"title": 1}, ex.Movie, ".title str <- int 1"),
    ([("title", "a")], ex.Movie, "Movie <- list [('title', 'a')]"),
    ({"value": 1, "rest": {"value": 2}}, ex.Chain, ".rest.rest Chain | None <- nothing"),
    ([1, ["a"]], ex.Ints, "[1][0] int | list[Ints] <- str 'a'"),
    ([1, -1], list[Annotated[int, Field(gt=0)]], "[1] int (greater than 0) <- int -1"),
    (-1, Annotated[int, AfterValidator(positive)], "int (value error, not above"),
    (dt.date(9000, 1, 1), PastDate, "PastDate (date should be in the past) <- date"),
    ("2000-01-01", PastDate, "PastDate (a valid date) <- str '2000-01-01'"),
    (1, Taker, "Taker <- int 1"),
]  # fmt: skip


def test_a_value_of_the_right_type_is_returned_itself() -> None:
    for expected, values in RIGHT:
        assert [value for value in values if check_value(value, expected) is not value] == []


def test_a_value_of_another_type_is_refused() -> None:
    for value, expected, fields in WRONG:
        with pytest.raises(ValueMismatch, match="DF0601") as caught:
            check_value(value, expected)
        error = caught.value
        assert f"{error.place} {error.expected} <- {error.found}".strip().startswith(fields)
        assert len(error.found) < 100


def test_an_int_for_a_float_becomes_a_float() -> None:
    noted, checked = Annotated[float, "a note"], Annotated[float, Gt(-1)] | None
    unions = [float | None, float | str, Metres | None, Annotated[int, Gt(9)] | float]
    for expected in (float, Metres, noted, checked, *unions, ex.Floats):
        for number in (0, 1, True):
            result = check_value(number, expected)
            assert (type(result), result) == (float, number)


def test_a_value_nested_deeper_than_the_stack_is_not_followed_to_its_end() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert check_value(deep, ex.Ints) is deep
    assert check_value(deep, ex.Nest[int]) is deep


async def test_values_of_an_any_port_are_checked_when_they_enter() -> None:
    for value in ("x", 1.5):
        with Flow() as flow:
            flow.add(whole, n=flow.add(anything, x=value).out)
        with pytest.raises(RunFailed) as caught:
            await flow.run()
        assert f"expected int, found {type(value).__name__} {value!r}" in caught.value.failures[0].message


async def test_typed_ports_are_trusted() -> None:
    async def lies() -> int:
        return "text"  # type: ignore[return-value]

    with Flow() as flow:
        flow.output("y", flow.add(whole, n=flow.add(lies).out).out)
    assert (await flow.run())["y"] == "text"


LEAVES = st.sampled_from(
    [int, float, str, bool, type(None), Literal["a", "b"], Literal[1, True], UserId, Color]
)


# What makes types at run time is nothing to a type checker.
ITERABLE: Any = abc.Iterable
SEQUENCE: Any = abc.Sequence
MAPPING: Any = abc.Mapping


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        inner.map(list.__class_getitem__),
        inner.map(SEQUENCE.__class_getitem__),
        inner.map(lambda item: tuple.__class_getitem__((item, ...))),
        pairs.map(tuple.__class_getitem__),
        inner.map(lambda item: dict.__class_getitem__((str, item))),
        inner.map(lambda item: MAPPING.__class_getitem__((str, item))),
        pairs.map(lambda pair: pair[0] | pair[1] if isinstance(pair[0], type) else pair[0]),
        inner.map(lambda item: Annotated[item, "a note"]),
    )


TYPES = st.recursive(LEAVES, containers, max_leaves=4)


def widened(kind: Any) -> Any:
    wider = {list: ITERABLE, abc.Sequence: ITERABLE, tuple: tuple, dict: MAPPING}.get(get_origin(kind))
    if wider is not None:
        return wider[tuple(map(widened, get_args(kind)))]
    return kind if kind is ... else {bool: int, int: float, UserId: int}.get(kind, kind | None)


@given(st.data(), TYPES, TYPES)
def test_what_passes_for_a_source_passes_for_each_target_that_agrees(
    data: st.DataObject, source: Any, other: Any
) -> None:
    target = data.draw(st.sampled_from([other, source | other, widened(source)]))
    checked = check_value(data.draw(st.from_type(source)), source)
    if agrees(source, target):
        check_value(checked, target)


@given(TYPES, TYPES)
def test_a_type_agrees_with_what_is_wider(source: Any, other: Any) -> None:
    assert agrees(source, widened(source))
    assert agrees(source, source | other)


class Order(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    count: int = 1

    @field_validator("name")
    @classmethod
    def _not_empty(cls, name: str) -> str:
        if not name:
            raise ValueError("an order has a name")
        return name


class Watched:
    pass


@dataclass
class Holder:
    watched: Watched


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
DEEP: list[Any] = []
for _ in range(500):
    DEEP = [DEEP]
DEEPER: list[Any] = []
for _ in range(100_000):
    DEEPER = [DEEPER]

JSON_RIGHT: list[tuple[object, object, object]] = [
    (0, int, 0), (None, int | None, None), (1, float, 1.0), (float("inf"), float, float("inf")),
    ([1, 2], tuple[int, ...], (1, 2)), ([1, "a"], tuple[int, str], (1, "a")), ([1, 1], set[int], {1}),
    ({"1": 2}, dict[int, int], {1: 2}),
    ("2024-01-01", dt.date, dt.date(2024, 1, 1)),
    ("00000000-0000-0000-0000-000000000001", uuid.UUID, uuid.UUID(int=1)),
    ("red", ex.Color, ex.Color.RED),
    ({"name": "tea"}, Order, Order(name="tea")),
    ({"name": "John"}, ex.Person, ex.Person("John")),
    ([1, 2], ex.Point, ex.Point(1, 2)),
    ({"title": "a"}, ex.Movie, {"title": "a"}),
    ({"value": 1}, ex.Unresolved, {"value": 1}),
    (5, Annotated[int, Gt(0)], 5),
    (5, Annotated[int, ["cannot be hashed"]], 5),
    # iterables arrive as lists, at any depth
    ([1], abc.Iterable[int], [1]),
    ([1], abc.Iterable[int] | None, [1]),
    ([1], Annotated[abc.Iterable[int], MinLen(1)], [1]),
    ({"a": [[1]]}, dict[str, list[abc.Iterable[int]]], {"a": [[1]]}),
    ([[1]], tuple[abc.Iterable[int], ...], ([1],)),
    # what pydantic has no adapter for is checked as it is
    (1, "str", 1),
    (1, ex.Item, 1),
    ([1], list["Nowhere"], [1]),  # type: ignore[name-defined]  # noqa: F821 - what is tested
    # what pydantic cannot read is checked as it is
    ("\ud800", str, "\ud800"),
    (DEEP, list[Any], DEEP),
    (DEEPER[0], list, DEEPER[0]),
]  # fmt: skip

#: Values, the expected types, and place, expected and found of the mismatch.
JSON_WRONG: list[tuple[object, object, str]] = [
    ("1", int, "int <- str '1'"),
    (1.0, int, "int <- float 1.0"),
    (True, int, "int <- bool True"),
    ("soon", dt.date, "date <- str 'soon'"),
    ("q", int | float, "int | float <- str 'q'"),
    ([1, "a"], list[int], "[1] a valid integer <- str 'a'"),
    ([1, "a"], list[int] | None, "[1] a valid integer <- str 'a'"),
    ([1], tuple[int, int], "[1] a value <- nothing"),
    ({"a b": "c"}, dict[str, int], "['a b'] a valid integer <- str 'c'"),
    ({}, Order, ".name a value <- nothing"),
    ([{"name": "tea", "count": "2"}], list[Order], "[0].count a valid integer <- str '2'"),
    ({"name": "tea", "size": 1}, Order, ".size no such field <-"),
    ({"name": ""}, Order, ".name a valid value (an order has a name) <- str ''"),
    (5, Order, "Order <- int 5"),
    ("RED", ex.Color, "Color ('red' or 'blue') <- str 'RED'"),
    ("RED", ex.Color | None, "Color | None ('red' or 'blue') <- str 'RED'"),
    (["RED"], list[ex.Color], "[0] 'red' or 'blue' <- str 'RED'"),
    (-1, Annotated[int, Gt(0)], "int (greater than 0) <- int -1"),
    ([-1], list[Annotated[int, Gt(0)]], "[0] greater than 0 <- int -1"),
    ([], Annotated[list[int], MinLen(1)], "list[int] (list should have at least 1 item"),
    ({"watched": {}}, Holder, "Holder <- dict {'watched': {}}"),
    ({}, ex.Named, "Named <- dict {}"),
    ([1], abc.Iterator[int], "Iterator[int] <- list [1]"),
    ([1, "2"], abc.Iterable[int], "[1] a valid integer <- str '2'"),
    (dt.date(2024, 1, 1), dt.date, "date as JSON <- date datetime.date(2024, 1, 1)"),
    ({1}, set[int], "set[int] as JSON <- set {1}"),
    (CIRCLE, list[Any], "list[Any] as JSON <- list [["),
]


def test_a_json_value_is_converted_to_its_type() -> None:
    for value, expected, result in JSON_RIGHT:
        found = check_json(value, expected)
        assert type(found) is type(result)
        assert found is result or found == result


def test_a_json_value_of_another_type_is_refused() -> None:
    for value, expected, fields in JSON_WRONG:
        with pytest.raises(ValueMismatch, match="DF0601") as caught:
            check_json(value, expected)
        error = caught.value
        assert f"{error.place} {error.expected} <- {error.found}".strip().startswith(fields)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=8,
)


def test_a_type_has_a_json_schema_or_an_empty_one() -> None:
    integers = {"type": "array", "items": {"type": "integer"}}
    schemas: list[tuple[object, object]] = [
        (int, {"type": "integer"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (abc.Iterable[int], integers),
        (int | abc.Callable[[], int], {"type": "integer"}),  # JSON cannot represent the alternative
    ]
    without = [Any, object, abc.Callable[[], int], abc.Iterator[int], Watched, ex.Named, "int"]
    for expected, schema in [*schemas, *((one, {}) for one in without)]:
        assert json_schema(expected) == schema
    model: Any = json_schema(ex.Model)
    assert model["properties"] == {"x": {"title": "X", "type": "integer"}}
    assert model["required"] == ["x"]
