"""Secrets in the fields of objects are found like those in lists, and what has none stays itself (S12.4)."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

import pytest
from pydantic import BaseModel, PrivateAttr, SecretStr

from dataflow import ExecutionContext, Flow, Message, NodeOutput, Ports, Secret, ToolCall, node
from dataflow.base.history import History
from dataflow.secrets.known import know, redacted
from dataflow.stores import Store
from tests.support.known_secrets import forgetting

VALUE: Final = "tok-9f-of-the-test"
MARK: Final = "[secret:TOKEN]"


@pytest.fixture(autouse=True)
def _forgetting() -> Iterator[None]:
    with forgetting():
        know("TOKEN", VALUE)
        yield


@dataclass(frozen=True, slots=True)
class Frozen:
    text: str
    rest: Any = None

    def __post_init__(self) -> None:
        if self.text.startswith("["):
            raise ValueError("no mark can be made into one of these")


@dataclass
class Loose:
    texts: list[str] = field(default_factory=list)
    other: Any = None


class Model(BaseModel):
    text: str
    inner: Frozen | None = None
    _hidden: str = PrivateAttr(default=VALUE)


class Plain:
    """Has its fields in slots, one of them private, and in its dict."""

    __slots__ = ("__dict__", "__private", "unset")

    def __init__(self, private: str, **others: Any) -> None:
        self.__private = private
        self.__dict__.update(others)

    @property
    def private(self) -> str:
        return self.__private


class Row(NamedTuple):
    inner: Frozen


def test_fields_and_slots_are_looked_through_however_nested() -> None:
    given = {"a": [Row(Frozen("x", Loose(["y", VALUE], Model(text="z", inner=Frozen("w", {VALUE})))))]}
    [row] = redacted(given)["a"]
    assert row.inner.rest.texts == ["y", MARK]
    assert row.inner.rest.other.inner.rest == {MARK}
    assert VALUE not in repr(redacted(given))
    found: Any = redacted(Model(text=VALUE))
    assert (found.text, found._hidden, found.model_fields_set) == (MARK, MARK, {"text"})
    found = redacted(Plain(VALUE, token=VALUE, number=1))
    assert (found.private, found.token, found.number) == (MARK, MARK, 1)
    loose = Loose()
    loose.other = [loose, VALUE]
    found = redacted(loose)
    assert (found.other[0] is found, found.other[1]) == (True, MARK)


def test_a_conversation_has_marks_and_is_sent_as_before() -> None:
    call = ToolCall("c", "use", f'{{"key": "{VALUE}"}}')
    given = ExecutionContext("main", variables={"key": [VALUE]}).append(
        Message("user", "a" * 400), Message("assistant", "b"), Message("user", VALUE, pin="p")
    )
    given = given.append_turn(Message("user", "hi"), Message("assistant", f"it is {VALUE}")).trimmed(60)
    found = redacted(given.append(Message("user", "then"), Message("assistant", "", (call,))))
    assert VALUE not in repr(found)
    sent = [message.content for message in found.messages]
    assert sent == [MARK, "hi", f"it is {MARK}", "then", ""]
    assert (type(found), dict(found.variables)) == (ExecutionContext, {"key": [MARK]})


def test_what_has_no_secret_is_the_same_object() -> None:
    clean = ExecutionContext("main").append(Message("user", "hi"))
    for value in (
        Frozen("a", Loose(["b"])),
        Model.model_construct(text="c"),
        clean,
        [clean],
        {"a": (1, 2.0)},
    ):
        if not isinstance(value, Model):
            assert redacted(value) is value
    found: Any = redacted([clean, Frozen("a", [VALUE, clean])])
    assert found[0] is clean
    assert found[1].rest == [MARK, clean]
    assert found[1].rest[1] is clean


def test_histories_are_looked_through() -> None:
    history = History([Message("user", VALUE)])
    for number in range(20_000):
        history = history.extended([Message("user", str(number))])
    found = redacted([history])[0]
    assert (len(found), found[0].content, found[-1]) == (20_001, MARK, history[-1])
    history = History([Message("user", "a-later-secret")])
    assert redacted(history) is history
    know("LATER", "a-later-secret")
    assert redacted(history)[0].content == "[secret:LATER]"


class Closing:
    def __init__(self) -> None:
        self.token = VALUE

    def __del__(self) -> None:
        CLOSED.append(self)

    def __repr__(self) -> str:
        return f"a connection with {self.token}"


CLOSED: Final[list[object]] = []


class Silent(Closing):
    def __repr__(self) -> str:
        raise OSError


class Stubborn:
    """Has a field that nobody can set, which is what a subclass of a C class may have."""

    def __init__(self) -> None:
        self.__dict__["token"] = VALUE

    token = property(lambda _: VALUE)


def test_what_cannot_be_copied_is_shown_as_text() -> None:
    cases: list[tuple[Any, str]] = [
        (re.compile(f"key={VALUE}"), f"re.compile('key={MARK}')"),
        (deque([VALUE]), f"deque(['{MARK}'])"),
        (ValueError(VALUE), f"ValueError('{MARK}')"),
        (Closing(), f"a connection with {MARK}"),
        (Silent(), "<Silent>"),
    ]
    for value, text in cases:
        assert redacted(value) == text
        assert redacted([Frozen("x", value)])[0].rest == text
        assert not CLOSED, text


def test_no_setter_is_called_for_a_copy() -> None:
    assert VALUE not in str(redacted(Stubborn()))
    copy = redacted(Checked(f"has {VALUE}"))
    assert (type(copy), copy.text) == (Checked, f"has {MARK}")


class Checked:
    """Checks and tells what is set, and has under the name of a property another field of its own."""

    def __init__(self, text: str) -> None:
        self.__dict__["text"] = text

    @property
    def text(self) -> str:
        return str(self.__dict__["text"])

    @text.setter
    def text(self, value: str) -> None:
        raise LookupError(value)


def test_what_is_not_looked_into_and_has_no_secret_stays() -> None:
    for value in (threading.Lock(), re.compile("a"), deque([1]), iter([1]), SecretStr("other-value")):
        assert redacted(value) is value
    try:
        raise ValueError("harmless")
    except ValueError as error:
        trace = error.__traceback__
    reached = [trace, trace.tb_frame if trace else None, (one for one in "a")]
    assert redacted(reached) is reached


def test_a_path_and_a_secret_stay_what_they_are() -> None:
    assert redacted(PurePosixPath("/tmp", VALUE, "a")) == PurePosixPath("/tmp", MARK, "a")
    assert isinstance(redacted(Path(VALUE)), Path)
    secret = Secret("TOKEN", VALUE)
    found = redacted(Frozen("x", [secret, VALUE]))
    assert found.rest[0] is secret


# in a run


@node(ports=Ports({}, {"out": Frozen}))
async def tell(inputs: Any) -> NodeOutput:
    return NodeOutput({"out": Frozen("x", [VALUE])}, metadata={"by": Frozen("m", {"key": VALUE})})


async def shown(text: Frozen) -> Frozen:
    raise ValueError(f"cannot use {text}")


async def pieces() -> Any:
    yield Frozen("a", VALUE)
    yield "b"


async def test_events_pieces_and_failures_have_no_secret_in_any_field() -> None:
    with Flow("told") as flow:
        told = flow.add(tell)
        flow.output("told", told.out)
        flow.output("shown", flow.add(node(shown).with_(on_error="skip"), text=told.out).out)
        flow.output("pieces", flow.add(node(pieces)).out)
    for store in (None, Store.memory()):
        async with flow.using(store=store).start() as running:
            events = [event async for event in running.events()]
            result = await running
        assert VALUE not in repr(events)
        assert repr(events).count(MARK) >= 4
        assert {event.kind.value for event in events} >= {"piece", "node_finished"}
        assert result["told"].rest == [VALUE]
