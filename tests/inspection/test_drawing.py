"""Flows drawn as Mermaid, DOT and plain text."""

from __future__ import annotations

import re
from typing import NamedTuple

from syrupy.assertion import SnapshotAssertion

from dataflow import Flow, collect, each, fallback, flow, gather, merge, node
from dataflow.core import wiring as w
from dataflow.inspection.drawing import dot, mermaid, outline


class Parts(NamedTuple):
    title: str
    chunks: list[str]


async def fetch(url: str, n: int = 0) -> str:
    return url


async def split(doc: str) -> Parts:
    return Parts(doc, [doc])


async def join(title: str, parts: list[str]) -> str:
    return title


async def sums(*numbers: int) -> int:
    return sum(numbers)


def digest() -> Flow:
    with Flow("digest") as built:
        page = built.add(fetch, url=built.input("url", str), n=3)
        parts = built.add(split, doc=page.out)
        brief = built.add(node(fetch).with_(name="brief"), url=each(parts.out.chunks))
        joined = built.add(join, title=merge(parts.out.title, "x"), parts=collect(brief.out))
        built.after(joined, page.done, page.error)
        built.output("text", fallback(joined.out, page.out))
        built.output("list", gather(page.out, joined.out))
        built.output("many", built.add(sums, built.input("n", int, 3), 4).out)
    return built


def looping() -> Flow:
    with Flow("refine") as built:
        with built.loop(name="outer", limit=3) as it:
            draft = it.carry(built.input("text", str))
            with built.loop(name="inner", limit=None) as inner:
                n = inner.carry(0)
                inner.until(n.out, lambda value: value > 3)
                n.next(built.add(sums, n.out, 1).out)
            draft.next(built.add(fetch, url=draft.out, n=n.final).out)
        built.output("text", draft.final)
    return built


def mapping() -> w.Wiring:
    body = w.Block(
        {"a": w.PlacedNode("a", type="t.a", inputs={"x": w.Reference("$item", "x")})},
        outputs={"y": w.Reference("a")},
    )
    nodes: dict[str, w.Placed] = {
        "xs": w.PlacedNode("xs", type="t.xs"),
        "m": w.MapBlock("m", over={"x": w.Reference("xs")}, body=body),
    }
    return w.Wiring("mapped", block=w.Block(dict(nodes), outputs={"y": w.Reference("m", "y")}))


def broken() -> w.Wiring:
    nodes = {"a": w.PlacedNode("a", type="t.a", inputs={"x": w.Reference("nowhere")}, after=["gone"])}
    return w.Wiring("broken", block=w.Block(dict(nodes), [w.Edge(w.Literally(1), "away", "x")]))  # type: ignore[arg-type]


def test_drawings_show_inputs_nodes_edges_outputs_loops_and_maps(snapshot: SnapshotAssertion) -> None:
    wirings = [digest().wiring, looping().wiring, mapping(), broken(), w.Wiring()]
    drawings = [draw(wiring) for wiring in wirings for draw in (mermaid, dot, outline)]
    assert "\n".join(drawings) == snapshot


def test_edges_say_what_they_have_to_do_with_rounds() -> None:
    built = Flow("rounds")
    built.add(fetch, url="a")
    built.add(fetch)  # type: ignore[call-arg]
    built.add(join)  # type: ignore[call-arg]
    built.connect("fetch", "fetch.url", feedback=True, limit=None)
    built.connect("fetch", "fetch_2.url", each_round=True)
    built.connect("fetch_2", "join.parts", leave="all")
    assert outline(built.wiring).splitlines()[1:] == [
        f"  fetch [{__name__}:fetch]  <- fetch → url (feedback, no limit)",
        f"  fetch_2 [{__name__}:fetch]  <- fetch → url (each round)",
        f"  join [{__name__}:join]  <- fetch_2 → parts (all)",
    ]


def test_a_flow_draws_itself_and_a_typed_one_before_its_first_use() -> None:
    @flow
    def typed(f: Flow, url: str) -> str:
        return f.add(fetch, url=url).out

    assert digest().to_mermaid() == mermaid(digest().wiring)
    assert typed.to_mermaid() == mermaid(typed.wiring)


def counts(text: str, arrow: str) -> tuple[int, int]:
    lines = [line.strip() for line in text.rstrip("\n").split("\n")]
    edges = [line for line in lines if re.match(rf"n\d+ {arrow}", line)]
    return len(lines), len(edges)
