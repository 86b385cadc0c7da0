"""Runs that go on in another process: values, secrets, big payloads (B26, B50, B51)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest

from dataflow import Flow, Secret, SecretFilter, collect, each, node
from dataflow.stores import Store
from tests.support.known_secrets import forgetting
from tests.support.stored_runs import asking

SECRET: Final = "TOKEN"
ROOT: Final = Path(__file__).parents[2]


def secret_flow() -> Flow:
    @node(on_error="skip")
    async def fail(token: Secret) -> str:
        raise LookupError(f"no entry for {token.reveal()}")

    async def give(token: Secret) -> dict[str, Any]:
        value = token.reveal()
        logging.getLogger("tests.durable.test_stored_runs").warning("sending %s", value)
        url = f"https://example.org/?token={quote(value)}"
        return {
            "plain": value, "url": url, value: "as a key", "json": json.dumps({"t": value}),
            "utf8": json.dumps({"t": value}, ensure_ascii=False), "bytes": value.encode(),
            "base64": base64.b64encode(value.encode()).decode(),
            "header": {"Authorization": f"Bearer {value}"},
        }  # fmt: skip

    async def check(x: dict[str, Any], go: bool, token: Secret) -> str:
        value = token.reveal()
        assert x["plain"] == value
        assert x[value] == "as a key"
        assert json.loads(x["json"]) == json.loads(x["utf8"]) == {"t": value}
        assert x["url"].endswith(quote(value))
        assert x["bytes"] == value.encode() == base64.b64decode(x["base64"])
        assert x["header"]["Authorization"] == f"Bearer {value}"
        return "all came back"

    with Flow("secrets") as f:
        token = f.input("token", Secret)
        given = f.add(give, token=token)
        f.add(fail, token=token)
        asked = f.add(asking(bool), show=given.out)
        f.output("o", f.add(check, x=given.out, go=asked.out, token=token).out)
    return f


def keyed_flow() -> Flow:
    async def entries(token: Secret) -> list[str]:
        return [token.reveal(), "other"]

    async def length(text: str, go: bool) -> int:
        return len(text)

    async def total(lengths: list[int]) -> int:
        return sum(lengths)

    with Flow("keyed") as f:
        listed = f.add(entries, token=f.input("token", Secret)).out
        items = f.add(length, text=each(listed, key=str), go=f.add(asking(bool)).out)
        f.output("o", f.add(total, lengths=collect(items.out)).out)
    return f


def big_flow() -> Flow:
    async def big() -> bytes:
        return bytes(range(256)) * 40_000

    async def odd() -> str:
        return "a\ud800b é🙂"

    async def look(data: bytes, again: bytes, text: str, go: bool) -> list[str]:
        assert data == again
        return [hashlib.sha256(data).hexdigest(), str(len(data)), ascii(text)]

    with Flow("big") as f:
        data = f.add(big).out
        asked = f.add(asking(bool), show=data)
        f.output("o", f.add(look, data=data, again=data, text=f.add(odd).out, go=asked.out).out)
    return f


def in_a_new_process(code: str, *arguments: str, **environment: str) -> Any:
    known = {name: value for name, value in os.environ.items() if name != SECRET}
    path = os.pathsep.join([str(ROOT), str(ROOT / "nodes")])
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code, *arguments],
        check=False, capture_output=True, env={**known, "PYTHONPATH": path, **environment}, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return json.loads(done.stdout)


def run(awaitable: Any) -> Any:
    return asyncio.run(awaitable)


RESUME: Final = """
import json, sys
from dataflow import SecretMissing
from dataflow.stores import Store
from tests.durable.test_stored_runs import big_flow, run, secret_flow
flow = {"secrets": secret_flow, "big": big_flow}[sys.argv[3]]().using(store=Store.sqlite(sys.argv[1]))
try:
    print(json.dumps(run(flow.resume(sys.argv[2], {"ask": True})).outputs["o"]))
except SecretMissing as error:
    print(json.dumps(str(error)))
"""
VALUE: Final = "tok-9f$&é"
#: Parts of the secret in clear, and of what its base64 begins with: none of them is in any other text.
PARTS: Final = ("tok-9f", "tok\\u002d9f", "dG9rLTlm")


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

    async def test_no_file_event_log_line_or_document_has_it(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        store = Store.sqlite(tmp_path / "runs.db")
        masks = SecretFilter()
        caplog.handler.addFilter(masks)
        with caplog.at_level(logging.DEBUG):
            async with secret_flow().using(store=store).start(token=Secret(SECRET)) as run:
                told = [repr(event) async for event in run.events(inputs=True)]
        caplog.handler.removeFilter(masks)
        records = [record for record in store.records(run.id) if "[secret:TOKEN" in record.data]
        assert "no entry for [secret:TOKEN]" in [one.data for one in records if one.path == "fail"][-1]
        assert "sending [secret:TOKEN]" in caplog.text
        assert not in_clear(tmp_path)
        assert not clear_parts("".join([*told, caplog.text, repr(secret_flow().wiring)]).encode())

    async def test_no_path_has_it_and_a_key_that_is_one_leads_to_what_was_done(self) -> None:
        store = Store.memory()
        flow = keyed_flow().using(store=store)
        result = await flow.resume(await flow.run(token=Secret(SECRET)), {"ask": True})
        paths = {record.path for record in store.records(result.run_id)}
        assert paths >= {"length[%5Bsecret:TOKEN%5D]", "length[other]"}
        assert not clear_parts(repr(paths).encode())
        assert result["o"] == len(VALUE) + len("other")


def in_clear(folder: Path) -> list[str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = [f"{file.name}: {part}" for file in files for part in clear_parts(file.read_bytes())]
    assert files
    return found


def clear_parts(data: bytes) -> list[str]:
    return [part for part in PARTS if part.encode() in data]


def test_big_and_odd_payloads_come_back_in_a_new_process(tmp_path: Path) -> None:
    """B51."""
    path = tmp_path / "runs.db"
    digest = hashlib.sha256(bytes(range(256)) * 40_000).hexdigest()
    for locale in ("C", "C.UTF-8"):
        run = big_flow().using(store=Store.sqlite(path)).run_sync().run_id
        back = in_a_new_process(RESUME, str(path), run, "big", LC_ALL=locale)
        assert back == [digest, "10240000", r"'a\ud800b \xe9\U0001f642'"]
        assert max(len(record.data.encode()) for record in Store.sqlite(path).records(run)) <= 65_536
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("select sha256, length(data) from blobs").fetchall() == [(digest, 10_240_000)]
