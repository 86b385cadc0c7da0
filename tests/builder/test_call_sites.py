"""Problems of flows built in Python are at the file and line of the call that made the node or the edge."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from dataflow import Diagnostic, Flow, node
from tests.compiler.typed_nodes import inc


def marked(where: Callable[..., Any], mark: str) -> str:
    lines, first = inspect.getsourcelines(where)
    [index] = [index for index, line in enumerate(lines) if line.rstrip().endswith(f"# {mark}")]
    return f"{inspect.getsourcefile(where)}:{first + index}"


def found(problems: Any) -> dict[str, str]:
    assert all(isinstance(one, Diagnostic) for one in problems)
    return {f"{one.code} {one.place}": str(one.location) for one in problems}


def wired(f: Any) -> None:
    with f.loop() as it:
        carry = it.carry(1)
        carry.next("two")  # next
        it.while_(carry.out, lambda: True)  # while
        [f.add(inc) for _ in range(1)]  # in a list
    f.add(inc, n=1)
    f.connect("nobody", "inc_2.n")  # an edge
    f.after(f.add(inc, n=1), "text")  # after
    f.output("y", f.when(1, bool))  # an output
    f.input("x", int, "text")  # an input
    f.add(
        node(inc).with_(name="inc"),  # taken
        n=1,
    )


def test_a_problem_is_at_the_call_that_made_the_part() -> None:
    f = Flow()
    wired(f)
    at = {
        "DF0308 loop.carry.carry.next": "next", "DF0503 loop.while": "while", "DF0301 inc.n": "in a list",
        "DF0303 inc_2.n": "an edge", "DF0209 inc_3.after": "after", "DF0216 outputs.y": "an output",
        "DF0601 inputs.x.default": "an input",
    }  # fmt: skip
    problems = found(f.check())
    file, line = marked(wired, "taken").rsplit(":", 1)
    assert problems.pop("DF0202 inc") == f"{file}:{int(line) - 1}"  # the line where the call begins
    assert problems == {place: marked(wired, mark) for place, mark in at.items()}
