"""Two edges that both always bring a value are refused on a port for one (S5.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dataflow import Flow, collect, each, fallback, gather, merge, node
from tests.compiler.typed_nodes import anything, blank, logs, parts, whole
from tests.support.codes import codes


async def optional(n: int = 0, m: int = 0) -> int:
    return n + m


def sure(flow: Flow) -> Any:
    return flow.add(whole, n=1).out


def with_policy(**settings: Any) -> Callable[[Flow], Any]:
    return lambda flow: flow.add(node(whole).with_(**settings), n=1).out


def handled(flow: Flow) -> Any:
    step = flow.add(whole, n=1)
    flow.add(logs, failure=step.error)
    return step.out


def in_a_loop(kind: str) -> Callable[[Flow], Any]:
    def wire(flow: Flow) -> Any:
        with flow.loop(limit=2) as it:
            carry = it.carry(0)
            step = flow.add(whole, n=carry.out)
            carry.next(step.out)
            if kind.startswith("while"):
                it.while_(carry.out, lambda n: n < 3)
        if kind.endswith("handled"):
            flow.add(logs)  # type: ignore[call-arg]  # wired by name
            flow.connect("loop.$error", "logs.failure")
        leaving = {"final": carry.final, "all": it.all(step.out)}
        return leaving.get(kind.rsplit(maxsplit=1)[-1], step.out)

    return wire


SURE: list[tuple[str, Callable[[Flow], Any], bool]] = [
    ("a node whose ports have constants", sure, True),
    ("a node behind a sure one", lambda f: f.add(whole, n=sure(f)).out, True),
    ("a node without ports", lambda f: f.add(blank).done, True),
    ("an input", lambda f: f.input("n", int), True),
    (
        "a node with optional ports, one of them sure",
        lambda f: f.add(optional, n=sure(f), m=f.when(1, bool).yes).out,
        True,
    ),
    ("a node with optional ports, none sure", lambda f: f.add(optional, n=f.when(1, bool).yes).out, False),
    ("a node with optional ports, none connected", lambda f: f.add(optional).out, True),
    ("a node that may be skipped", lambda f: f.add(whole, n=f.when(1, bool).yes).out, False),
    ("an exit of a branch", lambda f: f.when(1, bool).yes, False),
    ("a conditional field", lambda f: f.add(parts, n=1).out.note, False),
    ("an unconditional field", lambda f: f.add(parts, n=1).out.title, True),
    ("a result of which a field may be left out", lambda f: f.add(parts, n=1).out, False),
    ("a failure", lambda f: f.add(whole, n=1).error, False),
    ("a signal", lambda f: f.add(whole, n=1).done, True),
    ("a node whose failure is skipped", with_policy(on_error="skip"), False),
    ("a node whose failure is routed", with_policy(on_error="route"), False),
    ("a node whose failure is wired", handled, False),
    ("a node whose failure has a default", with_policy(default=0), True),
    ("a disabled node", with_policy(enabled=False), False),
    ("a merge with a sure source", lambda f: merge(f.when(1, bool).yes, sure(f)), True),
    ("a merge without a sure source", lambda f: merge(f.when(1, bool).yes, f.when(1, bool).no), False),
    ("a gather with a sure source", lambda f: gather(f.when(1, bool).yes, sure(f)), True),
    ("a fallback", lambda f: fallback(f.when(1, bool).yes, 3), True),
    ("a collected list", lambda f: collect(f.add(whole, n=each(f.input("xs", list[int]))).out), True),
    (
        "a collected list of what may not be",
        lambda f: collect(f.add(whole, n=each(maybe_list(f))).out),
        False,
    ),
    ("the final value of a loop", in_a_loop("final"), True),
    ("the last value of a loop", in_a_loop("last"), True),
    ("the final value of a while loop", in_a_loop("while final"), True),
    ("the last value of a while loop", in_a_loop("while last"), False),
    ("all values of a loop", in_a_loop("all"), True),
    ("all values of a while loop", in_a_loop("while all"), True),
    ("the last value of a loop whose failure is wired", in_a_loop("handled"), False),
]


def maybe_list(flow: Flow) -> Any:
    return flow.when([1], bool).yes


def test_two_sure_edges_on_a_port_for_one_value_are_refused() -> None:
    found = {}
    for name, make, _ in SURE:
        flow = Flow()
        port = make(flow)
        flow.add(node(anything).with_(name="first"), x=port)
        flow.add(node(anything).with_(name="second"), x=1)
        flow.add(node(anything).with_(name="reader"), x=flow.add(node(anything).with_(name="x"), x=port).out)
        flow.connect("second", "reader.x")
        found[name] = "DF0307 reader.x" in codes(flow.check())
    assert found == {name: is_sure for name, _, is_sure in SURE}
