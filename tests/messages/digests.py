# mypy: disable-error-code="arg-type, call-overload, type-var"
"""What is said of values and nodes that have no digest, and of digesters that cannot be (S13.2)."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from dataflow import digester, register_codec
from dataflow.memo.fingerprints import fingerprint
from dataflow.values.digests import NoDigest, digest
from tests.memo.test_fingerprints import call_of
from tests.messages.telling import Row, Stimulus
from tests.values.test_digests import NONE

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
    *(Row(name, undigested(value)) for name, value in NONE.items()),
    Row("a part without digest", undigested({"h": [1, io.BytesIO()]})),
    Row("what is in itself", undigested(in_itself())),
    Row("what has no end", undigested(Endless())),
    Row("a digester that fails", undigested([Broken()])),
    Row("a digester that gives the same", undigested(Same())),
    Row("a node in C", unmarked(partial(len))),
    Row("a digester of no class", lambda: digester("numpy.ndarray", repr)),
    Row("a digester of what has one", lambda: digester(dict, repr)),
    Row("a digester that is no function", lambda: digester(Same, 5)),
    Row("a codec of no class", lambda: register_codec("numpy.ndarray", str, int)),
    Row("a codec that is no function", lambda: register_codec(Same, 5, Same)),
    Row("a codec of what is stored in another way", lambda: register_codec(dict, list, dict)),
    Row("an async digester", lambda: digester(Same)(told)),
]
