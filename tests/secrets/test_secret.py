"""Secrets are known by name and found by value in each encoding, and masked in bounded time (S12.4, B50)."""

from __future__ import annotations

import base64
import copy
import json
import pickle
import re
import sys
import urllib.parse
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dataflow import Config, DataflowError, Flow, FlowInvalid, RunFailed, Secret, ValueMismatch, node
from dataflow.base import wording
from dataflow.base.wording import conceal
from dataflow.inspection.json_values import json_value
from dataflow.secrets.known import Secrets, know, known, redacted
from dataflow.secrets.masking import SHORTEST, Masking
from dataflow.types.validation import check_json, check_value, json_schema
from tests.support.codes import found_of
from tests.support.known_secrets import forgetting

VALUE = 'tok-9f$&é"x'


@pytest.fixture(autouse=True)
def _forgetting() -> Iterator[None]:
    with forgetting():
        yield


class Access(Config):
    key: Secret = Secret("ACCESS_KEY")


@node
async def reveal(token: Secret) -> str:
    return token.reveal()


@node
async def reveal_key(config: Access = Access()) -> str:  # noqa: B008 - frozen
    return config.key.reveal()


@node
async def fail_with(text: str) -> int:
    raise ValueError(f"no access with {text}")


def test_a_secret_is_looked_up_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = Secret("TOKEN")
    monkeypatch.setenv("TOKEN", VALUE)
    assert secret.reveal() == VALUE
    monkeypatch.setenv("TOKEN", "another value")
    assert secret.reveal() == "another value"
    assert Secret("TOKEN", VALUE).reveal() == VALUE
    Secret("NOT_SET", VALUE).reveal()
    assert Secret("NOT_SET").reveal() == VALUE


def test_a_secret_is_its_name() -> None:
    for name in ("", "a b", "1a", "a:b", "a]", "é"):
        with pytest.raises(ValueError, match="DF1001"):
            Secret(name)
    secret = Secret("TOKEN", VALUE)
    assert {repr(secret), str(secret), f"{secret}", f"{secret!r:>5}"} == {"Secret('TOKEN')"}
    data = pickle.dumps(Secret("TOKEN", VALUE))
    assert VALUE.encode() not in data
    assert pickle.loads(data) == Secret("TOKEN")
    assert {Secret("A", VALUE), Secret("A")} == {Secret("A")}
    assert Secret("A") != Secret("B")
    assert Secret("A") != "A"


def test_a_secret_cannot_be_changed_or_copied() -> None:
    secret: Any = Secret("TOKEN", VALUE)
    assert copy.copy(secret) is secret
    assert copy.deepcopy([secret])[0] is secret
    with pytest.raises(AttributeError, match="DF1006"):
        del secret.name


# in flows


def test_a_secret_is_an_input_a_constant_and_a_field_of_a_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCESS_KEY", "the access key")
    monkeypatch.setenv("OTHER_KEY", "the other key")
    with Flow("access") as flow:
        flow.output("input", flow.add(reveal, token=flow.input("token", Secret)).out)
        flow.output("constant", flow.add(reveal, token=Secret("OTHER_KEY")).out)
        flow.output("config", flow.add(reveal_key).out)
        flow.output("given", flow.add(reveal_key, config=Access(key=Secret("OTHER_KEY"))).out)
    assert flow.run_sync(token=Secret("TOKEN", VALUE)).outputs == {
        "input": VALUE, "constant": "the other key", "config": "the access key", "given": "the other key",
    }  # fmt: skip


def access_flow() -> Flow:
    with Flow("access") as flow:
        token = flow.input("token", Secret, default=Secret("FIRST_KEY", VALUE))
        flow.output("first", flow.add(reveal, token=token).out)
        flow.output("second", flow.add(reveal, token=Secret("OTHER_KEY", VALUE)).out)
        flow.output("third", flow.add(reveal_key, config=Access(key=Secret("THIRD_KEY", VALUE))).out)
    return flow


def test_a_document_has_the_names_only() -> None:
    written = access_flow().to_dict()
    assert "tok-9f" not in json.dumps(written, ensure_ascii=False)
    assert written["inputs"] == {
        "token": {"type": {"type": "string", "format": "secret"}, "default": "FIRST_KEY"}
    }
    assert [part.get("values") or part.get("config") for part in written["nodes"].values()] == [
        None, {"token": "OTHER_KEY"}, {"key": "THIRD_KEY"},
    ]  # fmt: skip


def test_a_document_gives_the_secrets_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FIRST_KEY", "OTHER_KEY", "THIRD_KEY"):
        monkeypatch.setenv(name, f"the value of {name}")
    flow = access_flow()
    (tmp_path / "access.json").write_text(json.dumps(flow.to_dict()), encoding="utf-8")
    loaded = Flow.load(tmp_path / "access.json")
    assert loaded.to_dict() == flow.to_dict()
    assert loaded.run_sync()["first"] == "the value of FIRST_KEY"
    assert loaded.run_sync(token=Secret("OTHER_KEY"))["first"] == "the value of OTHER_KEY"


def test_json_is_the_name_and_a_text_of_python_is_no_secret() -> None:
    assert check_json("TOKEN", Secret) == Secret("TOKEN")
    assert json_schema(Secret) == {"type": "string", "format": "secret"}
    assert json_value({"a": Secret("TOKEN", VALUE)}) == {"a": "TOKEN"}
    with pytest.raises(ValueMismatch, match="DF0601"):
        check_json("no name", Secret)
    with pytest.raises(ValidationError, match="instance of Secret"):
        Access(key="TOKEN")  # type: ignore[arg-type]


def test_a_failure_has_a_mark_in_place_of_the_secret() -> None:
    with Flow("failing") as flow:
        token = flow.add(reveal, token=Secret("TOKEN", VALUE)).out
        flow.output("never", flow.add(fail_with, text=token).out)
    with pytest.raises(RunFailed) as caught:
        flow.run_sync()
    (failure,) = caught.value.failures
    assert failure.message == "no access with [secret:TOKEN]"
    assert "no access with [secret:TOKEN]" in failure.traceback
    assert VALUE not in str(caught.value) + failure.traceback


def test_nothing_but_a_secret_is_wired_to_a_port_of_a_secret() -> None:
    async def use(token: Secret) -> int:
        return len(token.name)

    kinds: list[type] = [str, int, bytes]
    for kind in kinds:
        f = Flow("f")
        f.output("o", f.add(use, token=cast("Secret", f.input("token", kind))).out)
        assert found_of(f.check()) == [("DF0308 use.token", "Secret", kind.__name__)]


KNOWN: Final = "tok-9f$&é \"/?x'"


class Row(NamedTuple):
    name: str
    rest: Any = None


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_the_first_secret_is_concealed_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"a": ["[secret:TOKEN]"]}
    assert known() is None
    assert redacted(value) is value
    monkeypatch.setattr(wording, "_conceal", None)
    assert conceal(f"a {KNOWN}") == f"a {KNOWN}"
    know("TOKEN", KNOWN)
    assert conceal(f"a {KNOWN}") == "a [secret:TOKEN]"


FORMS: Final[dict[str, tuple[str, str]]] = {
    "as it is": (KNOWN, "[secret:TOKEN]"),
    "in JSON": (json.dumps(KNOWN)[1:-1], "[secret:TOKEN:json]"),
    "in JSON of any script": (json.dumps(KNOWN, ensure_ascii=False)[1:-1], "[secret:TOKEN:json.utf-8]"),
    "percent-encoded": (urllib.parse.quote(KNOWN, ""), "[secret:TOKEN:url]"),
    "percent-encoded by quote": (urllib.parse.quote(KNOWN), "[secret:TOKEN:url.path]"),
    "percent-encoded in small letters": (
        "tok-9f%24%26%c3%a9%20%22%2f%3fx%27",
        "[secret:TOKEN:url.small]",
    ),
    "in a form": (urllib.parse.quote_plus(KNOWN), "[secret:TOKEN:url.plus]"),
    "percent-encoded by a browser": ("tok-9f%24%26%C3%A9%20%22%2F%3Fx'", "[secret:TOKEN:url.component]"),
    "a whole address of a browser": ("tok-9f$&%C3%A9%20%22/?x'", "[secret:TOKEN:url.uri]"),
    "in base64": (b64(KNOWN), "[secret:TOKEN:base64]"),
    "as Python shows it": (repr(KNOWN)[1:-1], "[secret:TOKEN:repr]"),
}


def test_a_secret_is_found_in_each_encoding(subtests: pytest.Subtests) -> None:
    know("TOKEN", KNOWN)
    for name, (form, mark) in FORMS.items():
        with subtests.test(name):
            assert redacted(f"before {form} behind") == f"before {mark} behind"
            assert redacted(f"before {form} behind".encode()) == f"before {mark} behind".encode()


def test_base64_is_found_with_and_without_padding(subtests: pytest.Subtests) -> None:
    for length in range(8, 14):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            with subtests.test(length=length, encode=encode), forgetting():
                value = "ÿ?>abcdefghijklmn"[:length]
                know("TOKEN", value)
                whole = encode(value.encode()).decode()
                for form in (whole, whole.rstrip("=")):
                    assert redacted(f" {form} ").startswith(" [secret:TOKEN:base64")
                    assert len(redacted(f" {form} ").strip().rpartition("]")[2]) == 0


def test_secrets_in_each_other_and_in_base64_are_found() -> None:
    know("TOKEN", "a long password")
    for user in ("", "u", "us", "use", "user"):
        found = redacted(f"Basic {b64(f'{user}:a long password')}")
        assert "[secret:TOKEN:base64" in found
        kept = found.replace("Basic ", "").split("[")[0] + found.rpartition("]")[2]
        assert len(kept) <= len(b64(f"{user}:")) + 4, user
    know("SHORT", "abcdefgh")
    know("LONG", "abcdefghijkl")
    assert redacted("abcdefghijkl abcdefgh") == "[secret:LONG] [secret:SHORT]"
    know("TOKEN", "the old value")
    know("TOKEN", "the new value")
    assert redacted("the old value, the new value") == "[secret:TOKEN], [secret:TOKEN]"


def test_texts_in_plain_containers_are_masked_and_no_object_is_read() -> None:
    know("TOKEN", KNOWN)
    mark, row = "[secret:TOKEN]", Row(KNOWN)
    clean, shared = [{"a": ("b", 1.0)}], [KNOWN]
    value = [{KNOWN: (KNOWN, KNOWN.encode())}, clean, row, shared, shared]
    found = redacted(value)
    assert found == [{mark: (mark, mark.encode())}, clean, row, [mark], [mark]]
    assert (found[1] is clean, found[2] is row, found[3] is found[4]) == (True, True, True)
    assert redacted(clean) is clean


def test_what_is_nested_too_deep_or_contains_itself_is_left_out() -> None:
    know("TOKEN", KNOWN)
    value: Any = KNOWN
    for _ in range(100_000):
        value = [value]
    assert KNOWN not in json.dumps(redacted(value))
    around: list[Any] = [KNOWN]
    around += [around, around]
    assert redacted(around) == ["[secret:TOKEN]", "[nested too deep]", "[nested too deep]"]


def test_texts_of_errors_have_no_secret_nor_half_of_one() -> None:
    know("TOKEN", KNOWN)
    assert str(DataflowError(f"found {KNOWN}")) == "DF0506 found [secret:TOKEN]"
    secret = "s" * 1_500
    know("TOKEN", secret)
    (problem,) = FlowInvalid("flow", [f"{'x' * 800}{secret}{'x' * 800}"]).problems
    assert "sss" not in str(problem)
    secret = "0123456789" * 20
    know("TOKEN", secret)
    with pytest.raises(ValueMismatch) as caught:
        check_value({"a": secret}, int)
    assert "0123" not in caught.value.found


letters = st.text("ab", max_size=30)
known_texts = st.lists(st.text("ab", min_size=SHORTEST, max_size=14), max_size=6)


@given(letters, known_texts)
def test_the_first_and_longest_known_text_is_masked(text: str, known: list[str]) -> None:
    masking: Masking[str] = Masking()
    for number, one in enumerate(known):
        masking.add(one, f"[{number}]")
    longest_first = "|".join(sorted(known, key=len, reverse=True))
    expected = re.sub(longest_first, lambda found: f"[{known.index(found[0])}]", text) if known else text
    marked = masking.mark(text)
    assert masking.masked(text) == expected
    assert (marked is None) == (text == expected)
    assert marked is None or all(re.fullmatch(r"\[\d\]", marked.value[slice(*span)]) for span in marked.spans)


#: Like what most programs write, and what is most like the secrets: their common beginning again and again.
TEXTS: Final = {
    "other": "it was a dark and stormy night; " * 1_000,
    "alike": "token-0x token-12 token-abcdefgh " * 1_000,
    "long": "token-0001-abcdefgh, " * 1_000,
}


def instructions(secrets: Secrets, text: str) -> int:
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        secrets.text.masked(text)
    finally:
        sys.settrace(before)
    return count


def test_a_thousand_secrets_take_as_many_instructions_as_one(subtests: Any) -> None:
    one, many = Secrets(), Secrets()
    one.add("FIRST", "token-0001-abcdefgh")
    for number in range(1_000):
        many.add(f"NAME_{number}", f"token-{number:04}-abcdefgh")
        many.add(f"OTHER_{number}", sha256(str(number).encode()).hexdigest())
    for name, text in TEXTS.items():
        with subtests.test(name):
            assert instructions(many, text) < 1.5 * instructions(one, text)
            assert instructions(many, 2 * text) < 2.1 * instructions(many, text)
