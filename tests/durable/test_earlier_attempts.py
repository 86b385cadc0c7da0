"""What a resume leaves alone: the attempts at a flow node that others have followed (S7.3, S11.3)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from dataflow import Failure, Flow, collect, each, node, this_firing
from tests.properties.ledger import Ledger


async def fails(x: int) -> int:
    raise ValueError(str(x))


async def told(failure: Failure | object) -> str:
    return "told"


async def same(text: str) -> str:
    return text


async def at_last(text: str) -> str:
    """Fail in the first attempt at the flow node."""
    if "~" not in this_firing().path:
        raise ValueError("not yet")
    return text


async def third(xs: list[int], b: int, c: str) -> int:
    """Fail in all attempts at the flow node before the third."""
    if "~3" not in this_firing().path:
        raise ValueError("not yet")
    return sum(xs) + b


async def after(number: int) -> int:
    return number


def at_last_inside() -> Flow:
    """Wire a map, a loop and a flow node inside one of three attempts, each of which fails behind them."""
    with Flow("innermost") as innermost:
        innermost.output("y", innermost.add(same, text=innermost.input("text", str)).out)
    with Flow("inner") as inner:
        number = inner.input("x", int)
        listed = collect(inner.add(after, number=each([1, 2])).out)
        with inner.loop(name="rounds", limit=2) as rounds:
            carried = rounds.carry(number)
            carried.next(inner.add(node(after).with_(name="next"), number=carried.out).out)
            last = rounds.result(carried.out)
        nested = inner.add(innermost, text="deep")
        inner.output("y", inner.add(third, xs=listed, b=last, c=nested.out.y).out)
    with Flow("outer") as outer:
        outer.output("o", outer.add(inner.with_(retries=3), x=1).out.y)
    return outer


DOCUMENT: Final = """
dataflow: 1
name: outer
nodes:
  inner:
    flow:
      dataflow: 1
      inputs: {text: {type: string}}
      nodes:
        same: {type: tests.durable.test_earlier_attempts:same, inputs: {text: $in.text}}
        at_last: {type: tests.durable.test_earlier_attempts:at_last, inputs: {text: same}}
      outputs: {y: at_last}
    values: {text: said}
    policy: {retry: {retries: 1}}
  behind: {type: tests.durable.test_earlier_attempts:same, inputs: {text: inner.y}}
outputs: {o: behind}
"""


async def test_whichever_record_is_the_last_the_states_of_earlier_attempts_are_known(
    subtests: pytest.Subtests, tmp_path: Path
) -> None:
    document = tmp_path / "outer.yaml"
    document.write_text(DOCUMENT)
    for name, flow in (("the builder", at_last_inside()), ("a document", Flow.load(document))):
        with subtests.test(name):
            ledger = Ledger()
            whole = await flow.using(store=ledger).run()
            assert {path.partition("/")[0] for path in whole.states} >= {"inner", "inner~2"}
            for count in range(1, len(ledger.journal())):
                result = await flow.using(store=ledger.kept(count)).resume(ledger.run)
                assert (count, result.states) == (count, whole.states)


async def test_the_states_of_earlier_attempts_are_known_after_a_pause() -> None:
    with Flow("inner") as inner:
        text = inner.add(at_last, text=inner.input("text", str))
        inner.output("y", inner.add(same, text=inner.ask(str, "what?", show=text.out).out).out)
    with Flow("outer") as outer:
        outer.output("o", outer.add(inner.with_(retries=1), text="said").out.y)
    flow = outer.using(store=Ledger())
    paused = await flow.run()
    assert paused.states["inner/at_last"] == "failed"
    result = await flow.resume(paused.run_id, {"inner~2/ask": "so"})
    earlier = {path: state for path, state in paused.states.items() if path.startswith("inner/")}
    assert earlier.items() <= result.states.items()
    told = "inner/at_last is failed since an earlier sitting, and was not opened again: "
    assert result.why("inner/at_last").startswith(told)
