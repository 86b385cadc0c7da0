"""Flows whose runs are paused in one process and resumed in another."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from dataflow import Flow, Secret, collect, each, node
from tests.support.stored_runs import asking

SECRET: Final = "TOKEN"
ROOT: Final = Path(__file__).parents[2]


def secret_flow() -> Flow:
    """Wire a node that gives a secret in many forms to one that tells whether they came as they were."""

    @node(on_error="skip")
    async def fail(token: Secret) -> str:
        raise LookupError(f"no entry for {token.reveal()}")

    async def give(token: Secret) -> dict[str, Any]:
        value = token.reveal()
        logging.getLogger("tests.durable.stored_flows").warning("sending %s", value)
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
    """Wire a map whose items have a secret as their key, behind an ask."""

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
    """Wire 10 MB of bytes and odd text to what looks at them."""

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
    """Run a program that prints one line of JSON; return what it says."""
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
