"""Blocks while they are wired, and functions that wire a flow for a config (S1.2, S1.3, S6, S16.3)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import pytest

from dataflow import Config, Flow, Loop, Maybe, NameUnknown, Pack, Step, flow, gather, merge, node
from dataflow.core import wiring as w
from dataflow.core.functions import import_function
from dataflow.core.nodetype import derive
from dataflow.packs.registry import find_type
from tests.behaviour.flow_parts import inc, length
from tests.support.codes import codes


class Parts(NamedTuple):
    title: str
    size: int


async def split(n: int) -> Parts:
    return Parts(str(n), n)


def named(name: str) -> Any:
    return node(inc).with_(name=name)


def ids(*steps: Step[Any]) -> list[str]:
    return [step.out.__repr__()[1:-5] for step in steps]


def body_of(flow: Flow, loop: str) -> w.LoopBlock:
    placed = flow.wiring.block.nodes[loop]
    assert isinstance(placed, w.LoopBlock)
    return placed


def test_nodes_are_named_after_their_function_and_numbered() -> None:
    flow = Flow()
    steps = [flow.add(inc, x=1), flow.add(split, n=1), flow.add(inc, x=1), flow.add(named("inc_4"), x=1)]
    renamed = node(name="raise")(inc)
    steps += [flow.add(inc, x=1), flow.add(inc, x=1), flow.add(renamed, x=1), flow.add(renamed, x=1)]
    assert ids(*steps) == ["inc", "split", "inc_2", "inc_4", "inc_3", "inc_5", "raise", "raise_2"]
    assert list(flow.wiring.block.nodes) == ids(*steps)
    assert flow.check() == []


@pytest.mark.parametrize("name", ["a.b", "a/b[0]", "größe", "$done", "$x", " ", "'", "a\nb", "~2", "%41"])
async def test_any_text_is_a_name(name: str) -> None:
    with Flow() as flow:
        first = flow.add(named(name), x=1)
        flow.output("y", flow.add(inc, x=first.out).out)
    result = await flow.run()
    assert (result["y"], result.get(first.out)) == (3, 2)


def test_reserved_names_and_names_that_are_taken_are_problems() -> None:
    for name in ("", "$in", "$carry", "$item"):
        flow = Flow()
        flow.add(named(name), x=1)
        assert codes(flow.check()) == [f"DF0312 {name}".rstrip()]
    flow = Flow()
    first, second = flow.add(named("a"), x=1), flow.add(named("a"), x=1)
    with flow.loop(name="a", limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
    assert ids(first, second) == ["a", "a_2"]
    assert codes(flow.check()) == ["DF0202 a", "DF0202 a"]


async def test_a_port_of_a_loop_can_be_read_outside() -> None:
    with Flow() as flow:
        with flow.loop(limit=3) as it:
            carry = it.carry(0)
            parts = flow.add(split, n=carry.out)
            carry.next(flow.add(inc, x=parts.out.size).out)
        flow.output("size", flow.add(inc, x=parts.out.size).out)
        flow.output("again", parts.out.size)
        flow.output("whole", parts.out)
        flow.output("last", it.result(parts.out.title))
    assert list(body_of(flow, "loop").body.outputs) == ["split_size", "split", "split_title"]
    assert dict((await flow.run()).outputs) == {"size": 3, "again": 2, "whole": Parts("2", 2), "last": "2"}


def test_ports_of_another_flow_are_problems() -> None:
    other, flow = Flow("other"), Flow("flow")
    flow.add(inc, x=other.add(inc, x=1).out)
    [problem] = [one for one in flow.check() if one.code == "DF0213"]
    assert (problem.place, dict(problem.details)) == ("inc.out", {"flow": "other"})
    assert other.check() == []


def test_what_is_neither_a_port_nor_a_constant_is_a_problem() -> None:
    flow = Flow()
    step = flow.add(inc, x=1)
    with flow.loop(limit=1) as it:
        carry = it.carry(0)
        carry.next(carry.out)
    given: dict[str, Any] = {
        "a list": [step.out],
        "a tuple": (step.out, 1),
        "a step": step,
        "a branch": flow.when(step.out, lambda n: n > 1),
        "a loop": it,
        "a loop variable": carry,
    }
    for name, value in given.items():
        flow.output(name, value)
    problems = flow.check()
    assert {one.place: (one.code, one.available) for one in problems if one.code < "DF03"} == {
        "outputs.a list": ("DF0217", None), "outputs.a tuple": ("DF0217", None),
        "outputs.a step": ("DF0216", ("out", "done", "error")), "outputs.a branch": ("DF0216", ("yes", "no")),
        "outputs.a loop": ("DF0216", ("result(...)", "all(...)")),
        "outputs.a loop variable": ("DF0216", ("out", "final")),
    }  # fmt: skip


async def test_joins_are_nested_up_to_a_depth() -> None:
    flow = Flow()
    step = flow.add(inc, x=1)
    joined = step.out
    for _ in range(100):
        joined = merge(joined, step.out)
    flow.output("y", joined)
    assert (await flow.run())["y"] == 2
    with pytest.raises(ValueError, match=r"DF0220 gather\(\.\.\.\)"):
        gather(joined)


def test_outputs_of_a_loop_are_named_apart() -> None:
    flow = Flow()
    with flow.loop() as it:
        carry = it.carry(0)
        step = flow.add(inc, x=carry.out)
        carry.next(step.out)
        named = [
            it.result(step.out), it.result(step.out), it.result(step.done), it.result(merge(step.out, 1)),
        ]  # fmt: skip
        more = it.result(merge(step.out, 2))
    assert [repr(port) for port in (*named, more)] == [
        "'loop.inc'",
        "'loop.inc'",
        "'loop.inc_done'",
        "'loop.result'",
        "'loop.result_2'",
    ]


Wire = Callable[[Flow, Loop, Any], object]


def same(_flow: Flow, _it: Loop, carry: Any) -> None:
    carry.next(carry.out)


def both(*wires: Wire) -> Wire:
    return lambda flow, it, carry: [wire(flow, it, carry) for wire in wires]


def begins_inside(flow: Flow, it: Loop, _: Any) -> None:
    it.carry(flow.add(inc, x=1).out).next(1)


def test_a_loop_is_checked() -> None:
    decide: Any = inc  # an async function
    until: Wire = lambda _flow, it, carry: it.until(carry.out, lambda n: n > 3)  # noqa: E731 - a row
    cases: list[tuple[Wire, list[str]]] = [
        (same, []),
        (both(same, same), ["DF0204 loop.carry.carry.next"]),
        (both(same, until, until), ["DF0204 loop.until"]),
        (both(same, begins_inside), ["DF0218 loop.carry.carry_2"]),
        (both(same, lambda _flow, it, carry: it.until(carry.out, decide)), ["DF0503 loop.until"]),
        (
            lambda flow, _it, carry: carry.next(flow.add(inc, x=carry.out)),
            ["DF0216 loop.carry.carry.next", "DF0308 loop.carry.carry.next"],
        ),
    ]
    for wire, problems in cases:
        flow = Flow()
        with flow.loop() as it:
            wire(flow, it, it.carry(0))
        assert codes(flow.check()) == problems


def test_all_anywhere_but_at_the_end_of_a_loop_is_a_problem() -> None:
    nodes: dict[str, w.Placed] = {"inc": w.PlacedNode("inc", type=derive(inc), inputs={"x": w.Literally(1)})}
    wiring = w.Wiring("f", block=w.Block(nodes, outputs={"o": w.All(w.Reference("inc"))}))
    flow = Flow.from_wiring(wiring, find_type, import_function)
    assert codes(flow.check()) == ["DF0329 outputs.o"]


KINDS: tuple[Literal["low"], Literal["high"]] = ("low", "high")


def pick(n: int) -> Any:
    return {0: "low", 1: "high", 2: None}.get(n, "other")


def test_an_unknown_case_of_a_switch_is_refused() -> None:
    exits: Any = Flow().switch(1, pick, KINDS)
    with pytest.raises(NameUnknown, match="DF0219") as caught:
        exits["hihg"]
    assert isinstance(caught.value, KeyError)
    assert caught.value.diagnostics[0].available == ("low", "high")


async def decide(n: int) -> bool:
    return n > 3


def test_a_branch_with_an_invalid_config_is_a_problem() -> None:
    cases: list[tuple[str, Callable[[Any], object]]] = [
        ("DF0503 when.config.predicate", lambda f: f.when(1, "no function")),
        ("DF0415 switch.config.cases.0", lambda f: f.switch(1, pick, [1, 2])),
        ("DF0503 switch.config.pick", lambda f: f.switch(1, 3, ["a"])),
        ("DF0503 when.config.predicate", lambda f: f.when(1, decide)),
        ("DF0503 switch.config.pick", lambda f: f.switch(1, decide, ["a"])),
    ]
    for problem, wire in cases:
        built = Flow()
        wire(built)
        assert problem in codes(built.check())


T = TypeVar("T")


class Steps(Config):
    count: int = 1


class Needed(Config):
    count: int


class Parted(NamedTuple, Generic[T]):
    low: Maybe[T]
    high: Maybe[T]
    note: str


async def kept(value: T) -> T:
    return value


async def word(value: Any) -> str:
    return str(value)


@flow
def counting(f: Flow, n: int, config: Steps = Steps()) -> int:  # noqa: B008 - frozen
    """Add one as often as the config says."""
    for _ in range(config.count):
        n = f.add(inc, x=n).out
    return n


@flow
def needing(f: Flow, n: int, *, config: Needed) -> int:
    return f.add(counting, n=n, config=Steps(count=config.count)).out


@flow
def parting(f: Flow, value: T, config: Steps = Steps()) -> Parted[T]:  # noqa: B008 - frozen
    sides = f.when(f.add(kept, value=value).out, lambda found: found is not None)
    return Parted(sides.yes, sides.no, f.add(word, value=value).out)


async def test_each_node_has_the_flow_of_its_own_config() -> None:
    with Flow() as f:
        once = f.add(counting, n=f.input("n", int), config=Steps(count=1))
        f.output("n", f.add(counting, n=once.out, config=Steps(count=3)).out)
    result = await f.run(n=0)
    assert dict(result.outputs) == {"n": 4}
    assert [path for path in result.states if path.startswith("counting_2/")] == [
        "counting_2/inc", "counting_2/inc_2", "counting_2/inc_3",
    ]  # fmt: skip


def test_a_missing_or_wrong_config_is_a_problem_where_it_is_placed() -> None:
    assert codes(needing.check()) == ["DF0221 needing"]
    f: Any = Flow()
    f.add(needing, n=1)
    f.add(counting, n=1, config={"count": "many"})
    f.add(counting, n=1, config=f.input("config", Steps))
    assert codes(f.check()) == [
        "DF0205 counting_2", "DF0416 needing.config.count", "DF0415 counting.config.count"
    ]  # fmt: skip


def test_problems_inside_are_told_where_it_is_placed() -> None:
    @flow
    def faulty(f: Flow, n: int, config: Steps) -> int:
        return f.add(length, text=n).out  # type: ignore[arg-type]  # on purpose

    @flow
    def both(f: Flow, n: int, config: Steps, other: Needed) -> int:
        return f.add(inc, x=n).out

    f = Flow()
    f.add(faulty, n=1, config=Steps())
    f.add(both, n=1, config=Steps(), other=Needed(count=1))
    assert codes(f.check()) == ["DF0407 both", "DF0308 faulty/length.text"]


def test_a_pack_may_offer_it() -> None:
    pack = Pack("steps", version="1", api=1, nodes=[counting, parting])
    found = pack.find("counting")
    assert (found.id, list(found.inputs), list(found.outputs)) == ("steps.counting", ["n"], ["out"])
    assert found.text == "Add one as often as the config says."
    assert found.parameters.config is Steps
    assert [
        (port.name, port.same_as, port.conditional) for port in pack.find("parting").outputs.values()
    ] == [
        ("low", "value", True), ("high", "value", True), ("note", None, False),
    ]  # fmt: skip


def test_a_document_names_it_with_its_config(tmp_path: Path) -> None:
    with Flow("f") as f:
        f.output("n", f.add(counting, n=1, config=Steps(count=2)).out)
    document = f.to_dict()
    assert document["nodes"] == {
        "counting": {"type": f"{__name__}:counting", "config": {"count": 2}, "values": {"n": 1}}
    }
    file = tmp_path / "f.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert Flow.load(file).run_sync()["n"] == 3
