# mypy: disable-error-code="arg-type, call-overload, type-var"
"""What is said of values and nodes that have no digest, and of digesters that cannot be (S13.2)."""

from __future__ import annotations

import io
from typing import Any, Final

from dataflow import digester
from dataflow.values.digests import NoDigest, digest
from tests.messages.telling import Row, Stimulus
from tests.values.test_digests import NONE

__all__ = ["ROWS"]

HERE: Final = __name__


class Same(io.BytesIO):
    pass


digester(Same, lambda same: same)


def undigested(value: object) -> Stimulus:
    """Digest a value that has no digest."""

    def stimulus() -> str:
        try:
            digest(value)
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
    Row("a digester that gives the same", undigested(Same())),
    Row("a digester of no class", lambda: digester("numpy.ndarray", repr)),
    Row("a digester of what has one", lambda: digester(dict, repr)),
    Row("a digester that is no function", lambda: digester(Same, 5)),
]
