"""F-C02, F-C03, F-C20: a resumed run does not decide again what a user's function has decided."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dataflow import Flow, RunFailed, Store, collect, each, node
from dataflow.stores.memory import MemoryStore
from tests.faults.deciding_flows import FLOWS, STATE, key_of, made, send

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dataflow.stores import Record

XS = [5, 1]


@pytest.fixture(autouse=True)
def first_session() -> Iterator[None]:
    yield
    STATE.session, STATE.kills, STATE.hook_fails_in = 1, False, 2
    STATE.sent.clear()


async def to_the_end(flow: Any, *, second: bool) -> tuple[Any, list[Any], list[str]]:
    """Play a flow to its end, answering each ask with what it shows; return outputs, effects and codes."""
    STATE.sent.clear()
    STATE.session, warnings = 1, dict[str, None]()
    result = await flow.run(xs=XS)
    while result.asks:
        STATE.session = 2 if second else 1
        result = await flow.resume(result.run_id, {ask.id: ask.show for ask in result.asks[:1]})
        warnings.update(dict.fromkeys(text[:6] for text in result.warnings))
    return dict(result.outputs), sorted(STATE.sent), list(warnings)


@pytest.mark.parametrize("name", FLOWS)
async def test_a_resumed_run_does_not_decide_again(name: str) -> None:
    flow = made(name).using(store=Store.memory())
    outputs, sent, _ = await to_the_end(flow, second=False)
    again = await to_the_end(flow, second=True)
    if name == "test_of_until":  # the second iteration begins in the second session, and is the last
        sent = sent[:2]
    assert again == (outputs, sent, ["DF0868"] if name.startswith("keys") else [])


@pytest.mark.parametrize("name", FLOWS)
async def test_a_run_whose_process_was_killed_does_not_decide_again(name: str, tmp_path: Path) -> None:
    place = str(tmp_path / "runs.db")
    code = "from tests.faults.deciding_flows import run_and_die; run_and_die()"
    command = [sys.executable, "-c", code, name, place]
    expected, _, _ = await to_the_end(made(name).using(store=Store.memory()), second=False)
    assert (await anyio.run_process(command, check=False)).returncode == 9
    store = Store.sqlite(place)
    [run] = store.runs()
    STATE.session = 2
    result = await made(name, kills=True).using(store=store).resume(run.id)
    assert (dict(result.outputs), result.warnings != ()) == (expected, name.startswith("keys"))


async def test_a_hook_that_failed_is_called_again() -> None:
    flow = made("hook_of_a_subflow").using(store=Store.memory())
    STATE.hook_fails_in = 1
    with pytest.raises(RunFailed) as failed:
        await flow.run(xs=XS)
    with pytest.raises(RunFailed):
        await flow.resume(failed.value.result.run_id)
    STATE.hook_fails_in = 2
    result = await flow.resume(failed.value.result.run_id)
    assert [ask.id for ask in result.asks] == ["inner~2/stop"]


class Earlier(MemoryStore):
    """A store whose runs were written by a release that has recorded no decisions."""

    def records(self, run: str, after: int = 0) -> Iterator[Record]:
        for record in super().records(run, after):
            data = json.loads(record.data)
            if record.kind == "map_opened" and data["time"] < self.until:
                data = {name: value for name, value in data.items() if name not in ("keys", "digest")}
            if record.kind not in ("loop_tested", "contexts_merged") or data["time"] >= self.until:
                yield replace(record, data=json.dumps(data))

    until = ""


@pytest.mark.parametrize("name", FLOWS)
async def test_a_run_of_an_earlier_release_goes_on(name: str) -> None:
    store = Earlier()
    flow = made(name).using(store=store)
    outputs, _, _ = await to_the_end(made(name).using(store=Store.memory()), second=False)
    result = await flow.run(xs=XS)
    store.until = datetime.now(UTC).isoformat()
    while result.asks:  # from the second resume on the keys are recorded
        result = await flow.resume(result.run_id, {ask.id: ask.show for ask in result.asks[:1]})
    assert dict(result.outputs) == outputs
    assert not any("DF0868" in text for text in result.warnings)
    opened = [json.loads(one.data) for one in store.records(result.run_id) if one.kind == "map_opened"]
    assert all("keys" in data for data in opened[-1:])


async def edited(x: int) -> int:
    return x + 100


def items(function: Any) -> Flow:
    with Flow("items") as flow:
        item = each(flow.input("xs", list[int]), key=key_of)
        done = flow.add(node(function).with_(name="work"), x=flow.add(send, x=item).out)
        flow.output("out", collect(flow.ask(int, "?", name="q", show=done.out).out))
    return flow


async def plain(x: int) -> int:
    return x


@pytest.mark.parametrize("way", ["resume", "fork", "fork of a fork"])
async def test_items_keep_their_keys_when_a_node_inside_is_recomputed(way: str) -> None:
    store = Store.memory()
    result = await items(plain).using(store=store).run(xs=XS)
    STATE.session = 2
    flow = items(edited).using(store=store)
    if way == "resume":
        result = await flow.resume(result.run_id, edited="recompute")
    else:
        result = await flow.fork(result.run_id, changes={}, edited="recompute")
    if way == "fork of a fork":
        result = await items(plain).using(store=store).fork(result.run_id, changes={}, edited="recompute")
        assert [(ask.id, ask.show) for ask in result.asks] == [("send[1-5]/q", 5), ("send[1-1]/q", 1)]
        return
    assert [(ask.id, ask.show) for ask in result.asks] == [("send[1-5]/q", 105), ("send[1-1]/q", 101)]
    assert STATE.sent == XS


async def test_a_fork_keeps_keys_of_the_same_list_only() -> None:
    flow = items(plain).using(store=Store.memory())
    run = (await flow.run(xs=XS)).run_id
    STATE.session = 2
    same = await flow.fork(run, changes={})
    assert [ask.id for ask in same.asks] == ["send[1-5]/q", "send[1-1]/q"]
    other = await flow.fork(run, changes={"$in.xs": [5, 2]})
    assert [ask.id for ask in other.asks] == ["send[2-5]/q", "send[2-2]/q"]


def keyed(has_key: bool) -> Flow:
    with Flow("items") as flow:
        item = each(flow.input("xs", list[int]), key=key_of if has_key else None)
        flow.output("out", collect(flow.ask(int, "?", name="q", show=flow.add(send, x=item).out).out))
    return flow


@pytest.mark.parametrize("had_key", [True, False])
async def test_items_keep_their_names_when_a_key_is_added_or_removed(had_key: bool) -> None:
    store = Store.memory()
    before = await keyed(had_key).using(store=store).run(xs=XS)
    result = before
    while result.asks:
        answer = {result.asks[0].id: result.asks[0].show}
        result = await keyed(not had_key).using(store=store).resume(result.run_id, answer, edited="keep")
        assert [text[:6] for text in result.warnings] == ["DF0868"]
        assert {ask.id for ask in result.asks} < {ask.id for ask in before.asks}
    assert (result["out"], STATE.sent) == (XS, XS)


def is_zero(x: int) -> bool:
    return x == 0


def asking(limit: int, ends: Any = None) -> Flow:
    with Flow("rounds") as flow:
        with flow.loop(limit=limit) as loop:
            carried = loop.carry(0)
            asked = flow.ask(int, "?", name="q", show=carried.out)
            carried.next(asked.out)
            if ends is not None:
                loop.until(asked.out, ends)
            rounds = loop.all(asked.out)
        flow.output("all", rounds)
    return flow


@pytest.mark.parametrize("edited_how", ["refuse", "keep", "recompute", "fork"])
@pytest.mark.parametrize("ends", [None, is_zero], ids=["limit", "until"])
async def test_a_lowered_limit_drops_no_iteration_that_was_answered(edited_how: Any, ends: Any) -> None:
    """F-C20."""
    store = Store.memory()
    result = await asking(5, ends).using(store=store).run()
    for number in range(3):
        answer = {f"loop[{number}]/q": number + 10}
        result = await asking(5, ends).using(store=store).resume(result.run_id, answer)
    lower = asking(2, ends).using(store=store)
    if edited_how == "fork":
        result = await lower.fork(result.run_id, changes={})
    else:
        result = await lower.resume(result.run_id, edited=edited_how)
    assert (result.status, result["all"]) == ("completed", [10, 11, 12])
    assert [text[:6] for text in result.warnings if "DF0869" in text] == ["DF0869"]
