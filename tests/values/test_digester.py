"""How values of third-party types are digested: as somebody has registered (S13.2)."""

from __future__ import annotations

import io
from enum import Enum
from typing import Any

import pytest

from dataflow import digester
from dataflow.values.digests import NoDigest, digest


class Image(io.BytesIO):
    """Of a class written in C, with a number of its own."""

    quality = 1


class Known(Enum):
    A = 1


@pytest.fixture(name="kind")
def another_image() -> type[Image]:
    """Make a class that nobody has registered."""
    return type("Another", (Image,), {})


def test_what_is_registered_counts(kind: type[Image]) -> None:
    with pytest.raises(NoDigest, match="BytesIO"):
        digest([io.BytesIO()])
    digester(kind, lambda image: (image.quality, image.getvalue()))
    assert digest([kind(b"a")]) == digest([kind(b"a")]) != digest([kind(b"b")])

    @digester(kind)
    def told(image: Image) -> bytes:
        return image.getvalue()

    assert digest(kind(b"a")) != digest(told(kind(b"a")))
    digester(kind, lambda _: 1)
    before = digest(kind())
    digester(kind, lambda _: 2)
    assert digest(kind()) != before


def test_only_classes_without_a_fixed_digest_are_registered(kind: type[Image]) -> None:
    for known in (int, list, dict, object, type, Enum):
        with pytest.raises(TypeError, match="DF0643"):
            digester(known, repr)
    before = digest(Known.A)
    digester(Known, lambda _: 1)
    assert digest(Known.A) != before
    for wrong in (5, "a.b", list[int], None):
        with pytest.raises(TypeError, match=r"DF0642 .*expected a class"):
            digester(wrong, repr)  # type: ignore[arg-type]

    async def told(_: Image) -> int:
        return 1

    wrongs: list[Any] = [5, told]
    for wrong in wrongs:
        with pytest.raises(TypeError, match=r"DF0642 .*expected a function"):
            digester(kind, wrong)
        with pytest.raises(TypeError, match=r"DF0642 .*expected a function"):
            digester(kind)(wrong)
