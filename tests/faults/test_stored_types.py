# mypy: disable-error-code="arg-type"
"""F-C01: values of common types are stored, or the flow is refused before a node is called."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pydantic import AnyUrl, BaseModel, ByteSize, HttpUrl, NameEmail, PostgresDsn, SecretBytes, SecretStr

from dataflow import Config, Flow, NodeOutput, Ports, RunFailed, Store, node, register_codec, this_firing
from dataflow.authoring import redacted
from dataflow.errors import ArgumentInvalid, StoreError, ValueMismatch, ValueRefused
from dataflow.inspection.json_values import json_value
from dataflow.types.validation import check_value
from dataflow.values import codecs
from dataflow.values.digests import NoDigest, digest
from tests.support.known_secrets import forgetting
from tests.support.read_back import giving, read_back


class Page(BaseModel):
    url: HttpUrl
    title: str


class Base(BaseModel):
    a: int


class Other(BaseModel):
    c: int = 3


class Derived(Base):
    b: int = 2
    other: Other = Other()


class Login(BaseModel):
    user: str
    password: SecretStr | None = None


class Both(NamedTuple):
    login: Login
    text: str


@dataclass
class Card:
    pin: SecretStr


class Paying(Config):
    cards: list[Card]


class Signing(Config):
    token: SecretStr = SecretStr("of-the-config")


class Unknown:
    """A class like `Mark`, for which no test registers a codec."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at


class Mark:
    """A class without fields, as those of other libraries."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mark) and self.at == other.at

    __hash__ = None  # type: ignore[assignment]  # as of arrays


class Offered(Mark):
    """A class whose codec is offered by a distribution."""


#: A value, the type of its port, and what JSON shows of it.
VALUES: list[tuple[Any, Any, Any]] = [
    (Page(url=HttpUrl("https://a.org/a"), title="A"), Page, {"url": "https://a.org/a", "title": "A"}),
    (AnyUrl("ftp://example.org/"), AnyUrl, "ftp://example.org/"),
    (PostgresDsn("postgres://u@a:1,b:2/db"), Any, "postgres://u@a:1,b:2/db"),
    (ByteSize(3_000_000), ByteSize, 3_000_000),
    (NameEmail("Ada", "ada@example.org"), NameEmail, "Ada <ada@example.org>"),
    (ipaddress.ip_address("127.0.0.1"), ipaddress.IPv4Address, "127.0.0.1"),
    (ipaddress.ip_network("2001:db8::/32"), Any, "2001:db8::/32"),
    (ipaddress.ip_interface("10.0.0.1/8"), Any, "10.0.0.1/8"),
    (Fraction(1, 3), Fraction, "1/3"),
    (1 + 2j, complex, "(1+2j)"),
    (range(1, 9, 2), range, [1, 3, 5, 7]),
    (re.compile("a+", re.IGNORECASE), re.Pattern[str], "a+"),
    (deque([1, "b"], maxlen=3), deque[Any], [1, "b"]),
    (OrderedDict([("b", 1), ("a", 2)]), OrderedDict[str, int], {"b": 1, "a": 2}),
    (Counter("aab"), Counter[str], {"a": 2, "b": 1}),
    (defaultdict(int, a=1), dict[str, int], {"a": 1}),
    (Derived(a=1), Base, {"a": 1, "b": 2, "other": {"c": 3}}),
    ([Derived(a=1)], list[Base], [{"a": 1, "b": 2, "other": {"c": 3}}]),
]  # fmt: skip


async def test_values_come_back_equal_and_of_the_same_type(subtests: pytest.Subtests) -> None:
    for value, kind, shown in VALUES:
        with subtests.test(repr(value)):
            back = await read_back(value, kind)
            assert (type(back), back) == (type(value), value)
            assert digest(back) == digest(value)
            assert json_value(value) == shown


async def test_what_is_not_stored_is_refused_before_a_node_is_called(subtests: pytest.Subtests) -> None:
    for value, kind, code in [
        (SecretStr("secret-1234"), SecretStr, "DF0678"),
        ([], list[SecretBytes], "DF0678"),
        (Login(user="a"), Login, "DF0678"),
        (None, SecretStr | None, "DF0678"),
        (Unknown(1), Unknown, "DF0620"),
        (int, type[int], "DF0620"),
    ]:
        with subtests.test(repr(kind)):
            flow, calls = giving(value, kind)
            assert flow.check() == []
            assert [one.code for one in flow.using(store=Store.memory()).check()] == [code]
            assert calls == []
    flow, _ = giving({"login": [SecretStr("secret-1234")]}, Any)
    with pytest.raises(RunFailed) as failed:  # the type does not tell
        await flow.using(store=Store.memory()).run()
    assert isinstance(failed.value.__cause__, ValueRefused)
    assert failed.value.__cause__.problem.code == "DF0678"
    assert failed.value.__cause__.place.endswith('["login"][0]')


async def test_secrets_of_pydantic_are_masked_wherever_they_leave(subtests: pytest.Subtests) -> None:
    async def log_in(password: SecretStr, key: SecretBytes, login: Login, config: Signing) -> str:
        assert login.password is not None
        found = [
            password.get_secret_value(),
            key.get_secret_value().decode(),
            login.password.get_secret_value(),
        ]
        raise ValueError(" ".join([*found, config.token.get_secret_value()]))

    with Flow("login") as flow:
        given = {"password": flow.input("password", SecretStr), "login": flow.input("login", Login)}
        flow.output("out", flow.add(log_in, key=SecretBytes(b"of-a-constant"), config=Signing(), **given).out)
    with pytest.raises(RunFailed) as failed:
        await flow.run(
            password=SecretStr("of-an-input"), login=Login(user="u", password=SecretStr("of-a-model"))
        )
    failure = failed.value.failures[0]
    assert failure.message == "[secret:password] [secret:key] [secret:password] [secret:token]"
    for text in (failure.traceback, str(failed.value), repr(failed.value.result)):
        assert not re.search("of-an?-", text)
    assert json_value({"a": SecretStr("of-an-input")}) == {"a": "**********"}
    assert digest(SecretStr("ab")) == digest(SecretStr("ab")) != digest(SecretStr("ac"))
    assert b"ab" not in digest(SecretStr("ab"))  # a short value would be readable


async def test_secrets_are_found_in_all_that_a_value_consists_of(subtests: pytest.Subtests) -> None:
    value = "held-inside-7"
    card, login = Card(SecretStr(value)), Login(user="u", password=SecretStr(value))

    async def fails(given: Any, config: Paying | None = None) -> str:
        raise ValueError(value)

    held: list[Any] = [
        [*range(10_001), login], card, {card.pin}, {card.pin: 1}, {"a": deque([(card,)])}, [[login]] * 2,
        Both(login, ""),
    ]  # fmt: skip
    for constants, inputs in [
        *[({"given": one}, {}) for one in held],
        *[({}, {"given": one}) for one in held],
        ({"given": 1, "config": Paying(cards=[card])}, {}),
    ]:
        with subtests.test(f"{constants} {inputs}"[-90:]), forgetting():
            with Flow("held") as flow:
                arguments: Any = constants or {"given": flow.input("given", Any)}
                flow.output("out", flow.add(fails, **arguments).out)
            with pytest.raises(RunFailed) as failed:
                await flow.run(**inputs)
            assert failed.value.failures[0].message.startswith("[secret:")
            assert value not in failed.value.failures[0].traceback + str(failed.value)


async def test_secrets_of_pydantic_that_nodes_give_are_masked_from_then_on(subtests: pytest.Subtests) -> None:
    value = "given-by-a-node-7"

    async def gives() -> SecretStr:
        return SecretStr(value)

    async def gives_any() -> Any:
        return SecretBytes(value.encode())

    async def gives_field() -> list[Login | None]:
        return [None, Login(user="u", password=SecretStr(value))]

    async def gives_ports() -> Both:
        return Both(Login(user="u", password=SecretStr(value)), "x")

    async def gives_pieces() -> AsyncIterator[SecretStr]:
        yield SecretStr(value)

    async def answers(inputs: dict[str, Any]) -> NodeOutput:
        return NodeOutput(status="paused", metadata={"ask": {"prompt": "P"}})

    asks = node(ports=Ports({}, {"out": SecretStr}))(answers)

    async def fails(given: Any) -> str:
        this_firing().warn("odd", f"odd: {value}")
        raise ValueError(value)

    marks = {
        gives: "gives.out", gives_any: "gives_any.out", gives_field: "password", gives_ports: "password",
        gives_pieces: "gives_pieces.out", asks: "answers.out",
    }  # fmt: skip
    for giving_one, mark in marks.items():
        with subtests.test(mark), forgetting():
            with Flow("giving") as flow:
                step: Any = flow.add(giving_one)
                port = step.out.login if giving_one is gives_ports else step.out
                flow.output("out", flow.add(fails, given=port).out)
            run: Any = flow.run()
            if giving_one is asks:
                paused = await run
                run = flow.resume(paused, {paused.asks[0].id: SecretStr(value)})
            with pytest.raises(RunFailed) as failed:
                await run
            result = failed.value.result
            assert failed.value.failures[0].message == f"[secret:{mark}]"
            for text in (
                str(result.warnings),
                repr(result),
                result.why("out"),
                failed.value.failures[0].traceback,
            ):
                assert value not in text
    flow, _ = giving({"login": [SecretStr(value)]}, Any)
    for given in (value, value.encode()):  # as in place of a `Secret`, a plain value is refused
        with pytest.raises(ValueMismatch):
            check_value(given, SecretStr)
    with forgetting():  # what a store refuses is known, too
        with pytest.raises(RunFailed):
            await flow.using(store=Store.memory()).run()
        assert redacted(value) == "[secret:SecretStr]"


async def test_a_codec_stores_compares_and_shows_and_one_of_a_distribution_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NoDigest):
        digest(Locked())
    register_codec(Mark, lambda mark: mark.at, Mark, shown=lambda mark: f"at {mark.at}")
    assert await read_back([Mark(3)], list[Mark]) == [Mark(3)]
    assert json_value(Mark(3)) == "at 3"
    assert digest(Mark(3)) == digest(Mark(3)) != digest(Mark(4))
    register_codec(Mark, lambda mark: mark.at, lambda at: at / 0)
    with pytest.raises(RunFailed, match="DF0631"):  # as no run could be resumed from it
        await giving(Mark(3), Mark)[0].using(store=Store.memory()).run()
    info = tmp_path / "offers-1.0.dist-info"
    info.mkdir()
    library = Offered.__module__.partition(".")[0]
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{codecs.GROUP}]\n{library} = offers_codecs:register\nbroken = no:no\n"
    )
    (tmp_path / "offers_codecs.py").write_text(
        "from dataflow import register_codec\n\ndef register():\n"
        f"    from {Offered.__module__} import Offered\n"
        "    register_codec(Offered, lambda one: one.at, Offered, name='offered:Mark')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(codecs, "_loaded", set())
    codecs._offered.cache_clear()
    back = await read_back(Offered(5))
    assert (type(back), back.at) == (Offered, 5)
    codecs._offered.cache_clear()


def test_what_is_no_codec_is_refused() -> None:
    for given, code in [
        (("Mark", int, Mark), "DF0676"),
        ((Mark, 3, Mark), "DF0676"),
        ((Mark, giving_async, Mark), "DF0676"),
        ((dict, list, dict), "DF0677"),
        ((list, tuple, list), "DF0677"),
        ((bool, int, bool), "DF0677"),
    ]:
        with pytest.raises(ArgumentInvalid) as refused:
            register_codec(*given)
        assert refused.value.problem.code == code
    with pytest.raises(ArgumentInvalid):
        register_codec(Mark, int, Mark, name="tuple")


@pytest.mark.parametrize(
    ("write", "read", "code"),
    [
        (lambda mark: mark, lambda stored: stored, "DF0679"),
        (lambda mark: Loose(mark.at), Mark, "DF0679"),
        (lambda mark: [mark], lambda stored: stored[0], "DF0624"),
        (lambda mark: mark.at, lambda stored: stored, "DF0680"),
        (lambda mark: mark.at, lambda _: None, "DF0680"),
    ],
)
async def test_a_codec_that_does_not_make_the_value_again_is_refused(
    write: Any, read: Any, code: str
) -> None:
    register_codec(Loose, write, read)
    with pytest.raises((RunFailed, StoreError)) as refused:
        await read_back(Loose(1))
    assert code in str(refused.value)


class Loose(Mark):
    """A class whose codec is faulty."""


async def giving_async(value: object) -> object:
    return value


class Locked(Exception):
    """An exception, which has no content hash."""
