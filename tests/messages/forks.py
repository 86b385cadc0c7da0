"""What is said of changes that cannot be when a run is forked (S13.5)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio

from dataflow import Config, Flow
from dataflow.stores import Store
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]


class Scale(Config):
    by: int = 1
    even: Any = None


async def scaled(x: int, config: Scale = Scale()) -> int:  # noqa: B008 - frozen
    return x * config.by


async def plain(x: int) -> int:
    return x


def wired(store: Store, function: Any = scaled) -> Flow:
    with Flow("f") as f:
        first = f.ask(int, "How many?", name="first")
        f.output("o", f.ask(int, "And?", name="second", show=f.add(function, x=first.out).out).out)
    return f.using(store=store)


def fork(changes: Mapping[str, object], later: Any = None) -> Stimulus:
    """Fork a run that asks for the second time, and again with the flow as it is `later`."""

    def stimulus() -> object:
        store = Store.memory()
        flow = wired(store)
        run = flow.run_sync().run_id
        anyio.run(partial(flow.resume, run, {"first": 1}))
        forked = anyio.run(partial(flow.fork, run, changes=changes))
        if later is None:
            return forked
        return anyio.run(partial(wired(store, later).fork, forked, changes={}))

    return stimulus


ROWS: Final = [
    Row("an unknown key", fork({"secnd": 1})),
    Row("no model", fork({"model": "large"})),
    Row("an answer to what is asked anew", fork({"first": 2, "second": 1})),
    Row("a config of another type", fork({"scaled.config.by": "x"})),
    Row("a config that is no JSON", fork({"scaled.config.even": print})),
    Row("a changed config that is gone", fork({"scaled.config.by": 2}, plain)),
    Row("no store", lambda: wired(Store.memory()).using().forking("r", changes={})),
    Row("no store to find runs in", lambda: anyio.run(wired(Store.memory()).using().diff, "r", "s")),
]
