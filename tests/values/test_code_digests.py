"""Whether a function does what it did (S11.4)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dataflow import threaded
from dataflow.values.functions import code_digest, codes_of
from tests.support.quick_nodes import Adder, awaiting, inc, plain


def made(source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(source, names)  # a text of this file
    function: Callable[..., Any] = names["f"]
    return function


ONE = "def f(x, y=1):\n    def g(z):\n        return z in {'a', 'b'} or z + 1\n    return g(x)"

SAME: list[tuple[str, str]] = [
    ("the same text", ONE),
    ("the place in the file", "\n\n" + ONE),
    ("a comment", ONE + "  # of no effect"),
    ("the order of a set", ONE.replace("{'a', 'b'}", "{'b', 'a'}")),
]
OTHER: list[tuple[str, str]] = [
    ("a constant in an inner function", ONE.replace("z + 1", "z + 2")),
    ("the type of a constant", ONE.replace("z + 1", "z + 1.0")),
    ("a bool for a number", ONE.replace("z + 1", "z + True")),
    ("a name", ONE.replace("return g(x)", "return h(x)")),
    ("a default", ONE.replace("y=1", "y=2")),
    ("a keyword's default", ONE.replace("y=1", "*, y=1")),
    ("an operation", ONE.replace("z + 1", "z - 1")),
    ("a member of a set", ONE.replace("'b'", "'c'")),
    (
        "what is caught",
        ONE.replace("return g(x)", "try:\n        return g(x)\n    except KeyError:\n        pass"),
    ),
]


def test_wrappers_partials_methods_and_objects_count() -> None:
    digests = {code_digest(one) for one in (inc, awaiting(inc), awaiting(plain), awaiting(awaiting(inc)))}
    assert len(digests) == 4
    assert code_digest(functools.partial(plain, 1)) == code_digest(functools.partial(plain, 1))
    assert code_digest(functools.partial(plain, 1)) != code_digest(functools.partial(plain, 2))
    assert code_digest(functools.partial(plain, 1)) != code_digest(functools.partial(made(ONE), 1))
    assert code_digest(Adder(1).add) == code_digest(Adder.add)
    assert code_digest(Adder(1)) == code_digest(Adder(2))
    assert code_digest(Adder(1)) != code_digest(Adder(1).add_plainly)
    documented = threaded(plain).type.documented
    assert code_digest(documented) == code_digest(plain)


def test_odd_functions_have_a_digest_or_none() -> None:
    cases: list[object] = [len, int, str.upper, 5]
    for one in cases:
        assert code_digest(one) is None, one
    one, other = made(ONE), made(ONE)
    one.__wrapped__, other.__wrapped__ = other, one  # type: ignore[attr-defined]  # as functools.wraps does
    assert code_digest(one) is not None
    long = f"def f():\n    return 0x{'f' * 5_000}"
    assert code_digest(made(long)) == code_digest(made(long)) != code_digest(made(f"{long}f"))
    assert codes_of([code_digest, inc, len]) == [code_digest(inc)]
