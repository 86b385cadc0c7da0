"""Spans of runs and nodes: which there are, inside which others, with which links (S19)."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import Span as SdkSpan
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

from dataflow import Flow, Telemetry, collect, each, fallback, node, this_firing
from tests.support.processes import modules_after
from tests.support.quick_nodes import inc
from tests.support.spans import Spans, traced


async def double(x: int) -> int:
    return 2 * x


async def add(a: int, b: int) -> int:
    return a + b


def current() -> object:
    span = trace.get_current_span()
    return span.attributes.get("dataflow.path") if isinstance(span, SdkSpan) and span.attributes else None


async def test_a_run_and_each_of_its_calls_have_a_span() -> None:
    with Flow("sum") as flow:
        x = flow.input("x", int)
        flow.output("s", flow.add(add, a=flow.add(inc, x=x).out, b=x).out)
    spans, result = await traced(flow, x=1)
    assert spans.parents() == {"inc": "run sum", "add": "run sum", "run sum": None}
    assert dict(spans.one("add").attributes or {}) == {
        "dataflow.run.id": result.run_id, "dataflow.path": "add", "dataflow.node.type": f"{__name__}:add",
        "dataflow.attempt": 1, "dataflow.state": "done",
    }  # fmt: skip
    assert dict(spans.one("run sum").attributes or {}) == {
        "dataflow.run.id": result.run_id, "dataflow.flow": "sum", "dataflow.state": "completed",
    }  # fmt: skip


async def test_the_run_is_inside_the_span_that_is_current_where_it_is_run() -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(inc, x=1).out)
    spans = Spans()
    with spans.provider.get_tracer("mine").start_as_current_span("mine"):
        await flow.using(**spans.settings).run()
        assert current() is None  # what was current is so again
    assert spans.parents() == {"inc": "run f", "run f": "mine", "mine": None}


async def test_parallel_branches_each_see_their_own_span_and_joins_link_to_them() -> None:
    seen: dict[str, list[object]] = {}

    async def turns(name: str) -> str:
        told = seen.setdefault(name, [])
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
            told.append(current())
        return name

    async def both(a: str, b: str, c: str) -> str:
        return a + b + c

    with Flow("f") as flow:
        a, b, late = (flow.add(node(turns).with_(name=f"turn_{name}"), name=name) for name in "abc")
        c = fallback(late.out, "none")
        flow.output("o", flow.add(both, a=a.out, b=b.out, c=c).out)
    spans, result = await traced(flow)
    assert result.outputs == {"o": "abc"}
    assert seen == {name: [f"turn_{name}"] * 3 for name in "abc"}
    assert sorted(map(str, spans.links("both"))) == ["turn_a", "turn_b", "turn_c"]
    assert spans.links("turn_a") == []


async def test_maps_loops_and_flow_nodes_have_a_span_around_what_is_in_them() -> None:
    with Flow("inner") as inner:
        inner.output("y", inner.add(inc, x=inner.input("x", int)).out)

    with Flow("outer") as flow:
        first = flow.add(inner, x=1)
        items = flow.add(listing, n=first.out.y)
        flow.output("ys", collect(flow.add(inner, x=each(items.out)).out.y))
    spans, result = await traced(flow)
    assert result.outputs == {"ys": [1, 2]}
    parents = spans.parents()
    assert parents == {
        "inner/inc": "inner", "inner": "run outer", "listing": "run outer", "inner_2[0]/inc": "inner_2[0]",
        "inner_2[0]": parents["inner_2[0]"], "inner_2[1]/inc": "inner_2[1]",
        "inner_2[1]": parents["inner_2[1]"], str(parents["inner_2[0]"]): "run outer", "run outer": None,
    }  # fmt: skip
    assert spans.told(str(parents["inner_2[0]"]), "dataflow.node.type") == "map"
    assert spans.told("inner", "dataflow.node.type") == "flow"
    assert spans.links("listing") == ["inner"]
    assert set(spans.states().values()) == {"done", "completed"}


async def listing(n: int) -> list[int]:
    return [*range(n)]


async def test_without_telemetry_there_are_no_spans_and_a_nodes_own_do_nothing() -> None:
    seen: list[object] = []

    async def own(x: int) -> int:
        with this_firing().span("mine", {"x": x}) as span:
            span.note({"y": 1})
            seen.append((span.tells_content, current()))
        return x

    with Flow("f") as flow:
        flow.output("y", flow.add(own, x=1).out)
    spans = Spans()
    with spans.provider.get_tracer("mine").start_as_current_span("around"):
        await flow.using(telemetry=False).run()
    assert spans.names() == ["around"]
    assert seen == [(False, None)]


async def test_the_provider_that_is_set_for_the_process_is_the_one_unless_another_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Flow("f") as flow:
        flow.output("y", flow.add(inc, x=1).out)
    assert (await flow.using(telemetry=True).run()).outputs == {"y": 2}  # none is set: nothing is told
    spans = Spans()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", spans.provider)
    await flow.using(telemetry=True).run()
    assert spans.names() == ["inc", "run f"]


async def test_what_a_tracer_raises_is_logged_and_the_run_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(SpanProcessor):
        def on_start(self, span: object, parent_context: object = None) -> None:
            raise OSError("no disk")

    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Broken())

    async def own(x: int) -> int:
        with this_firing().span("mine", {"x": x}) as span:
            span.note({"y": 1})
        return x

    with Flow("f") as flow:
        flow.output("y", flow.add(own, x=flow.add(inc, x=1).out).out)
    assert (await flow.using(telemetry=Telemetry(provider=provider)).run()).outputs == {"y": 2}
    assert {record.name for record in caplog.records} == {"dataflow.telemetry"}
    assert "no disk" in caplog.text


def test_only_a_flow_that_asks_for_it_loads_opentelemetry() -> None:
    code = """
from dataflow import Flow

async def double(number: int) -> int:
    return 2 * number

with Flow("twice") as flow:
    flow.output("number", flow.add(double, number=2).out)

assert flow.using(keep=True).run_sync().outputs == {"number": 4}
"""
    for program in (code, code.replace("keep=True", "telemetry=True")):
        loaded = {name.partition(".")[0] for name in modules_after(program)}
        assert ("opentelemetry" in loaded) == ("telemetry" in program)


async def test_long_attributes_are_shortened() -> None:
    async def own() -> int:
        with this_firing().span("mine", {"text": "x" * 200_000, "texts": ["y" * 200_000]}):
            return 1

    with Flow("f") as flow:
        flow.output("y", flow.add(own).out)
    await flow.using(**(spans := Spans()).settings).run()
    text, texts = spans.told("mine", "text"), spans.told("mine", "texts")
    assert isinstance(text, str)
    assert isinstance(texts, tuple)
    assert len(text) == len(str(texts[0])) == 100_000
