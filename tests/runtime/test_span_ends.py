"""How spans end: states, failures, attempts, cancelled and paused runs, live sessions (S19)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from opentelemetry.trace import StatusCode

from dataflow import Flow, Retry, RunFailed, Secret, Store, collect, each, node, this_firing
from tests.runtime.test_spans import listing
from tests.support.known_secrets import forgetting
from tests.support.quick_nodes import inc
from tests.support.spans import Spans, traced


def flaky(failures: int) -> Any:
    left = [failures]

    async def shaky(x: int) -> int:
        if left[0]:
            left[0] -= 1
            raise ValueError(f"no {x}")
        return x

    return shaky


def flow_of(function: Any, **inputs: Any) -> Flow:
    with Flow("f") as flow:
        flow.output("y", flow.add(function, **inputs).out)
    return flow


async def test_a_failure_is_the_status_of_the_span_by_its_class_alone() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(inc, x=flow.add(flaky(1), x=7).out).out)
    spans = Spans()
    with pytest.raises(RunFailed):
        await flow.using(**spans.settings).run()
    assert spans.states() == {"shaky": "failed", "run f": "failed"}  # what never ran has none
    assert spans.told("shaky", "error.type") == "ValueError"
    status, whole = spans.one("shaky").status, spans.one("run f").status
    assert (status.status_code, status.description) == (StatusCode.ERROR, "ValueError")
    assert (whole.status_code, whole.description) == (StatusCode.ERROR, "shaky")
    assert not spans.one("shaky").events
    assert "no 7" not in spans.text()


async def test_each_attempt_has_a_span() -> None:
    spans = Spans()
    retrying = node(flaky(2)).with_(retries=Retry(2, backoff="fixed", first=0.001))
    await flow_of(retrying, x=1).using(**spans.settings).run()
    assert spans.names() == ["shaky", "shaky#2", "shaky#3", "run f"]
    assert list(spans.states().values()) == ["failed", "failed", "done", "completed"]
    assert spans.one("shaky#3").status.status_code is StatusCode.UNSET


async def test_what_is_cancelled_ends_so_with_what_is_around_it() -> None:
    async def sleepy(x: int) -> int:
        run.cancel()
        await anyio.sleep_forever()
        raise AssertionError("it never wakes")

    with Flow("f") as flow:
        flow.output("y", collect(flow.add(sleepy, x=each([1])).out))
    for store in (None, Store.memory()):
        spans = Spans()
        async with flow.using(store=store, **spans.settings).start() as run:
            assert (await run).status == "cancelled"
        assert spans.names() == ["sleepy[0]", "sleepy", "run f"]
        assert list(spans.states().values()) == ["cancelled"] * 3
        assert {span.status.status_code for span in spans.all} == {StatusCode.UNSET}


async def test_a_resumed_run_has_a_trace_for_each_sitting_and_calls_in_only_one() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(inc, x=flow.ask(int, "more?", show=flow.add(inc, x=1).out).out).out)
    spans = Spans()
    stored = flow.using(store=Store.memory(), **spans.settings)
    paused = await stored.run()
    [ask] = paused.asks
    assert spans.states() == {"inc": "done", "ask": "paused", "run f": "paused"}
    spans.clear()
    result = await stored.resume(paused.run_id, {ask.id: 5})
    assert result.outputs == {"y": 6}
    assert spans.states() == {"inc_2": "done", "run f": "completed"}
    assert spans.told("run f", "dataflow.run.id") == paused.run_id


async def test_a_run_that_lives_in_its_result_is_told_in_both_sittings() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(inc, x=flow.ask(int, "more?").out).out)
    spans = Spans()
    told = flow.using(**spans.settings)
    paused = await told.run()
    await told.resume(paused, {paused.asks[0].id: 5})
    assert spans.names() == ["ask", "run f", "inc", "run f"]


async def test_a_flow_node_that_waits_for_an_answer_ends_paused_with_the_run() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.ask(int, "more?", show=inner.add(inc, x=1).out).out)
    with Flow("f") as flow:
        flow.output("y", flow.add(inner).out.y)
    spans, _ = await traced(flow)
    assert spans.states() == {
        "inner/inc": "done", "inner/ask": "paused", "inner": "paused", "run f": "paused",
    }  # fmt: skip


async def test_what_is_remembered_has_no_span() -> None:
    with Flow("f") as flow:
        x = flow.add(inc, x=0).out
        for name in "ab":
            x = flow.add(node(halved).with_(memo="run", name=name), x=x).out
            x = flow.add(inc, x=x).out
        flow.output("y", x)
    spans, result = await traced(flow)
    assert result.outputs == {"y": 1}
    assert spans.names() == ["inc", "a", "inc_2", "inc_3", "run f"]
    assert spans.links("inc_3") == []


async def halved(x: int) -> int:
    return x // 2


async def test_in_a_store_and_with_limits_the_spans_are_the_same(tmp_path: Path) -> None:
    with Flow("f") as flow:
        items = flow.add(listing, n=3)
        flow.output("ys", collect(flow.add(node(inc).with_(effect=True, limit=1), x=each(items.out)).out))
    places: list[dict[str, Any]] = [{"store": Store.sqlite(tmp_path / "runs.db")}, {"keep": False}, {}]
    for place in places:
        spans = Spans()
        result = await flow.using(max_concurrency=2, **spans.settings, **place).run()
        assert result.outputs == {"ys": [1, 2, 3]}
        assert spans.parents() == {
            "listing": "run f", **{f"inc[{n}]": "inc" for n in range(3)}, "inc": "run f", "run f": None,
        }  # fmt: skip
        assert set(spans.states().values()) == {"done", "completed"}


async def test_a_live_session_has_one_span_around_its_calls() -> None:
    with Flow("f") as flow:
        x = flow.input("x", int)
        flow.output("y", flow.add(inc, x=flow.add(inc, x=x).out).out)
    spans = Spans()
    async with flow.using(**spans.settings).live(x=1) as session:
        assert await session.get("y") == 3
        await session.update(x=2)
        assert await session.get("y") == 4
    assert spans.names() == ["inc", "inc_2", "inc", "inc_2", "session f"]
    parents = {span.parent.span_id for span in spans.all if span.parent is not None}
    root = spans.one("session f")
    assert root.context is not None
    assert parents == {root.context.span_id}


async def test_no_secret_is_in_a_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TELEMETRY_KEY", "hidden-in-plain-sight")

    async def telling(x: int) -> int:
        key = Secret("TELEMETRY_KEY").reveal()
        with this_firing().span(f"own {key}", {"key": key, "keys": [key]}) as span:
            span.note({"more": key, "none": None})
            raise ValueError(f"refused {key}")

    flow, spans = flow_of(telling, x=1), Spans(content=True)
    with forgetting(), pytest.raises(RunFailed):
        await flow.using(**spans.settings).run()
    assert "hidden" not in spans.text()
    assert "refused" in spans.text()
    assert spans.told("own [secret:TELEMETRY_KEY]", "none") is None
