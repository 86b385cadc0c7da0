# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, typeddict-unknown-key, typeddict-item"
"""What is said of runs, of asks and answers, and of live sessions (S3, S11, S13.4, S15)."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypedDict

import anyio
import pytest

from dataflow import (
    SKIP,
    Config,
    ExecutionContext,
    Flow,
    NodeOutput,
    Port,
    Ports,
    ProcessMemo,
    RunFailed,
    Telemetry,
    collect,
    each,
    flow,
    merge_contexts,
    node,
    race,
    this_firing,
    threaded,
)
from dataflow.core.events import EventKind
from dataflow.live.session import Live
from tests.behaviour.flow_parts import Parts, inc, pair
from tests.messages.telling import Row, Stimulus, failing, later, played, wired
from tests.support.steady import warn_of_blocking


class Keys(TypedDict):
    a: int
    b: int


class Names(Config):
    names: tuple[str, ...] = ()


async def breaks(x: int = 0) -> int:
    raise ValueError("no paper")


async def sleeps() -> None:
    await anyio.sleep_forever()


async def gives_a_str() -> Parts:
    return "x"


async def gives_another_key() -> Keys:
    return {"a": 1, "b": 2, "c": 3}


async def both_exits(config: Names) -> dict[str, int]:
    return {"a": 1, "b": 2}


async def leaves_out() -> Keys:
    return {"a": 1}


async def is_no_success() -> NodeOutput:
    return NodeOutput(status="error")


async def gives_no_output() -> NodeOutput:
    return 3


async def anything() -> Any:
    return "x"


async def talks(context: ExecutionContext) -> NodeOutput:
    return NodeOutput()


def two_live_edges(f: Flow) -> None:
    x = f.input("x", int)
    f.add(inc)
    f.when(x, lambda x: x > 0)
    f.when(x, lambda x: x < 9)
    f.connect("when.yes", "inc.x")
    f.connect("when_2.yes", "inc.x")


def looping(test: Any, on_limit: Any = "exit", limit: int = 1) -> Any:
    def wire(f: Flow) -> None:
        with f.loop(limit=limit, on_limit=on_limit) as it:
            c = it.carry(0)
            s = f.add(inc, x=c.out)
            c.next(s.out)
            it.until(s.out, test)

    return wire


def warned(wire: Any, **using: Any) -> Stimulus:
    async def run() -> object:
        f = Flow("f")
        wire(f)
        async with f.using(**using).start() as run:
            texts = [event.data["text"] async for event in run.events() if event.kind == EventKind.WARNING]
        return [*dict.fromkeys([*texts, *(await run).warnings])]

    def stimulus() -> object:
        with pytest.MonkeyPatch.context() as monkeypatch:
            warn_of_blocking(monkeypatch, above=0.05)
            return anyio.run(run)

    return stimulus


def merged(how: Any, given: Any) -> Any:
    return lambda f: f.add(talks, context=merge_contexts(f.add(given).out, how=how))


def two_breaks(f: Flow) -> None:
    f.add(node(breaks).with_(name="a"))
    f.add(node(breaks).with_(name="b"))


def with_value() -> Flow:
    f = Flow("f")
    step = f.add(inc, x=1)
    branch = f.when(step.out, lambda x: x > 9)
    f.output("big", branch.yes)
    f.output("items", collect(f.add(node(inc).with_(name="item"), x=each([1])).out))
    return f


def of_result(read: Any) -> Stimulus:
    return lambda: read(with_value().run_sync())


@later
async def streamed(port: Any) -> None:
    async with with_value().start() as run:
        run.stream(port)


@later
def raised(wire: Any, **using: Any) -> object:
    f = Flow("f")
    wire(f)
    try:
        f.using(**using).run_sync()
    except RunFailed as error:
        return str(error)
    return "completed"


async def ident(x: Any) -> Any:
    return x


async def blocks() -> None:
    time.sleep(0.1)  # noqa: ASYNC251 - what the row is about


async def slow() -> int:
    await anyio.sleep(0.01)
    return 1


def racing(f: Flow) -> None:
    f.output("out", race(f.add(breaks).out, f.add(slow).out))


def dead_beside_live(f: Flow) -> None:
    f.add(pair, p=f.when(1, lambda x: x > 1).yes, q=f.add(inc, x=1).out)


def blocked() -> object:
    ended = threading.Event()

    def blocks() -> int:
        ended.wait(60)
        return 1

    f = Flow("f")
    f.add(node(threaded(blocks)).with_(timeout=0.2, on_error="skip"))
    try:
        return [*f.run_sync().warnings]
    finally:
        ended.set()


async def firing() -> object:
    return this_firing()


async def opened_late() -> None:
    f = Flow("f")
    f.output("firing", f.add(firing).out)
    async with (await f.run())["firing"].opened("key", closes_badly):
        return


@asynccontextmanager
async def closes_badly() -> AsyncIterator[None]:
    yield
    raise OSError


async def opens_what_is_open() -> None:
    async with this_firing().opened("key", closes_badly()):
        return


async def opens() -> None:
    async with this_firing().opened("key", closes_badly):
        return


#: The id of a run.
RUN: Final = r"\d{8}T\w+-\w+"


# fmt: off
RUNNING: Final = [
    Row("a source of a race that fails", warned(racing)),
    Row("a limit that no node has", warned(lambda f: f.add(node(inc).with_(limit="model"), x=1), limits={"modle": 1})),
    Row("a node that blocks the event loop", warned(lambda f: f.add(blocks)), hide=r"\d+\.\d+(?= s)"),
    Row("a missing input", failing(lambda f: f.input('x', int))),
    Row("an input of another type", failing(lambda f: f.input('x', list[int]), x=['a'])),
    Row("SKIP for an input", failing(lambda f: f.input('x', Any), x=SKIP)),
    Row("two failures", raised(two_breaks, errors='continue'), hide=RUN),
    Row("a node that takes too long", raised(lambda f: f.add(node(sleeps).with_(timeout=0.001))), hide=RUN),
    Row("a node that takes too long in all", raised(lambda f: f.add(node(sleeps).with_(deadline=0.001))), hide=RUN),
    Row("a run that takes too long", raised(lambda f: f.add(sleeps), timeout=0.001), hide=RUN),
    Row("a result of another class", failing(lambda f: f.add(gives_a_str))),
    Row("an undeclared port", failing(lambda f: f.add(gives_another_key))),
    Row("a port left out", failing(lambda f: f.add(leaves_out))),
    Row("two exits at once", failing(lambda f: f.add(node(ports=lambda c: Ports({}, {'a': Port(int, exit='x'), 'b': Port(int, exit='y')}))(both_exits), Names()))),
    Row("no NodeOutput", failing(lambda f: f.add(gives_no_output))),
    Row("no success", failing(lambda f: f.add(is_no_success))),
    Row("a value that does not fit", failing(lambda f: f.add(inc, x=f.add(anything).out))),
    Row("two values for one port", failing(two_live_edges, x=3)),
    Row("a predicate without an answer", failing(lambda f: f.when(1, lambda x: None))),
    Row("no case of a switch", failing(lambda f: f.switch(1, lambda x: 'c', ['a', 'b']))),
    Row("a test with another answer", failing(looping(lambda x: 'no'))),
    Row("a limit that is reached", failing(looping(lambda x: False, 'fail'))),
    Row("a limit that warns", warned(looping(lambda x: False))),
    Row("a map over no list", failing(lambda f: f.add(ident, x=each(f.add(anything).out)))),
    Row("a map over SKIP", failing(lambda f: f.add(ident, x=each(f.input('xs', Any))), xs=[1, SKIP])),
    Row("lists of different lengths", failing(lambda f: f.add(pair, p=each([1]), q=each([1, 2])))),
    Row("zipped lists", played('...\nnodes: {m: {map: {over: {a: {value: [1]}, b: {value: [1, 2]}}}}}')),
    Row("a key that is no text", failing(lambda f: f.add(inc, x=each([1], key=lambda x: x)))),
    Row("a key twice", failing(lambda f: f.add(inc, x=each([1, 2], key=lambda x: 'a')))),
    Row("no conversation", failing(merged('pick', anything))),
    Row("no output", of_result(lambda r: r['small'])),
    Row("an output without a value", of_result(lambda r: r['big'])),
    Row("a port without a value", of_result(lambda r: r.get('when.yes'))),
    Row("a port that is not there", of_result(lambda r: r.get('when.maybe'))),
    Row("a port inside a map", of_result(lambda r: r.get('item.out'))),
    Row("what names no port", of_result(lambda r: r.get(3))),
    Row("a port that is no reference", of_result(lambda r: r.get(''))),
    Row("a port of another flow, read", of_result(lambda r: r.get(Flow('other').add(inc, x=1).out))),
    Row("why of a port", of_result(lambda r: r.why('when.yes'))),
    Row("a value that was let go", lambda: with_value().using(keep=False).run_sync().get('inc.out')),
    Row("a stream of a signal", streamed('inc.$done')),
    Row("pull without a value", lambda: anyio.run(with_value().pull, 'when.yes')),
    Row("pull of nothing", lambda: anyio.run(with_value().pull, 'nobody')),
    Row("a dead port beside a live one", warned(dead_beside_live)),
    Row("a setting without effect", warned(lambda f: f.add(with_value().using(keep=False, memo=ProcessMemo(), telemetry=True)))),
    Row("telemetry that is none", lambda: Flow("f").using(telemetry="on")),
    Row("content neither told nor not", lambda: Telemetry(content=1)),
    Row("a provider that is none", lambda: Telemetry(provider="mine")),
    Row("something that is opened when the run is over", lambda: anyio.run(opened_late)),
    Row("something shared that fails when it is closed", warned(lambda f: f.add(opens))),
    Row("something shared that is no function", lambda: anyio.run(opens_what_is_open)),
    Row("a blocking call that is given up", blocked),
]
# fmt: on


class Steps(Config):
    count: int = 1


class Metadata(Config):
    ask: Any = None


@node(ports=lambda config: Ports({}, {"out": int, "more": int}))
async def pauses(config: Metadata) -> NodeOutput:
    return NodeOutput(status="paused", metadata={"ask": config.ask})


@node(ports=lambda config: Ports({}, {"out": int}))
async def pauses_for_nothing() -> NodeOutput:
    return NodeOutput({"out": 1}, status="paused")


@flow
def needing(f: Flow, n: int, config: Steps) -> int:
    return f.add(inc, x=n).out


@flow
def endless(f: Flow, n: int, config: Steps) -> int:
    return f.add(endless, n=n, config=config).out


def paused_with(ask: object) -> Stimulus:
    return failing(lambda f: f.add(pauses, config=Metadata(ask=ask)))


@later
async def answered(answers: Mapping[str, object], **given: Any) -> object:
    with Flow("f") as f:
        f.ask(int, "How many?", name="many", **given)
        f.ask(str, "Why?", name="why")
        f.add(pauses, config=Metadata(ask={"prompt": "Two?"}))
        f.add(pauses_for_nothing)
    paused = await f.run()
    return await f.resume(paused, answers)


def answered_twice() -> object:
    async def main() -> object:
        with Flow("f") as f:
            f.ask(int, "How many?", name="many")
            f.ask(str, "Why?", name="why")
        paused = await f.resume(await f.run(), {"why": "so"})
        return await f.resume(paused, {"why": "no"})

    return anyio.run(main)


@later
async def resumed(*, run: str = "", done: bool = False) -> object:
    with Flow("f") as f:
        f.ask(int, "How many?")
    paused = await f.run()
    ended = await f.resume(paused, {"ask": 1})
    return await f.resume(run or (ended if done else paused), {"ask": 1})


def expired(default: Any = None) -> object:
    async def main() -> object:
        asked = {"expires": 1e-9} if default is None else {"expires": 1e-9, "default": default}
        with Flow("f") as f:
            f.add(pauses, config=Metadata(ask=asked))
        return await f.resume(await f.run())

    return anyio.run(main)


def clashing(f: Flow) -> None:
    inner = Flow("inner")
    inner.output("out", inner.add(inc, x=inner.input("n", int)).out)
    step = f.add(inner, n=each(f.input("list", list[int])))
    f.output("out", collect(f.add(inc, x=step.out.out).out))


def asked() -> Flow:
    flow = Flow("f")
    flow.output("out", flow.ask(int, "How many?").out)
    return flow


def resumed_with_another_flow() -> object:
    async def main() -> object:
        return await Flow("g").resume(await asked().run(), {"ask": 1})

    return anyio.run(main)


#: The id of a run.

ASKING: Final = [
    Row("a value that waits for an answer", lambda: anyio.run(asked().pull, "out"), hide=RUN),
    Row("a run of another flow", resumed_with_another_flow, hide=RUN),
    Row("an ask that is no mapping", paused_with("Why?")),
    Row("an unknown field of an ask", paused_with({"text": "Why?"})),
    Row("a prompt that is no text", paused_with({"prompt": 3})),
    Row("an ask that never was open", paused_with({"expires": 0})),
    Row("no such ask", answered({"how": 1})),
    Row("an answer where no port is left", answered({"pauses_for_nothing": 1})),
    Row("an answer for a port that is not there", answered({"pauses": {"rest": 1}})),
    Row("an answer without one of the ports", answered({"pauses": {"out": 1}})),
    Row("a second answer", answered_twice),
    Row("an answer that comes too late", answered({"many": 1}, expires=1e-9)),
    Row("a run by its id without a store", resumed(run="RUN")),
    Row("a run that has completed and lives in no store", resumed(done=True), hide=RUN),
    Row("a run that has gone on already", resumed(), hide=RUN),
    Row("no answer in time", expired),
    Row("a default that is no answer", lambda: expired("x")),
    Row("a default of an ask that never expires", wired(lambda f: f.ask(int, "?", default=1))),
    Row("two nodes of one path", wired(clashing)),
    Row("a flow without its config", needing.check),
    Row("a flow inside itself for a config", wired(lambda f: f.add(endless, n=1, config=Steps()))),
]


async def added(x: int, more: int = 1) -> int:
    return x + more


def counting() -> Flow:
    with Flow("f") as f:
        once = f.add(inc, x=f.input("x", int, 1))
        with f.loop(name="rounds") as rounds:
            count = rounds.carry(once.out)
            twice = f.add(inc, x=count.out)
            rounds.until(twice.out, lambda x: x > 1)
            count.next(twice.out)
        f.output("y", rounds.result(twice.out))
        f.add(Flow.from_wiring(inner().wiring, inner()._find_type, inner()._find_function), x=once.out)
    return f


def inner(**defaults: int) -> Flow:
    with Flow("inside") as f:
        for name, default in defaults.items():
            f.input(name, int, default)
        f.output("z", f.add(inc, x=f.input("x", int)).out)
    return f


@later
async def in_session(do: Callable[[Live], Awaitable[Any]], make: Callable[[], Flow] = counting) -> object:
    async with make().live() as session:
        return await do(session)


def after_session() -> object:
    async def run() -> object:
        async with counting().live() as session:
            pass
        return await session.get("y")

    return anyio.run(run)


@later
def cutting(cutoff: Any) -> Flow:
    with Flow("f") as f:
        f.output("y", f.add(node(cutoff=cutoff)(inc), x=f.input("x", int, 1)).out)
    return f


async def _twice(session: Live) -> object:
    await session.get("y")
    await session.update(x=5)
    return await session.get("y")


# fmt: off
LIVING = [
    Row("a session that is over", after_session),
    Row("an update of no input", in_session(lambda s: s.update(z=1))),
    Row("a step of another flow", in_session(lambda s: s.replace(Flow("g").add(inc, x=1), inc))),
    Row("no node to replace", in_session(lambda s: s.replace(3, inc))),
    Row("a node that is not there, to replace", in_session(lambda s: s.replace("rounds/dec", inc))),
    Row("a loop to replace", in_session(lambda s: s.replace("rounds", inc))),
    Row("a node inside a flow to replace", in_session(lambda s: s.replace("inside/inc", inc))),
    Row("a function with one more port", in_session(lambda s: s.replace("inc", added))),
    Row("a flow with one more port", in_session(lambda s: s.replace("inside", inner(more=1)))),
    Row("a cutoff without an answer", in_session(_twice, cutting(lambda old, new: None))),
    Row("a cutoff of one value", cutting(lambda value: True)),
    Row("a cutoff in a document", lambda: cutting(lambda old, new: True)().to_dict()),
]
# fmt: on

TABLES: Final = {"running": RUNNING, "asking": ASKING, "living": LIVING}
