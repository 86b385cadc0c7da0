"""Why something is what it is, also while a run is paused, as text and as data (S3.3)."""

from __future__ import annotations

import anyio
import pytest

from dataflow import Flow, Lazy, ReasonKind, Result, RunFailed, collect, each, merge, node, race
from dataflow.runtime.reasons import Reason
from tests.behaviour.forked_flows import add, fails, is_big, listed, up


async def lazily(x: int, other: Lazy[int]) -> int:
    return x + other


async def endless(x: int) -> int:
    await anyio.sleep_forever()
    return x


def told(result: Result, port: object) -> list[str]:
    explained = result.explain(port)
    assert str(explained) == result.why(port)
    data = explained.as_json()
    assert [one["text"] for one in data] == [one.text for one in explained.reasons]
    assert all(0 < cause < len(data) for one in data for cause in one["causes"])
    return str(explained).splitlines()


async def test_what_waits_leads_to_the_asks_that_hold_it_up() -> None:
    with Flow("waits") as f:
        first = f.ask(int, "How many?", name="first")
        second = f.ask(int, "How often?", name="second", expires=86_400, default=1)
        both = f.add(add, x=f.add(up, x=first.out).out, y=second.out)
        f.output("o", merge(both.out, first.out))
    result = await f.run()
    until = f"{result.asks[1].expires:%Y-%m-%d %H:%M:%SZ}"
    assert told(result, "first") == [
        "first is paused",
        "  because ask 'first' waits for an answer: How many?",
    ]
    assert told(result, "add") == [
        "add is waiting", "  because it waits for up.out", "  because up is waiting",
        "  because it waits for first.out", "  because first is paused",
        "  because ask 'first' waits for an answer: How many?",
        "  because it waits for second.out",
        "  because second is paused",
        f"  because ask 'second' waits for an answer, until {until}: How often?",
    ]  # fmt: skip
    kinds = {one.place: one.kind for one in result.explain("add").reasons}
    assert kinds == {
        "add": ReasonKind.WAITING, "up.out": ReasonKind.WAITING, "up": ReasonKind.WAITING,
        "first.out": ReasonKind.WAITING, "first": ReasonKind.ASK, "second.out": ReasonKind.WAITING,
        "second": ReasonKind.ASK,
    }  # fmt: skip


async def test_each_state_has_its_kind() -> None:
    with Flow("kinds") as f:
        x = f.input("x", int)
        ways = f.when(x, is_big)
        skipped = f.add(up, x=ways.yes)
        failing = f.add(node(fails).with_(on_error="skip"), x=x)
        off = f.add(node(up).with_(enabled=False, name="off"), x=x)
        unread = f.add(node(up).with_(name="unread"), x=x)
        f.add(lazily, x=skipped.out, other=unread.out)
        slow = f.add(endless, x=x)
        f.output("first", race(x, slow.out))
        f.output("items", collect(f.add(up, x=each(f.add(listed, x=x).out)).out))
    result = await f.run(x=1)
    kinds = {
        name: result.explain(name).reasons[0].kind
        for name in ("up", "fails", "off", "unread", "endless", "up_2[0]", "first", "items")
    }
    assert kinds == {
        "up": ReasonKind.SKIP, "fails": ReasonKind.FAILURE, "off": ReasonKind.DISABLED,
        "unread": ReasonKind.NOT_DEMANDED, "endless": ReasonKind.RACE_LOST, "up_2[0]": ReasonKind.VALUE,
        "first": ReasonKind.VALUE, "items": ReasonKind.VALUE,
    }  # fmt: skip
    assert told(result, "unread") == ["unread is not_run", "  because unread: not demanded"]
    assert told(result, "endless")[1].startswith("  because race")
    assert off is not failing


async def test_a_cancelled_and_a_failed_run_say_what_has_ended_them() -> None:
    with Flow("ends") as f:
        slow = f.add(endless, x=1)
        f.output("o", f.add(up, x=slow.out).out)
    async with f.start() as run:
        run.cancel("out of time")
        result = await run
    assert told(result, "up") == ["up is not_run", "  because out of time"]
    with Flow("fails") as f:
        f.output("o", f.add(up, x=f.add(fails, x=1).out).out)
    with pytest.raises(RunFailed) as failed:
        await f.run()
    explained = failed.value.result.explain("up")
    assert [one.kind for one in explained.reasons] == [ReasonKind.NOT_RUN, ReasonKind.FAILURE]


async def test_another_reason_can_be_added() -> None:
    with Flow("one") as f:
        f.output("o", f.add(up, x=1).out)
    explained = (await f.run()).explain("up")
    more = explained.with_cause(Reason(ReasonKind.VALUE, "up", "it was remembered"))
    assert str(more) == "up is done\n  because it was remembered"
    assert str(explained) == "up is done"
