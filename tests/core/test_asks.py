"""What a raw node says of its ask, and how an answer becomes values of its ports (S11.1)."""

from __future__ import annotations

import json
import math

import pytest
from anyio.lowlevel import checkpoint

from dataflow import AnswerRefused, DataflowError, Flow, NodeFailed, RunFailed, RunTaken
from dataflow.core.inputs import Request, ports_left, read_answer, read_request, schema_of
from dataflow.core.ports import SKIP, OutPort, PortKind
from dataflow.stores import Store
from tests.support.stored_runs import asking, asking_flow, earlier, one_ask, retold

NUMBER, TEXT = OutPort("n", int, PortKind.DATA), OutPort("t", str, PortKind.DATA)
MAYBE = OutPort("m", str, PortKind.DATA, conditional=True)

#: Descriptions of asks that cannot be, and what is told of each.
WRONG: dict[str, tuple[object, str]] = {
    "no mapping": ("how many?", "paused with the ask str 'how many\\?'; expected a mapping with"),
    "an unknown field": ({"promt": "?"}, "an ask that has the field 'promt'; choices: prompt"),
    "a prompt that is no text": ({"prompt": 7}, "an ask whose prompt is int 7"),
    "a schema that is no mapping": ({"schema": []}, "an ask whose schema is list"),
    "no time at all": ({"expires": 0}, "an ask that expires after int 0; expected seconds"),
    "no end of time": ({"expires": math.inf}, "an ask that expires after float inf"),
    "a time that is none": ({"expires": True}, "an ask that expires after bool True"),
}


class TestRequests:
    @pytest.mark.parametrize("name", WRONG)
    def test_one_that_cannot_be_names_the_node(self, name: str) -> None:
        given, told = WRONG[name]
        with pytest.raises(NodeFailed, match=told):
            read_request("a", {"ask": given})

    def test_it_may_say_nothing(self) -> None:
        assert read_request("a", {}) == Request()

    def test_it_says_what_it_says(self) -> None:
        given = {"prompt": "?", "show": 1, "schema": {}, "expires": 2, "default": None}
        assert read_request("a", {"ask": given}) == Request("?", 1, {}, 2, None)


class TestAnswers:
    def test_the_only_port_left_is_filled_with_it(self) -> None:
        assert read_answer("a", [NUMBER], 7) == {"n": 7}

    def test_several_ports_are_filled_by_name(self) -> None:
        assert read_answer("a", [NUMBER, TEXT], {"n": 7, "t": "x"}) == {"n": 7, "t": "x"}

    def test_a_conditional_port_may_be_left_out(self) -> None:
        assert read_answer("a", [NUMBER, MAYBE], {"n": 7}) == {"n": 7}

    def test_nothing_fills_no_port(self) -> None:
        assert read_answer("a", [], None) == {}

    @pytest.mark.parametrize(
        ("left", "value", "told"),
        [
            ([NUMBER], "many", "expected int, found str 'many'"),
            ([NUMBER, TEXT], 7, "expected an object by port, choices: n, t; found int 7"),
            ([NUMBER, TEXT], {"n": 7}, "port 't' is missing"),
            ([NUMBER, TEXT], {"n": 7, "t": 1}, "port 't': expected str"),
            ([NUMBER, TEXT], {"n": 7, "t": "x", "u": 1}, "there is no port 'u'; choices: n, t"),
            ([], 7, "expected None, since no port is left; found int 7"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, left: list[OutPort], value: object, told: str) -> None:
        with pytest.raises(AnswerRefused, match=told):
            read_answer("a", left, value)

    def test_ports_are_left_that_the_node_left_out(self) -> None:
        ports = {"n": NUMBER, "t": TEXT, "m": MAYBE, "context": OutPort("context", object, PortKind.CONTEXT)}
        assert ports_left(ports, {"n": 1, "m": SKIP}) == [TEXT, MAYBE]

    def test_the_schema_is_that_of_the_only_port(self) -> None:
        assert schema_of([NUMBER]) == {"type": "integer"}

    def test_the_schema_of_several_ports_is_an_object(self) -> None:
        assert schema_of([NUMBER, MAYBE]) == {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "m": {"type": "string"}},
            "required": ["n"],
            "additionalProperties": False,
        }

    def test_the_schema_of_no_port_is_null(self) -> None:
        assert schema_of([]) == {"type": "null"}


class TestInMemory:
    """A paused run without a store lives in its result."""

    async def test_it_goes_on_once(self) -> None:
        flow = asking_flow()
        paused = await flow.run()
        await flow.resume(paused, {"ask": 22})
        with pytest.raises(RunTaken, match="has been resumed already"):
            await flow.resume(paused, {"ask": 22})

    async def test_it_belongs_to_its_flow(self) -> None:
        with Flow("other") as other:
            other.output("o", other.add(one_ask).out)
        with pytest.raises(DataflowError, match="belongs to flow 'asking', not to flow 'other'"):
            await other.resume(await asking_flow().run(), {"ask": 22})

    async def test_one_that_has_ended_lives_nowhere(self) -> None:
        async def one() -> int:
            return 1

        with Flow("one") as f:
            f.output("o", f.add(one).out)
        with pytest.raises(DataflowError, match="is completed and lives in no store"):
            await f.resume(await f.run())

    async def test_a_wrong_answer_leaves_it_as_it_was(self) -> None:
        flow = asking_flow()
        paused = await flow.run()
        with pytest.raises(AnswerRefused):
            await flow.resume(paused, {"ask": "many"})
        assert (await flow.resume(paused, {"ask": 22}))["o"] == 42


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
        with pytest.raises(DataflowError, match=r"no port 'o\.out'"):
            await flow(store, "other").resume(paused.run_id, {"ask": 1})
        store.hold(paused.run_id).release()  # nobody owns it
        assert (await flow(store, "o").resume(paused.run_id, {"ask": 1}))["o"] == 2

    async def test_a_default_that_is_no_answer_fails_its_node(self) -> None:
        store = Store.memory()
        with Flow("expiring") as f:
            f.output("o", f.add(asking(int, expires=600, default="many")).out)
        paused = await f.using(store=store).run()
        later = retold(store, paused.run_id, earlier(700))
        with pytest.raises(RunFailed, match="has a default that is no answer: expected int"):
            await f.using(store=later).resume(paused.run_id)


class TestOrder:
    """Open asks stand in the order of their nodes, whichever opened first (S14.1)."""

    async def test_those_of_a_pause_do(self) -> None:
        store = Store.memory()
        paused = await opening_early_first(store).run()
        told = json.loads([*store.records(paused.run_id)][-1].data)
        assert told["asks"] == ["late", "early"]

    async def test_those_that_could_be_answered_do(self) -> None:
        flow = opening_early_first(Store.memory())
        paused = await flow.run()
        with pytest.raises(AnswerRefused, match="choices: late, early"):
            await flow.resume(paused.run_id, {"none": 1})


async def wait() -> None:
    await checkpoint()


def opening_early_first(store: Store) -> Flow:
    """Wire two asks of which the second opens first."""
    with Flow("two") as flow:
        flow.ask(int, "Late?", show=flow.add(wait).out, name="late")
        flow.ask(int, "Early?", name="early")
    return flow.using(store=store)
