"""Known secrets are found by value, in each encoding, and marks stand in their place (S12.4, B50)."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

from dataflow import DataflowError, FlowInvalid, ValueMismatch
from dataflow.base import wording
from dataflow.base.wording import conceal
from dataflow.secrets.known import know, known, redacted
from dataflow.types.validation import check_value
from tests.support.known_secrets import forgetting

VALUE: Final = "tok-9f$&é \"/?x'"


@pytest.fixture(autouse=True)
def _forgetting() -> Iterator[None]:
    with forgetting():
        yield


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
    assert conceal(f"a {VALUE}") == f"a {VALUE}"
    know("TOKEN", VALUE)
    assert conceal(f"a {VALUE}") == "a [secret:TOKEN]"


FORMS: Final[dict[str, tuple[str, str]]] = {
    "as it is": (VALUE, "[secret:TOKEN]"),
    "in JSON": (json.dumps(VALUE)[1:-1], "[secret:TOKEN:json]"),
    "in JSON of any script": (json.dumps(VALUE, ensure_ascii=False)[1:-1], "[secret:TOKEN:json.utf-8]"),
    "percent-encoded": (urllib.parse.quote(VALUE, ""), "[secret:TOKEN:url]"),
    "percent-encoded by quote": (urllib.parse.quote(VALUE), "[secret:TOKEN:url.path]"),
    "percent-encoded in small letters": (
        "tok-9f%24%26%c3%a9%20%22%2f%3fx%27",
        "[secret:TOKEN:url.small]",
    ),
    "in a form": (urllib.parse.quote_plus(VALUE), "[secret:TOKEN:url.plus]"),
    "percent-encoded by a browser": ("tok-9f%24%26%C3%A9%20%22%2F%3Fx'", "[secret:TOKEN:url.component]"),
    "a whole address of a browser": ("tok-9f$&%C3%A9%20%22/?x'", "[secret:TOKEN:url.uri]"),
    "in base64": (b64(VALUE), "[secret:TOKEN:base64]"),
    "as Python shows it": (repr(VALUE)[1:-1], "[secret:TOKEN:repr]"),
}


def test_a_secret_is_found_in_each_encoding(subtests: pytest.Subtests) -> None:
    know("TOKEN", VALUE)
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
    know("TOKEN", VALUE)
    mark, row = "[secret:TOKEN]", Row(VALUE)
    clean, shared = [{"a": ("b", 1.0)}], [VALUE]
    value = [{VALUE: (VALUE, VALUE.encode())}, clean, row, shared, shared]
    found = redacted(value)
    assert found == [{mark: (mark, mark.encode())}, clean, row, [mark], [mark]]
    assert (found[1] is clean, found[2] is row, found[3] is found[4]) == (True, True, True)
    assert redacted(clean) is clean


def test_what_is_nested_too_deep_or_contains_itself_is_left_out() -> None:
    know("TOKEN", VALUE)
    value: Any = VALUE
    for _ in range(100_000):
        value = [value]
    assert VALUE not in json.dumps(redacted(value))
    around: list[Any] = [VALUE]
    around += [around, around]
    assert redacted(around) == ["[secret:TOKEN]", "[nested too deep]", "[nested too deep]"]


def test_texts_of_errors_have_no_secret_nor_half_of_one() -> None:
    know("TOKEN", VALUE)
    assert str(DataflowError(f"found {VALUE}")) == "DF0506 found [secret:TOKEN]"
    secret = "s" * 1_500
    know("TOKEN", secret)
    (problem,) = FlowInvalid("flow", [f"{'x' * 800}{secret}{'x' * 800}"]).problems
    assert "sss" not in str(problem)
    secret = "0123456789" * 20
    know("TOKEN", secret)
    with pytest.raises(ValueMismatch) as caught:
        check_value({"a": secret}, int)
    assert "0123" not in caught.value.found
