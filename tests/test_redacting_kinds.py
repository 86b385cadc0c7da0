"""Secrets in what is derived from built-in classes, in members, buffers and errors are found (S12.4)."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum, StrEnum
from types import FunctionType, ModuleType, TracebackType
from typing import Any, Final, NamedTuple, NoReturn, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import Flow, NodeOutput, Ports, node
from dataflow.log_records import redact_logs
from dataflow.redaction import know, redacted
from dataflow.stores import Store
from tests.known_secrets import forgetting

VALUE: Final = "tok-9f-of-the-test"
MARK: Final = "[secret:TOKEN]"


@pytest.fixture(autouse=True, scope="module")
def _forgetting() -> Iterator[None]:
    with forgetting():
        know("TOKEN", VALUE)
        yield


class OwnDict(dict[Any, Any]):
    more: Any


class OwnList(list[Any]):
    more: Any


class OwnSet(set[Any]):
    more: Any


class OwnText(str):  # noqa: SLOT000 - it has attributes
    more: Any


class OwnBytes(bytes):
    more: Any

    def __new__(cls, *given: Any) -> Self:
        assert MARK.encode() not in given, "a copy calls nothing of the class"
        return super().__new__(cls, *given)

    def __bytes__(self) -> NoReturn:
        raise LookupError


class OwnArray(bytearray):
    more: Any


class OwnNumber(int):
    more: Any


class OwnDate(date):
    more: Any


class Pair(NamedTuple):
    first: Any
    second: Any


class OwnPair(Pair):
    more: Any


class Key(Enum):
    MAIN = VALUE
    OTHER = ("harmless", 1)
    BOXED = [VALUE]  # noqa: RUF012 - a value as any other


class Word(StrEnum):
    MAIN = VALUE
    OTHER = "harmless"


class Star(Enum):
    SUN = 1

    def __init__(self, _: int) -> None:
        self.token = [VALUE]


class OwnError(Exception):
    """Shows nothing of what it has."""

    @property
    def args(self) -> NoReturn:  # type: ignore[override]
        raise LookupError

    def __repr__(self) -> str:
        return "OwnError"


@dataclass(frozen=True)
class Box:
    held: Any


def having(value: Any, more: Any) -> Any:
    value.more = more
    return value


DERIVED: Final[dict[str, Callable[[], Any]]] = {
    "dict": lambda: OwnDict({"a": 1}),
    "list": lambda: OwnList([1]),
    "set": lambda: OwnSet({1}),
    "str": lambda: OwnText("a"),
    "bytes": lambda: OwnBytes(b"a"),
    "bytearray": lambda: OwnArray(b"a"),
    "tuple": lambda: OwnPair(1, 2),
}


@pytest.mark.parametrize("kind", DERIVED)
def test_an_attribute_of_what_is_derived_from_a_built_in_class_is_found(kind: str) -> None:
    value = having(DERIVED[kind](), Box([VALUE]))
    for found in (redacted(value), redacted([Box(value)])[0].held):
        assert VALUE not in repr(getattr(found, "more", None))
        assert found == DERIVED[kind]()


@pytest.mark.parametrize("value", [OwnNumber(7), OwnDate(2026, 1, 2)], ids=["int", "date"])
def test_what_can_be_no_plain_value_is_told_as_text(value: Any) -> None:
    expected = repr(value)
    assert redacted([having(value, VALUE)]) == [expected]


@pytest.mark.parametrize("kind", DERIVED)
def test_what_is_derived_and_has_no_secret_is_the_same_object(kind: str) -> None:
    value = having(DERIVED[kind](), Box(["harmless"]))
    assert redacted(value) is value
    assert redacted([VALUE, value])[1] is value


def test_a_tuple_keeps_its_names_and_has_marks_in_its_attributes() -> None:
    found = redacted(having(OwnPair(VALUE, 2), [VALUE, "b"]))
    assert (type(found), found.first, found.more) == (OwnPair, MARK, [MARK, "b"])


def test_bytes_of_a_class_of_their_own_are_copied_without_calling_it() -> None:
    assert redacted([OwnBytes(VALUE.encode())]) == [MARK.encode()]


def test_a_value_that_is_its_own_attribute_is_copied_once() -> None:
    value = having(OwnPair(VALUE, 2), None)
    value.more = [value, value]
    found = redacted(value)
    assert found.more[0] is found.more[1] is found


# members


def test_the_value_of_a_member_is_found() -> None:
    found: list[Any] = redacted([Key.MAIN, Key.BOXED])
    assert found == [f"<Key.MAIN: '{MARK}'>", f"<Key.BOXED: ['{MARK}']>"]


def test_an_attribute_of_a_member_is_found() -> None:
    assert redacted(Box(Star.SUN)).held == "<Star.SUN: 1>"


def test_a_member_that_is_text_is_told_as_text() -> None:
    assert redacted([Word.MAIN, Word.OTHER]) == [MARK, "harmless"]


def test_a_member_without_a_secret_is_the_same() -> None:
    assert redacted({VALUE: [Key.OTHER, Word.OTHER]})[MARK] == [Key.OTHER, Word.OTHER]


# buffers


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_buffer_keeps_its_class(kind: Callable[[bytes], Any]) -> None:
    found = redacted(Box(kind(f"has {VALUE}".encode()))).held
    assert (type(found), bytes(found)) == (kind, f"has {MARK}".encode())


def test_a_view_of_a_part_leads_to_no_secret_beside_it() -> None:
    found = redacted([memoryview(f"harmless {VALUE}".encode())[:8]])[0]
    assert (bytes(found), found.obj) == (b"harmless", b"harmless")


def test_a_view_that_goes_in_steps_is_looked_through() -> None:
    doubled = b"".join(bytes([one, one]) for one in VALUE.encode())
    assert bytes(redacted(memoryview(doubled)[::2])) == MARK.encode()


def test_a_view_that_was_released_stays() -> None:
    view = memoryview(VALUE.encode())
    view.release()
    assert redacted([VALUE, view])[1] is view


# errors


def noted(note: str) -> Exception:
    error = ValueError("harmless")
    error.add_note(note)
    return error


def caused(*, is_hidden: bool = False) -> Exception:
    try:
        try:
            raise LookupError(VALUE)
        except LookupError as cause:
            raise ValueError("harmless") from (None if is_hidden else cause)
    except ValueError as error:
        return error


def in_a_ring() -> Exception:
    first, second = ValueError("harmless"), OwnError(VALUE)
    first.__cause__, second.__context__ = second, first
    return first


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (caused, "ValueError('harmless')"),
        (lambda: caused(is_hidden=True), "ValueError('harmless')"),
        (lambda: noted(f"see {VALUE}"), "ValueError('harmless')"),
        (in_a_ring, "ValueError('harmless')"),
        (lambda: OwnError(VALUE), "OwnError"),
        (lambda: ExceptionGroup("all", [caused()]), "ExceptionGroup('all', [ValueError('harmless')])"),
    ],
    ids=["cause", "hidden context", "note", "ring", "arguments", "group"],
)
def test_an_error_that_leads_to_a_secret_is_told_as_text(make: Callable[[], Exception], told: str) -> None:
    assert redacted(Box(make())).held == told


def test_an_error_without_a_secret_is_the_same_object() -> None:
    error = noted("harmless")
    error.__cause__ = OwnError("harmless")
    assert redacted([VALUE, error])[1] is error


def test_a_chain_of_many_errors_is_looked_through() -> None:
    error: Exception = ValueError(VALUE)
    for _ in range(20_000):
        error, before = ValueError("harmless"), error
        error.__cause__ = before
    told: Any = redacted(error)
    assert told == "ValueError('harmless')"
    while error.__cause__ is not None:  # as Python frees a chain by calls within calls
        error = error.__cause__  # type: ignore[assignment]


def test_a_logger_tells_an_error_without_what_has_led_to_it() -> None:
    redact_logs()
    make = logging.getLogRecordFactory()
    for message, arguments in ((caused(), ()), ("%s", (caused(),))):
        record = make("a", logging.INFO, "f", 1, message, arguments, None)
        assert record.getMessage().endswith("harmless")
        assert not secrets_within([record.msg, record.args])


# all of them, within each other


def secrets_within(value: object) -> list[object]:
    """Find what has the secret with the eyes of Python's own collector, which sees more than fields."""
    found: list[object] = []
    seen: dict[int, object] = {}
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, type | FunctionType | ModuleType | TracebackType):
            continue
        seen[id(one)] = one
        if isinstance(one, str):
            found += [one] if VALUE in one else []
        elif isinstance(one, bytes | bytearray | memoryview):
            found += [one] if VALUE.encode() in b"".join([one]) else []
        waiting += gc.get_referents(one)
    return found


def error_of(held: Any) -> Exception:
    error = OwnError("harmless")
    error.__cause__ = LookupError(held)
    return error


plain = st.sampled_from(
    [
        VALUE,
        "harmless",
        VALUE.encode(),
        memoryview(VALUE.encode()),
        Key.MAIN,
        Key.BOXED,
        Star.SUN,
        Word.MAIN,
        1,
    ]
)
wraps: Final[list[Callable[[Any], Any]]] = [
    lambda held: [held, 1],
    lambda held: {"a": held},
    lambda held: Pair(held, "harmless"),
    Box,
    error_of,
    *(lambda held, make=make: having(make(), held) for make in DERIVED.values()),
]


@given(
    st.recursive(
        plain,
        lambda inner: (
            st.builds(lambda wrap, held: wrap(held), st.sampled_from(wraps), inner)
            | st.lists(inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_no_secret_is_left_within_anything(value: Any) -> None:
    found = redacted(value)
    assert not secrets_within(found)
    assert (found is value) == (not secrets_within(value))


# in a run


@node(ports=Ports({}, {"out": object}))
async def tell(inputs: Any) -> NodeOutput:
    about = {"text": having(OwnText("a"), VALUE), "key": Key.MAIN, "error": caused()}
    return NodeOutput({"out": having(OwnDict(), VALUE)}, metadata=about)


async def breaks() -> str:
    error = noted(VALUE)
    raise error from caused()


async def test_a_run_tells_none_of_them() -> None:
    with Flow("told") as flow:
        flow.output("told", flow.add(tell).out)
        flow.output("broken", flow.add(node(breaks).with_(on_error="skip")).out)
    async with flow.start() as running:
        events = [event async for event in running.events()]
        await running
    assert not secrets_within(events)
    assert {"metadata", "failure"} <= {name for event in events for name in event.data}


async def test_a_store_has_nothing_of_what_has_led_to_an_error() -> None:
    with Flow("told") as flow:
        flow.output("broken", flow.add(node(breaks).with_(on_error="skip")).out)
    store = Store.memory()
    result = await flow.using(store=store).run()
    records = [record.data for record in store.records(result.run_id)]
    assert not secrets_within(records)
    assert MARK in "".join(records)
