"""Settling: without a work list where only calls or a map hear of a value, and to the same end (S3.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dataflow import SKIP, Flow, Maybe, collect, each, merge, node, race
from dataflow.compiler.plan import Call
from dataflow.core.events import Reporter
from dataflow.core.states import DONE, READY, RELEASED, RUNNING, STATES, UNSETTLED, Skip
from dataflow.scheduler.frames import FiringId, Frame, OpenedMap
from dataflow.scheduler.scheduler import Scheduler


async def one() -> int:
    return 1


async def inc(x: int) -> int:
    return x + 1


async def add(x: int, y: int) -> int:
    return x + y


async def may(x: int) -> Maybe[int]:
    return x if x % 2 else SKIP


async def fails_on_two(x: int) -> int:
    if x == 2:
        raise ValueError(x)
    return x


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
        """Tell all that a run has come to: of each frame its states, values and counters."""
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


def a_skip(f: Flow) -> None:
    top = f.add(may, x=f.add(inc, x=1).out)
    f.output("o", merge(f.add(inc, x=top.out).out, f.add(one).out))


def a_failure(f: Flow) -> None:
    top = f.add(node(fails_on_two).with_(on_error="skip"), x=f.add(inc, x=1).out)
    f.output("o", f.add(inc, x=top.out).out)
    f.output("p", f.add(inc, x=1).out)


def a_failed_run(f: Flow) -> None:
    f.output("o", f.add(inc, x=f.add(fails_on_two, x=f.add(inc, x=1).out).out).out)
    f.output("p", f.add(inc, x=f.add(inc, x=1).out).out)


def a_map(f: Flow, **options: Any) -> None:
    item = each(f.input("xs", list[int], [1, 2, 3, 4, 5]), **options)
    f.output("o", collect(f.add(inc, x=f.add(inc, x=item).out).out))


def a_map_of_few_at_once(f: Flow) -> None:
    a_map(f, max_concurrency=2)


def a_map_of_skips(f: Flow) -> None:
    f.output("o", collect(f.add(may, x=each(f.input("xs", list[int], [1, 2, 3]))).out))


def a_map_of_failures(f: Flow, on_error: str = "collect") -> None:
    item = each(f.input("xs", list[int], [1, 2, 3]), on_error=on_error)  # type: ignore[arg-type]
    f.output("o", collect(f.add(fails_on_two, x=item).out))


def a_failed_map(f: Flow) -> None:
    a_map_of_failures(f, "fail")


def two_lists(f: Flow) -> None:
    first = f.add(inc, x=each(f.input("xs", list[int], [1, 2, 3])))
    f.output("o", collect(first.out))
    f.output("p", collect(f.add(inc, x=first.out).out))


def a_map_in_a_map(f: Flow) -> None:
    outer = each(f.input("xs", list[list[int]], [[1, 2], [], [3]]))
    f.output("o", collect(collect(f.add(inc, x=each(outer)).out)))


def a_loop(f: Flow) -> None:
    with f.loop(limit=4) as it:
        v = it.carry(0)
        up = f.add(inc, x=v.out)
        it.until(up.out, lambda x: x > 2)
        v.next(up.out)
    f.output("o", v.final)


def a_race(f: Flow) -> None:
    f.output("o", race(f.add(inc, x=f.add(one).out).out, f.add(inc, x=1).out))


SHAPES: list[Callable[[Flow], None]] = [
    a_chain, a_diamond, a_skip, a_failure, a_failed_run, a_map, a_map_of_few_at_once, a_map_of_skips,
    a_map_of_failures, a_failed_map, two_lists, a_map_in_a_map, a_loop, a_race,
]  # fmt: skip


def flow_of(wire: Callable[[Flow], None]) -> Flow:
    flow = Flow()
    with flow:
        wire(flow)
    return flow


def played(flow: Flow, is_heard: bool = False) -> Playing:
    inputs = {name: given.default for name, given in flow.inputs.items()}
    return Playing(flow, is_heard, **inputs).to_the_end()


def test_the_outcome_is_the_same_with_a_listener_to_whom_everything_is_reported() -> None:
    for wire in SHAPES:
        errors: Any
        for errors in ("fail_fast", "continue"):
            flow = flow_of(wire).using(errors=errors)
            assert repr(played(flow).told()) == repr(played(flow, is_heard=True).told()), wire


def test_everything_ends() -> None:
    for wire in SHAPES:
        playing = played(flow_of(wire))
        assert playing.scheduler.has_ended
        assert {frame.has_ended for frame in playing.frames()} == {True}


def test_with_few_run_slots_the_states_are_the_same() -> None:
    for wire in SHAPES:
        for most in (1, 2):
            free, limited = played(flow_of(wire)), played(flow_of(wire).using(max_concurrency=most))
            assert limited.scheduler.has_ended
            if wire not in (a_failed_run, a_failed_map, a_race):  # there it matters who was first
                assert [told_of(frame)["states"] for frame in limited.frames()] == [
                    told_of(frame)["states"] for frame in free.frames()
                ]


# a value


def test_what_a_value_makes_ready_is_given_back_in_declared_order() -> None:
    def wire(f: Flow) -> None:
        first = f.add(one)
        f.add(node(inc).with_(name="a"), x=first.out)
        f.add(node(inc).with_(name="b"), x=first.out)

    assert Playing(flow_of(wire)).fire() == ["a", "b"]


def test_a_node_that_waits_for_more_is_not_ready_yet() -> None:
    playing = Playing(flow_of(a_diamond))
    playing.fire()
    assert [playing.fire(), playing.fire()] == [[], ["add"]]


def test_a_value_is_passed_on_without_a_work_list_and_the_last_ends_the_run() -> None:
    playing = Playing(flow_of(a_chain))
    advance = playing.scheduler.advance
    playing.scheduler.advance = nothing_to_do  # type: ignore[method-assign]
    assert playing.fire() == ["inc"]
    playing.scheduler.advance = advance  # type: ignore[method-assign]
    playing.fire()
    assert not playing.scheduler.has_ended
    playing.fire()
    assert playing.scheduler.has_ended


def nothing_to_do() -> list[FiringId]:
    raise AssertionError("the work list was used")


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


def opened_map(playing: Playing) -> OpenedMap:
    (opened,) = playing.root.opened.values()
    assert isinstance(opened, OpenedMap)
    return opened


def test_the_value_of_its_last_node_ends_an_item() -> None:
    playing = a_map_of(1, 2)
    for _ in range(3):  # inc of each item, then inc_2 of the first
        playing.fire()
    opened = opened_map(playing)
    first, second = opened.frames
    assert (first.has_ended, second.has_ended) == (True, False)
    assert STATES[first.states[1]].value == "done"
    assert (*first.values,) == ()
    assert list(opened.live.values()) == [second]
    assert playing.root.values[playing.scheduler.plan.outputs["o"]] is UNSETTLED
    playing.fire()  # the last item ends the map
    assert playing.root.values[playing.scheduler.plan.outputs["o"]] == [3, 4]
    assert playing.root.states[0] == DONE


def test_an_item_that_has_ended_makes_room_for_the_next() -> None:
    playing = a_map_of(1, 2, max_concurrency=1)
    assert [playing.fire(), playing.fire()] == [["inc[0]/inc_2"], ["inc[1]"]]


def test_items_that_end_in_another_order_are_listed_in_theirs() -> None:
    playing = a_map_of(1, 2)
    playing.fire()
    playing.fire()
    playing.ready.reverse()
    playing.to_the_end()
    assert playing.root.values[playing.scheduler.plan.outputs["o"]] == [3, 4]
