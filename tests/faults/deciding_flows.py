"""Flows in which a user's function decides something before they stop: at an ask, or with their process."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from dataflow import ExecutionContext, Flow, Message, Retry, Store, collect, each, merge_contexts, node

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FLOWS", "STATE", "State", "made", "run_and_die"]


class State:
    """What the functions depend on besides their arguments."""

    session = 1
    kills = False
    hook_fails_in = 2
    sent: Final[list[Any]] = []


STATE: Final = State()


def key_of(x: int) -> str:
    return f"{STATE.session}-{x}"


def first_session(_: object) -> bool:
    return STATE.session == 1


def later_session(_: object) -> bool:
    return STATE.session > 1


def session(_: object) -> str:
    return f"s{STATE.session}"


def by_session(contexts: list[ExecutionContext]) -> ExecutionContext:
    return contexts[0] if STATE.session == 1 else contexts[1]


def prepares(_: object) -> None:
    if STATE.session == STATE.hook_fails_in:
        raise ValueError("not again")


@node(effect=True)
async def send(x: int) -> int:
    STATE.sent.append(x)
    return x


@node(effect=True)
async def dies(x: Any) -> Any:
    if STATE.kills and STATE.session == 1:
        os._exit(9)
    return x


async def listed(x: int) -> list[int]:
    return [x, x + 10]


async def last_of(context: ExecutionContext, after: list[int]) -> str:
    return str(context.message_history[-1].content)


async def says(context: ExecutionContext, text: str) -> ExecutionContext:
    return context.append(Message("user", text))


async def fails_once(x: int) -> int:
    if STATE.session == 1 and not STATE.sent:
        STATE.sent.append(x)
        raise ConnectionError
    return x


def stop(flow: Flow, value: Any, type: Any = int) -> Any:
    """Ask for a value that shows the given one, or end the process of the first session."""
    if STATE.kills:
        return flow.add(dies, x=value).out
    return flow.ask(type, "?", name="stop", show=value).out


def keys_of_a_map() -> Flow:
    with Flow("keys") as flow:
        item = each(flow.input("xs", list[int]), key=key_of, max_concurrency=1)
        flow.output("out", collect(stop(flow, flow.add(send, x=item).out)))
    return flow


def keys_of_a_map_in_a_map() -> Flow:
    with Flow("nested") as flow:
        outer = each(flow.input("xs", list[int]), key=key_of, max_concurrency=1)
        inner = each(flow.add(listed, x=outer).out, key=key_of, max_concurrency=1)
        flow.output("out", collect(collect(stop(flow, flow.add(send, x=inner).out))))
    return flow


def keys_of_a_map_in_a_loop() -> Flow:
    with Flow("looped") as flow:
        with flow.loop(limit=2) as loop:
            carried = loop.carry(flow.input("xs", list[int]))
            item = each(carried.out, key=key_of, max_concurrency=1)
            carried.next(collect(stop(flow, flow.add(send, x=item).out)))
        flow.output("out", carried.final)
    return flow


def keys_of_a_map_that_feeds_another() -> Flow:
    with Flow("fed") as flow:
        item = each(flow.input("xs", list[int]), key=key_of, max_concurrency=1)
        sent = collect(flow.add(send, x=item).out)
        flow.output("out", collect(stop(flow, each(sent, key=key_of, max_concurrency=1))))
    return flow


def test_of_until() -> Flow:
    with Flow("until") as flow:
        with flow.loop(limit=3) as loop:
            carried = loop.carry(flow.input("xs", list[int]))
            loop.until(carried.out, later_session)
            carried.next(stop(flow, carried.out, list[int]))
            flow.add(send, x=1)
        flow.output("out", carried.final)
    return flow


def test_of_while() -> Flow:
    with Flow("while") as flow:
        with flow.loop(limit=1) as loop:
            carried = loop.carry(flow.input("xs", list[int]))
            loop.while_(carried.out, first_session)
            carried.next(stop(flow, carried.out, list[int]))
            flow.add(send, x=1)
        flow.output("out", carried.final)
    return flow


def predicate_of_a_branch() -> Flow:
    with Flow("branch") as flow:
        way = flow.when(flow.input("xs", list[int]), first_session)
        flow.output("out", stop(flow, way.yes, list[int]))
        flow.output("other", way.no)
    return flow


def pick_of_a_switch() -> Flow:
    with Flow("switch") as flow:
        ways = flow.switch(flow.input("xs", list[int]), session, ["s1", "s2"])
        flow.output("out", stop(flow, ways["s1"], list[int]))
        flow.output("other", ways["s2"])
    return flow


def merge_of_contexts() -> Flow:
    with Flow("merged") as flow:
        first = flow.context("main", model="p/m")
        left, right = (flow.add(says, context=first, text=text).out for text in ("left", "right"))
        merged = merge_contexts(left, right, how=by_session)
        stopped = stop(flow, flow.input("xs", list[int]), list[int])
        flow.output("stopped", stopped)
        flow.output("early", flow.add(last_of, merged, after=[]).out)
        flow.output("out", flow.add(node(last_of).with_(name="late"), merged, after=stopped).out)
    return flow


def hook_of_a_subflow() -> Flow:
    with Flow("inner") as inner:
        x = inner.add(fails_once, x=inner.input("x", int)).out
        inner.output("y", stop(inner, x))
    with Flow("hook") as flow:
        flow.input("xs", list[int])
        placed = inner.with_(retries=Retry(1, before=prepares), name="inner")
        flow.output("out", flow.add(placed, x=1).out.y)
    return flow


FLOWS: Final[dict[str, Callable[[], Flow]]] = {
    function.__name__: function
    for function in (
        keys_of_a_map, keys_of_a_map_in_a_map, keys_of_a_map_in_a_loop, keys_of_a_map_that_feeds_another,
        test_of_until, test_of_while, predicate_of_a_branch, pick_of_a_switch, merge_of_contexts,
        hook_of_a_subflow,
    )
}  # fmt: skip


def made(name: str, *, kills: bool = False) -> Flow:
    """Build a flow that stops by an ask, or by the end of its process."""
    STATE.kills = kills
    return FLOWS[name]()


def run_and_die() -> None:
    """Run a flow until its process ends; the arguments are its name and the path of its store."""
    made(sys.argv[1], kills=True).using(store=Store.sqlite(sys.argv[2])).run_sync(xs=[5, 1])
