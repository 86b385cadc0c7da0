"""Settling, with a work list or without, and who may start where only the run has a limit (S3.3, S15.1)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from dataflow import SKIP, Flow, Maybe, collect, each, node
from dataflow.compiler.plan import Call, ScopePlan
from dataflow.core.events import Reporter
from dataflow.core.states import CANCELLED, DONE, READY, RELEASED, RUNNING, STATES, UNSETTLED, Skip
from dataflow.scheduler.admission import RunSlots
from dataflow.scheduler.frames import FiringId, Frame, OpenedMap
from dataflow.scheduler.scheduler import Scheduler
from tests.support.quick_nodes import add, inc, one


async def may(x: int) -> Maybe[int]:
    return x if x % 2 else SKIP


class Playing:
    """A run without an event loop: each firing is settled at once, in the order in which they got ready."""

    def __init__(self, flow: Flow, is_heard: bool = False, **inputs: Any) -> None:
        reporter = Reporter("a run")
        self.stream = reporter.listen() if is_heard else None
        self.scheduler = Scheduler(flow.compile(), flow.settings, reporter, lambda: 0.0)
        self.ready = self.scheduler.start(inputs)
        self.order: list[str] = []

    @property
    def root(self) -> Frame:
        return self.scheduler.root

    def fire(self) -> list[str]:
        """Fire the one that has waited longest; returns what became ready."""
        frame, index = firing = self.ready.pop(0)
        self.order.append(name(firing))
        if frame.states[index] != READY:
            newly = self.scheduler.settling.passed_over(frame, index)
        else:
            frame.states[index] = RUNNING
            newly = self._settle(frame, index)
        self.ready += newly
        return [name(one) for one in newly]

    def _settle(self, frame: Frame, index: int) -> list[FiringId]:
        call = frame.plan.nodes[index].action
        assert isinstance(call, Call)
        assert call.direct is not None
        values: list[Any] = [frame.values[slot] for slot in call.direct]
        coroutine: Any = call.type.call(*values)
        try:
            coroutine.send(None)
        except StopIteration as returned:
            return self.scheduler.settling.succeed(frame, index, returned.value)
        except Exception as error:  # noqa: BLE001 - what a node raises settles it
            return self.scheduler.settling.fail(frame, index, error)
        raise AssertionError("no node of these tests waits")

    def to_the_end(self) -> Playing:
        while self.ready or self.scheduler.has_more or self.scheduler.has_items:
            if self.scheduler.has_more:
                self.ready += self.scheduler.advance()
            elif not self.ready:
                self.ready += self.scheduler.begin_items()
            else:
                self.fire()
        return self

    def frames(self) -> list[Frame]:
        found = [self.root]
        for frame in found:  # grows while it is walked
            for opened in frame.opened.values():
                found += opened.frames
        return found

    def told(self) -> list[object]:
        return [self.order, *(told_of(frame) for frame in self.frames())]


def name(firing: FiringId) -> str:
    frame, index = firing
    return frame.path_of(frame.plan.nodes[index])


def told_of(frame: Frame) -> dict[str, object]:
    return {
        "path": frame.path(),
        "states": [STATES[state].value for state in frame.states],
        "values": [value.reason if isinstance(value, Skip) else value for value in frame.values],
        "waits": list(frame.waits),
        "odd": set(frame.dead_inputs),
        "unsettled": frame.unsettled,
        "has_ended": frame.has_ended,
        "reasons": {index: reason.reason for index, reason in frame.reasons.items()},
    }


# without a work list, or with one, it comes to the same


def a_chain(f: Flow) -> None:
    f.output("o", f.add(inc, x=f.add(inc, x=f.add(one).out).out).out)


def a_diamond(f: Flow) -> None:
    top = f.add(one)
    f.output("o", f.add(add, x=f.add(inc, x=top.out).out, y=f.add(inc, x=top.out).out).out)


def a_map(f: Flow, **options: Any) -> None:
    item = each(f.input("xs", list[int], [1, 2, 3, 4, 5]), **options)
    f.output("o", collect(f.add(inc, x=f.add(inc, x=item).out).out))


def flow_of(wire: Callable[[Flow], None]) -> Flow:
    flow = Flow()
    with flow:
        wire(flow)
    return flow


# a value


def test_a_node_that_waits_for_more_is_not_ready_yet() -> None:
    playing = Playing(flow_of(a_diamond))
    playing.fire()
    assert [playing.fire(), playing.fire()] == [[], ["add"]]


def test_a_value_that_is_not_kept_is_let_go() -> None:
    playing = Playing(flow_of(a_chain).using(keep=False)).to_the_end()
    values = [playing.root.values[node.outputs["out"]] for node in playing.root.plan.nodes]
    assert values == [RELEASED, RELEASED, 3]


def test_a_value_of_what_was_closed_meanwhile_is_not_passed_on() -> None:
    playing = Playing(flow_of(a_chain))
    playing.root.states[0] = RUNNING
    playing.scheduler.abort("stop")
    assert playing.scheduler.settling.succeed(playing.root, 0, 1) == []
    assert STATES[playing.root.states[1]].value == "not_run"


def test_a_slot_that_a_firing_gives_back_goes_to_who_waited_first() -> None:
    def wire(f: Flow) -> None:
        first = f.add(one)
        f.add(node(one).with_(name="waiting"))
        f.add(node(inc).with_(name="behind"), x=first.out)

    playing = Playing(flow_of(wire).using(max_concurrency=1))
    assert playing.fire() == ["waiting"]


# an item of a map


def a_map_of(*items: int, **options: Any) -> Playing:
    flow = Flow()
    with flow:
        a_map(flow, **options)
    return Playing(flow, xs=list(items))


def test_the_value_of_its_last_node_ends_an_item() -> None:
    playing = a_map_of(1, 2)
    for _ in range(3):  # inc of each item, then inc_2 of the first
        playing.fire()
    (opened,) = playing.root.opened.values()
    assert isinstance(opened, OpenedMap)
    first, second = opened.frames
    assert (first.has_ended, second.has_ended) == (True, False)
    assert STATES[first.states[1]].value == "done"
    assert (*first.values,) == ()
    assert list(opened.live.values()) == [second]
    assert playing.root.values[playing.scheduler.plan.outputs["o"]] is UNSETTLED
    playing.fire()  # the last item ends the map
    assert playing.root.values[playing.scheduler.plan.outputs["o"]] == [3, 4]
    assert playing.root.states[0] == DONE


def test_items_that_end_in_another_order_are_listed_in_theirs() -> None:
    playing = a_map_of(1, 2)
    playing.fire()
    playing.fire()
    playing.ready.reverse()
    playing.to_the_end()
    assert playing.root.values[playing.scheduler.plan.outputs["o"]] == [3, 4]


NODES = 8


def a_frame() -> Frame:
    return Frame(ScopePlan(states=bytearray([READY] * NODES)), 0, "fail_fast")


def numbers(firings: list[FiringId]) -> list[int]:
    return [index for _, index in firings]


def ready(frame: Frame, *indices: int) -> list[FiringId]:
    return [(frame, index) for index in indices]


class Later:
    """Keeps what is to be done in the event loop, until it goes round."""

    def __init__(self, slots: RunSlots) -> None:
        self.steps: list[Callable[[], None]] = []
        slots.later = self.steps.append

    def go_round(self) -> None:
        while self.steps:
            self.steps.pop(0)()


def test_all_start_in_the_order_in_which_they_came() -> None:
    slots, frame = RunSlots(1), a_frame()
    started = numbers(slots.admit(ready(frame, 3, 1)) + slots.admit(ready(frame, 2, 0)))
    while slots.are_waiting:
        slots.ended((frame, started[-1]))
        started += numbers(slots.admit(()))
    assert started == [3, 1, 2, 0]


# closed frames


def test_what_was_cancelled_while_it_waited_takes_no_slot() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.admit(ready(frame, 0, 1, 2))
    frame.states[1] = CANCELLED
    slots.ended((frame, 0))
    assert numbers(slots.admit(())) == [2]


# threads that run on


def test_a_slot_comes_back_in_the_event_loop_when_the_last_thread_returns() -> None:
    slots, frame = RunSlots(1), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0, 1))
    first, second = slots.keep((frame, 0)), slots.keep((frame, 0))
    slots.ended((frame, 0))
    assert slots.admit(()) == []
    first()
    later.go_round()
    assert slots.admit(()) == []
    thread = threading.Thread(target=second)
    thread.start()
    thread.join()
    assert slots.admit(()) == []
    later.go_round()
    assert numbers(slots.admit(())) == [1]


def test_a_thread_that_returns_before_its_firing_ends_keeps_nothing() -> None:
    slots, frame = RunSlots(1), a_frame()
    later = Later(slots)
    slots.admit(ready(frame, 0, 1))
    slots.keep((frame, 0))()
    assert later.steps == []
    slots.ended((frame, 0))
    assert numbers(slots.admit(())) == [1]


def test_a_thread_of_a_firing_without_a_slot_keeps_none() -> None:
    slots, frame = RunSlots(1), a_frame()
    slots.keep((frame, 0))()
    assert numbers(slots.admit(ready(frame, 0, 1))) == [0]
