"""What a raw node says of its ask, and how an answer becomes values of its ports (S11.1)."""

from __future__ import annotations

import json
import math

import pytest
from anyio.lowlevel import checkpoint

from dataflow import AnswerRefused, DataflowError, Flow, NodeFailed, RunFailed
from dataflow.core.inputs import ports_left, read_answer, read_request
from dataflow.core.ports import SKIP, OutPort, PortKind
from dataflow.stores import Store
from tests.support.codes import codes
from tests.support.stored_runs import asking, earlier, one_ask, retold

NUMBER, TEXT = OutPort("n", int, PortKind.DATA), OutPort("t", str, PortKind.DATA)
MAYBE = OutPort("m", str, PortKind.DATA, conditional=True)

#: Descriptions of asks that are invalid, and where the problem is.
INVALID: list[tuple[object, str]] = [
    ("how many?", "ask"), ({"promt": "?"}, "ask"), ({"prompt": 7}, "ask.prompt"),
    ({"schema": []}, "ask.schema"), ({"expires": 0}, "ask.expires"),
    ({"expires": math.inf}, "ask.expires"),
    ({"expires": True}, "ask.expires"),
]  # fmt: skip


class TestRequests:
    def test_an_invalid_one_fails_the_node(self) -> None:
        for given, place in INVALID:
            with pytest.raises(NodeFailed) as caught:
                read_request("a", {"ask": given})
            assert codes(caught.value) == [f"DF0827 a: {place}"]


class TestAnswers:
    def test_it_fills_the_ports_that_are_left(self) -> None:
        assert read_answer("a", [NUMBER], 7) == {"n": 7}
        assert read_answer("a", [NUMBER, TEXT], {"n": 7, "t": "x"}) == {"n": 7, "t": "x"}
        assert read_answer("a", [NUMBER, MAYBE], {"n": 7}) == {"n": 7}  # a conditional port may be left out
        assert read_answer("a", [], None) == {}

    def test_one_that_does_not_fit_is_refused(self) -> None:
        wrong: list[tuple[list[OutPort], object, str]] = [
            ([NUMBER], "many", "DF0601 answer to 'a'"),
            ([NUMBER, TEXT], 7, "DF0601 answer to 'a'"),
            ([NUMBER, TEXT], {"n": 7}, "DF0833 answer to 'a'.t"),
            ([NUMBER, TEXT], {"n": 7, "t": 1}, "DF0601 answer to 'a'.t"),
            ([NUMBER, TEXT], {"n": 7, "t": "x", "u": 1}, "DF0832 answer to 'a'.u"),
            ([], 7, "DF0601 answer to 'a'"),
        ]
        for left, value, problem in wrong:
            with pytest.raises(AnswerRefused) as caught:
                read_answer("a", left, value)
            assert codes(caught.value) == [problem]

    def test_ports_are_left_that_the_node_left_out(self) -> None:
        ports = {"n": NUMBER, "t": TEXT, "m": MAYBE, "context": OutPort("context", object, PortKind.CONTEXT)}
        assert ports_left(ports, {"n": 1, "m": SKIP}) == [TEXT, MAYBE]


class TestGone:
    async def test_a_port_that_was_pulled_and_is_gone_is_told(self) -> None:
        async def double(x: int) -> int:
            return 2 * x

        def flow(store: Store, name: str) -> Flow:
            with Flow("pulled") as f:
                asked = f.add(one_ask)
                f.output(name, f.add(double, x=asked.out).out)
            return f.using(store=store)

        store = Store.memory()
        async with flow(store, "o").start("o") as run:
            paused = await run
        with pytest.raises(DataflowError, match=r"DF0302 .* 'o\.out'"):
            await flow(store, "other").resume(paused.run_id, {"ask": 1})
        store.hold(paused.run_id).release()  # nobody owns it
        assert (await flow(store, "o").resume(paused.run_id, {"ask": 1}))["o"] == 2

    async def test_a_default_that_is_no_answer_fails_its_node(self) -> None:
        store = Store.memory()
        with Flow("expiring") as f:
            f.output("o", f.add(asking(int, expires=600, default="many")).out)
        paused = await f.using(store=store).run()
        later = retold(store, paused.run_id, earlier(700))
        with pytest.raises(RunFailed, match="DF0601 ask: default of its ask:"):
            await f.using(store=later).resume(paused.run_id)


class TestOrder:
    """Open asks stand in the order of their nodes, whichever opened first (S14.1)."""

    async def test_those_of_a_pause_do(self) -> None:
        store = Store.memory()
        with Flow("two") as flow:  # the second of its asks opens first
            flow.ask(int, "Late?", show=flow.add(wait).out, name="late")
            flow.ask(int, "Early?", name="early")
        paused = await flow.using(store=store).run()
        told = json.loads([*store.records(paused.run_id)][-1].data)
        assert told["asks"] == ["late", "early"]


async def wait() -> None:
    await checkpoint()
