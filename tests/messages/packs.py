# ruff: noqa: E501 - a row is a line
"""Messages about packs: what is not a pack, not installed, or cannot be used (B53)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest.mock import patch

from dataflow import Pack, node
from dataflow.packs.registry import find_type, installed_packs
from tests.messages.telling import Row, Stimulus
from tests.support.installed import install

__all__ = ["ROWS"]

MODULE: Final = """
from dataflow import Pack

__stored_as__ = "messages"

async def fetch(url: str) -> str:
    return url

good = Pack("good", version="1.0", api=1, nodes=[fetch])
newer = Pack("newer", version="1.0", api=2, nodes=[fetch])
twins = Pack("twins", version="1.0", api=1, nodes={"a": "message_packs.one:f", "b": "message_packs.two:f"})
no_pack = 3
"""


async def fetch(url: str) -> str:
    return url


def blocking(x: int) -> int:
    return x


def pack(name: str, nodes: Any) -> Stimulus:
    return lambda: Pack(name, version="1.0", api=1, nodes=nodes)


def found_in(nodes: Any, name: str) -> Stimulus:
    return lambda: Pack("shots", version="1.0", api=1, nodes=nodes).find(name)


def finding(
    id: str, *others: str, disabled: str = "", requires: str = "", hidden: str = "", **distributions: str
) -> Stimulus:
    """Find a type, or list the pack of a name without a dot, where these distributions are installed."""

    def stimulus() -> object:
        with (
            TemporaryDirectory() as first,
            TemporaryDirectory() as folder,
            patch.object(sys, "path", [first, *sys.path, folder]),
            patch.dict(os.environ, {"DATAFLOW_DISABLE_PACKS": disabled}),
        ):
            Path(folder, "message_packs.py").write_text(MODULE, encoding="utf-8")
            for name, entry in distributions.items():
                install(Path(folder), name, entry, files=others, requires=requires)
            if hidden:
                Path(first, hidden).touch()
                Path(folder, hidden).touch()
            try:
                return (
                    find_type(id)
                    if "." in id
                    else [one.fault.reason for one in installed_packs(id) if one.fault]
                )
            finally:
                sys.modules.pop("message_packs", None)

    return stimulus


GOOD: Final = "good = message_packs:good"
TWICE: Final = "good = message_packs:good\ngood = message_packs:other"

# fmt: off
ROWS: Final = [
    Row("a name of a pack", pack("sho.ts", [])),
    Row("a name of a node type", pack("shots", {"a b": "m:f"})),
    Row("two node types of one name", pack("shots", [fetch, node(name="fetch")(fetch)])),
    Row("a place of a node type", pack("shots", {"a": "m.f"})),
    Row("a number for a node type", pack("shots", {"a": 3})),
    Row("a function that blocks", found_in([blocking], "blocking"), hide="unusable: .*"),
    Row("no such node type", found_in([fetch], "fetsch")),
    Row("no such node type in an installed pack", finding("good.scan", shots=GOOD)),
    Row("no such distribution", finding("no-such:good.fetch", shots=GOOD)),
    Row("a node type of two distributions", finding("good.fetch", shots=GOOD, another=GOOD)),
    Row("a number for a pack", finding("good.fetch", shots="good = message_packs:no_pack")),
    Row("a pack under another name", finding("other.fetch", shots="other = message_packs:good")),
    Row("a pack for a later release", finding("newer.fetch", shots="newer = message_packs:newer")),
    Row("two functions of one public name", finding("twins.a", shots="twins = message_packs:twins")),
    Row("a disabled pack", finding("good.fetch", disabled="good", shots=GOOD)),
    Row("a pack with the name of one of the engine", finding("shots:control.fetch", shots="control = message_packs:good")),
    Row("an entry point without an object", finding("good.fetch", shots="good = message_packs")),
    Row("a file of two distributions", finding("good.fetch", "message_packs.py", shots=GOOD, another="fine = message_packs:good")),
    Row("a module that another hides", finding("good.fetch", "hidden_by_one.py", hidden="hidden_by_one.py", shots=GOOD), hide="(?<=hidden by ).*(?=hidden_by)"),
    Row("a pack for a later engine", finding("good.fetch", requires="dataflow-engine>=99", shots=GOOD), hide="(?<=found )[^ ]*"),
    Row("two entry points of one name", finding("good.fetch", shots=TWICE)),
    Row("malformed metadata", finding("(unreadable)", torn="this line has no value"), hide="(?<=TypeError: ).*"),
]
# fmt: on
