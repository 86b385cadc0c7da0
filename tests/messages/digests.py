# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-overload, type-var"
"""What is said of values and nodes that have no digest, and of digesters that cannot be (S13.2)."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from dataflow import digester
from dataflow.memo.fingerprints import fingerprint
from dataflow.values.digests import NoDigest, digest
from tests.memo.test_fingerprints import call_of
from tests.messages.telling import Row, Stimulus
from tests.values.test_digests import ZONE, Misled

__all__ = ["ROWS"]

HERE: Final = __name__


class Same(io.BytesIO):
    pass


class Broken(io.BytesIO):
    pass


class Endless(io.BytesIO):
    pass


digester(Same, lambda same: same)
digester(Endless, lambda _: [Endless()])


@digester(Broken)
def broken(_: Broken) -> None:
    raise OSError("no such picture")


async def told(_: Path) -> int:
    return 1


async def takes(*, x: Any = None) -> Any:
    return x


def undigested(value: object) -> Stimulus:
    """Digest a value that has no digest."""

    def stimulus() -> str:
        try:
            digest(value)
        except NoDigest as error:
            return str(error)
        return "it has one"

    return stimulus


def unmarked(function: object) -> Stimulus:
    """Take the fingerprint of a call of a function that has none."""

    def stimulus() -> str:
        call = call_of(takes)
        call.type = replace(call.type, call=function)
        try:
            fingerprint(call, (), ())
        except NoDigest as error:
            return str(error)
        return "it has one"

    return stimulus


def in_itself() -> list[Any]:
    items: list[Any] = [1]
    items.append({"h": items})
    return items


ROWS: Final = [
    Row("a part without digest", undigested({"h": [1, io.BytesIO()]}), '["h"][1]: _io:BytesIO: it is open, and closed in another process; pass its path or what it holds'),
    Row("a class written in C", undigested(re.match("", "")), "re:Match: register how it is digested, with `digester`"),
    Row("an object of no class", undigested(object()), "builtins:object: nothing tells it from another"),
    Row("what is in itself", undigested(in_itself()), '[1]["h"]: builtins:list: it is in itself'),
    Row("what has no end", undigested(Endless()), f"{'[0]' * 10} and 199,980 more steps: {HERE}:Endless: it is nested deeper than 200,000 levels"),
    Row("a class that cannot be read", undigested(Misled()), "tests.values.test_digests:Misled: taking it apart raised ValueError: no"),
    Row("a zone without a key", undigested([ZoneInfo.from_file(io.BytesIO(ZONE))]), "[0]: zoneinfo:ZoneInfo: it is a zone without a key"),
    Row("a digester that fails", undigested([Broken()]), f"[0]: {HERE}:Broken: its digester {HERE}:broken raised OSError: no such picture"),
    Row("a digester that gives the same", undigested(Same()), f"{HERE}:Same: its digester {HERE}:<lambda> returned a value of the same type"),
    Row("a node in C", unmarked(partial(len)), "code: functools:partial: it is not written in Python"),
    Row("a digester of no class", lambda: digester("numpy.ndarray", repr), "digester takes a class, found 'numpy.ndarray'"),
    Row("a digester of what has one", lambda: digester(dict, repr), "dict has a digest of its own; register a class derived from it"),
    Row("a digester that is no function", lambda: digester(Same, 5), "the digester of Same must be a function, found int 5"),
    Row("an async digester", lambda: digester(Same)(told), "the digester of Same must be a plain function, found an async one"),
]  # fmt: skip
