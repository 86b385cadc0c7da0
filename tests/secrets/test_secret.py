"""Secrets are known by name, and shown to nobody (S12.4)."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from dataflow import Config, Flow, RunFailed, Secret, ValueMismatch, node
from dataflow.inspection.json_values import json_value
from dataflow.types.validation import check_json, json_schema
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
        "input": VALUE,
        "constant": "the other key",
        "config": "the access key",
        "given": "the other key",
    }


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
        None,
        {"token": "OTHER_KEY"},
        {"key": "THIRD_KEY"},
    ]


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
