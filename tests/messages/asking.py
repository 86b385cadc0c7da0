# ruff: noqa: ARG005 - the functions of ports take the config
"""What is said of asks and answers (S11.1, S11.2), and of flows that are wired for a config (S1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import anyio

from dataflow import Config, Flow, NodeOutput, Ports, collect, each, flow, node
from tests.behaviour.flow_parts import inc
from tests.messages.telling import Row, Stimulus, failing, wired

__all__ = ["ROWS"]


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


def answered(answers: Mapping[str, object], **given: Any) -> Stimulus:
    """Answer what two asks and two raw nodes ask."""

    async def main() -> object:
        with Flow("f") as f:
            f.ask(int, "How many?", name="many", **given)
            f.ask(str, "Why?", name="why")
            f.add(pauses, config=Metadata(ask={"prompt": "Two?"}))
            f.add(pauses_for_nothing)
        paused = await f.run()
        return await f.resume(paused, answers)

    return lambda: anyio.run(main)


def answered_twice() -> object:
    async def main() -> object:
        with Flow("f") as f:
            f.ask(int, "How many?", name="many")
            f.ask(str, "Why?", name="why")
        paused = await f.resume(await f.run(), {"why": "so"})
        return await f.resume(paused, {"why": "no"})

    return anyio.run(main)


def resumed(*, run: str = "", done: bool = False) -> Stimulus:
    """Go on with a run of another store, one that has completed, or one that has gone on already."""

    async def main() -> object:
        with Flow("f") as f:
            f.ask(int, "How many?")
        paused = await f.run()
        ended = await f.resume(paused, {"ask": 1})
        return await f.resume(run or (ended if done else paused), {"ask": 1})

    return lambda: anyio.run(main)


def expired(default: Any = None) -> object:
    """Go on with a run whose raw node has asked for a moment only."""

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
RUN: Final = r"\d{8}T\w+-\w+"

ROWS: Final = [
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
