"""Runs that go on in another process: values, secrets, big payloads (B26, B50, B51)."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from dataflow import Flow, RunFailed, Secret, StoreError
from dataflow.stores import Record, Store
from tests.durable.stored_flows import (
    REFUSED,
    SECRET,
    STORED,
    big_flow,
    in_a_new_process,
    keyed_flow,
    secret_flow,
    told,
    value_flow,
)
from tests.support.known_secrets import forgetting
from tests.support.stored_runs import asking_flow, kinds_of, retold

VALUES_AGAIN: Final = """
import json, sys
from dataflow.stores import Store
from tests.durable.stored_flows import resumed_values, run
print(json.dumps(run(resumed_values(Store.sqlite(sys.argv[1]), json.loads(sys.argv[2])))))
"""
RESUME: Final = """
import json, sys
from dataflow import SecretMissing
from dataflow.stores import Store
from tests.durable.stored_flows import big_flow, run, secret_flow
flow = {"secrets": secret_flow, "big": big_flow}[sys.argv[3]]().using(store=Store.sqlite(sys.argv[1]))
try:
    print(json.dumps(run(flow.resume(sys.argv[2], {"ask": True})).outputs["o"]))
except SecretMissing as error:
    print(json.dumps(str(error)))
"""
VALUE: Final = "tok-9f$&é"
#: Parts of the secret in clear, and of what its base64 begins with: none of them is in any other text.
PARTS: Final = ("tok-9f", "tok\\u002d9f", "dG9rLTlm")


@pytest.fixture(scope="module")
def back(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Pause a run with each value, resume all in a new process, and return what came back."""
    path = tmp_path_factory.mktemp("values") / "runs.db"
    runs = {}
    for name, value in STORED.items():
        paused = value_flow(name, value).using(store=Store.sqlite(path)).run_sync()
        assert paused.status == "paused"
        runs[name] = paused.run_id
    found: dict[str, list[str]] = in_a_new_process(VALUES_AGAIN, str(path), json.dumps(runs))
    return found


class TestValues:
    """B26: values come back with their type, or are refused at once."""

    def test_a_value_comes_back_with_its_type(self, back: dict[str, list[str]]) -> None:
        for name in STORED:
            assert back[name] == told(STORED[name]), name

    async def test_a_value_is_refused_when_its_port_settles(self, subtests: pytest.Subtests) -> None:
        for name, (value, place, kind) in REFUSED.items():
            with subtests.test(name):
                store = Store.memory()
                with pytest.raises(RunFailed) as raised:
                    await value_flow(name, value).using(store=store).run()
                [failure] = raised.value.failures
                assert (failure.node, failure.type) == ("give", "ValueRefused")
                assert place in failure.message
                assert kind in failure.message
                [stored] = store.runs()
                assert "run_paused" not in kinds_of(store, stored.id)

    async def test_it_is_passed_on_without_a_store(self, subtests: pytest.Subtests) -> None:
        for name, (value, *_) in REFUSED.items():
            with subtests.test(name):
                flow = value_flow(name, value)
                result = await flow.resume(await flow.run(), {"ask": True})
                assert result["o"][0] == told(value)[0]

    async def test_what_is_no_stored_value_is_told_with_its_store(self) -> None:
        store = Store.memory()
        paused = await asking_flow(store).run()

        def spoil(record: Record) -> Record:
            return replace(record, data=record.data.replace('"inputs":{}', '"inputs":{"$":"nothing"}'))

        spoilt = retold(store, paused.run_id, spoil)
        told = re.escape(f"DF0621 store {spoilt}: the inputs of run {paused.run_id}:")
        with pytest.raises(StoreError, match=told):
            await asking_flow(spoilt).resume(paused.run_id, {"ask": 22})


class TestSecrets:
    """B50: a secret never reaches the disk."""

    @pytest.fixture(autouse=True)
    def _known(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setenv(SECRET, VALUE)
        with forgetting():
            yield

    async def paused(self, path: Path) -> str:
        result = await secret_flow().using(store=Store.sqlite(path)).run(token=Secret(SECRET))
        assert result.status == "paused"
        return result.run_id

    async def test_it_is_looked_up_again_in_a_new_process(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        run = await self.paused(path)
        assert SECRET in in_a_new_process(RESUME, str(path), run, "secrets")
        assert Store.sqlite(path).find(run).status == "paused"
        assert in_a_new_process(RESUME, str(path), run, "secrets", **{SECRET: VALUE}) == "all came back"
        assert not in_clear(tmp_path)

    async def test_no_file_of_the_store_has_it(self, tmp_path: Path) -> None:
        run = await self.paused(tmp_path / "runs.db")
        assert not in_clear(tmp_path)
        assert any(
            "[secret:TOKEN" in record.data for record in Store.sqlite(tmp_path / "runs.db").records(run)
        )

    async def test_no_event_has_it(self, tmp_path: Path) -> None:
        flow = secret_flow().using(store=Store.sqlite(tmp_path / "runs.db"))
        async with flow.start(token=Secret(SECRET)) as run:
            told = [repr(event) async for event in run.events(inputs=True)]
        assert not [text for text in told if clear_parts(text.encode())]

    async def test_no_log_line_has_it(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.DEBUG):
            await self.paused(tmp_path / "runs.db")
        assert not clear_parts(caplog.text.encode())
        assert "sending [secret:TOKEN]" in caplog.text

    async def test_no_error_text_has_it(self, tmp_path: Path) -> None:
        store = Store.sqlite(tmp_path / "runs.db")
        run = await self.paused(tmp_path / "runs.db")
        failed = [record.data for record in store.records(run) if record.path == "fail"]
        assert "no entry for [secret:TOKEN]" in failed[-1]

    async def test_no_path_has_it(self) -> None:
        store = Store.memory()
        flow = keyed_flow().using(store=store)
        result = await flow.resume(await flow.run(token=Secret(SECRET)), {"ask": True})
        paths = {record.path for record in store.records(result.run_id)}
        assert paths >= {"length[%5Bsecret:TOKEN%5D]", "length[other]"}
        assert not clear_parts(repr(paths).encode())

    async def test_a_key_that_is_one_leads_to_what_was_done(self) -> None:
        flow = keyed_flow().using(store=Store.memory())
        result = await flow.resume(await flow.run(token=Secret(SECRET)), {"ask": True})
        assert result["o"] == len(VALUE) + len("other")

    async def test_the_document_of_the_flow_has_it_not(self, tmp_path: Path) -> None:
        await self.paused(tmp_path / "runs.db")
        assert not clear_parts(repr(secret_flow().wiring).encode())


def in_clear(folder: Path) -> list[str]:
    """List the files of a folder that have a part of the secret, and where."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = [f"{file.name}: {part}" for file in files for part in clear_parts(file.read_bytes())]
    assert files
    return found


def clear_parts(data: bytes) -> list[str]:
    return [part for part in PARTS if part.encode() in data]


@pytest.fixture(scope="module")
def paused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    path = tmp_path_factory.mktemp("big") / "runs.db"
    return path, big_flow().using(store=Store.sqlite(path)).run_sync().run_id


class TestBigPayloads:
    """B51: big and odd payloads."""

    @pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
    def test_all_of_it_comes_back_in_a_new_process(self, locale: str, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        run = big_flow().using(store=Store.sqlite(path)).run_sync().run_id
        digest = hashlib.sha256(bytes(range(256)) * 40_000).hexdigest()
        back = in_a_new_process(RESUME, str(path), run, "big", LC_ALL=locale)
        assert back == [digest, "10240000", r"'a\ud800b \xe9\U0001f642'"]

    def test_records_are_at_most_64_kb_of_utf_8(self, paused: tuple[Path, str]) -> None:
        path, run = paused
        assert max(len(record.data.encode()) for record in Store.sqlite(path).records(run)) <= 65_536

    def test_it_is_stored_once_under_its_digest(self, paused: tuple[Path, str]) -> None:
        path, _ = paused
        with closing(sqlite3.connect(path)) as database:
            blobs = database.execute("select sha256, length(data) from blobs").fetchall()
        assert blobs == [(hashlib.sha256(bytes(range(256)) * 40_000).hexdigest(), 10_240_000)]


async def test_a_secret_of_the_flow_is_known_before_anybody_reveals_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOKEN", "tok-9f-secret")

    async def use(text: str, token: Secret) -> str:
        return f"{text} {token.name}"

    store = Store.memory()
    with forgetting():
        with Flow("early") as f:
            f.output("o", f.add(use, text=f.input("text", str), token=Secret("TOKEN")).out)
        result = await f.using(store=store).run(text="the token is tok-9f-secret")
        written = "".join(record.data for record in store.records(result.run_id))
    assert "tok-9f-secret" not in written
    assert "the token is [secret:TOKEN]" in written
