"""Flows drawn as Mermaid, DOT and plain text."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Final, NamedTuple

import pytest

from dataflow import Flow, collect, each, fallback, flow, gather, merge, node
from dataflow.core.wiring import (
    Block,
    Edge,
    Every,
    Literally,
    MapBlock,
    Placed,
    PlacedNode,
    Reference,
    Wiring,
)
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
        built.after(joined, page.done)
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


def mapping() -> Wiring:
    body = Block(
        {"a": PlacedNode("a", type="t.a", inputs={"x": Reference("$item", "x")})},
        outputs={"y": Reference("a")},
    )
    nodes: dict[str, Placed] = {
        "xs": PlacedNode("xs", type="t.xs"),
        "m": MapBlock("m", over={"x": Reference("xs")}, body=body),
    }
    return Wiring("mapped", block=Block(dict(nodes), outputs={"y": Reference("m", "y")}))


def broken() -> Wiring:
    nodes = {"a": PlacedNode("a", type="t.a", inputs={"x": Reference("nowhere")}, after=["gone"])}
    return Wiring("broken", block=Block(dict(nodes), [Edge(Literally(1), "away", "x")]))  # type: ignore[arg-type]


def test_mermaid_shows_inputs_nodes_edges_and_outputs() -> None:
    assert mermaid(digest().wiring) == (
        "flowchart TD\n"
        '  n0(["url"])\n'
        '  n1(["n"])\n'
        '  n2["fetch"]\n'
        '  n3["split"]\n'
        '  n4["brief"]\n'
        '  n5["join"]\n'
        '  n6["sums"]\n'
        '  n7(["text"])\n'
        '  n8(["list"])\n'
        '  n9(["many"])\n'
        '  n0 -->|"→ url"| n2\n'
        '  n2 -->|"→ doc"| n3\n'
        '  n3 -->|"each chunks → url"| n4\n'
        '  n3 -->|"merge title → title"| n5\n'
        '  n4 -->|"collect → parts"| n5\n'
        '  n2 -->|"after"| n5\n'
        '  n1 -->|"→ numbers"| n6\n'
        '  n5 -->|"fallback → text"| n7\n'
        '  n2 -->|"fallback → text"| n7\n'
        '  n2 -->|"gather → list"| n8\n'
        '  n5 -->|"gather → list"| n8\n'
        '  n6 -->|"→ many"| n9\n'
    )


def test_mermaid_shows_loops_as_groups() -> None:
    assert mermaid(looping().wiring) == (
        "flowchart TD\n"
        '  n0(["text"])\n'
        '  subgraph n1["loop outer, limit 3"]\n'
        '    n2(["carry"])\n'
        '    subgraph n3["loop inner, no limit"]\n'
        '      n4(["carry_2"])\n'
        '      n5["sums"]\n'
        "    end\n"
        '    n6["fetch"]\n'
        "  end\n"
        '  n7(["text"])\n'
        '  n0 -->|"→ first"| n2\n'
        '  n1 -->|"carry → text"| n7\n'
        '  n6 -->|"→ next"| n2\n'
        '  n2 -->|"→ url"| n6\n'
        '  n3 -->|"carry_2 → n"| n6\n'
        '  n5 -->|"→ next"| n4\n'
        '  n4 -->|"→ numbers"| n5\n'
    )


def test_dot_shows_maps_as_clusters() -> None:
    assert dot(mapping()) == (
        'digraph "mapped" {\n'
        "  node [shape=box];\n"
        '  n0 [label="xs"];\n'
        '  subgraph cluster_n1 { label="map m";\n'
        "    n1 [shape=point];\n"
        '    n2 [label="x", shape=oval];\n'
        '    n3 [label="a"];\n'
        "  }\n"
        '  n4 [label="y", shape=oval];\n'
        '  n0 -> n2 [label="→ each"];\n'
        '  n1 -> n4 [label="y → y"];\n'
        '  n2 -> n3 [label="→ x"];\n'
        "}\n"
    )


def test_text_shows_types_and_what_is_read() -> None:
    module = __name__
    assert outline(digest().wiring) == (
        "flow digest\n"
        "  url [input]\n"
        "  n [input]\n"
        f"  fetch [{module}:fetch]  <- url → url\n"
        f"  split [{module}:split]  <- fetch → doc\n"
        f"  brief [{module}:fetch]  <- split each chunks → url\n"
        f"  join [{module}:join]  <- split merge title → title, brief collect → parts, fetch after\n"
        f"  sums [{module}:sums]  <- n → numbers\n"
        "  text [output]  <- join fallback → text, fetch fallback → text\n"
        "  list [output]  <- fetch gather → list, join gather → list\n"
        "  many [output]  <- sums → many\n"
    )


def test_text_shows_loops_and_maps_indented() -> None:
    assert outline(mapping()) == (
        "flow mapped\n"
        "  xs [t.xs]\n"
        "  map m\n"
        "    x [item]  <- xs → each\n"
        "    a [t.a]  <- x → x\n"
        "  y [output]  <- m y → y\n"
    )
    assert "    carry [carry]  <- text → first, fetch → next\n" in outline(looping().wiring)


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


def test_text_shows_the_edges_that_a_map_goes_over() -> None:
    a, b = Reference("a"), Reference("b", "c")
    nodes: dict[str, Placed] = {
        "a": PlacedNode("a", type="t.a"),
        "b": PlacedNode("b", type="t.b"),
        "j": PlacedNode("j", type="t.j", inputs={"x": Every((a, b))}),
    }
    assert "  j [t.j]  <- a every → x, b every c → x\n" in outline(Wiring("met", block=Block(nodes)))


def test_what_does_not_exist_is_left_out_or_shown_as_such() -> None:
    assert mermaid(broken()) == 'flowchart TD\n  n0["a"]\n'
    assert "->" not in dot(broken())
    assert outline(broken()) == "flow broken\n  a [t.a]  <- ? → x, ? after\n"


def test_an_empty_flow_can_be_drawn() -> None:
    assert mermaid(Wiring()) == "flowchart TD\n"
    assert dot(Wiring()) == 'digraph "flow" {\n  node [shape=box];\n}\n'
    assert outline(Wiring()) == "flow flow\n"


def test_a_flow_draws_itself() -> None:
    built = digest()
    assert built.to_mermaid() == mermaid(built.wiring)


def test_a_typed_flow_draws_itself_before_its_first_use() -> None:
    @flow
    def typed(f: Flow, url: str) -> str:
        return f.add(fetch, url=url).out

    assert typed.to_mermaid() == (
        'flowchart TD\n  n0(["url"])\n  n1["fetch"]\n  n2(["out"])\n'
        '  n0 -->|"→ url"| n1\n  n1 -->|"→ out"| n2\n'
    )


NAMES: Final = [
    'say "hi"',
    "a\\",
    '\\n\\"',
    "a\nb",
    "<b>&amp;</b>",
    "[x](y){z}|w|",
    "end",
    "subgraph",
    "graph",
    "a;b#c",
    "--> %% ;",
    "größe ✂ 漢字",
    "a.b/c[0]~$%",
    "$x",
    "'`",
    " ",
]


def odd(name: str) -> Wiring:
    built = Flow(name)
    step = built.add(node(fetch).with_(name=name), url=built.input(name, str))
    with built.loop(name=f"{name} loop", limit=1) as it:
        carry = it.carry(step.out)
        carry.next(carry.out)
    built.output(name, carry.final)
    return built.wiring


def counts(text: str, arrow: str) -> tuple[int, int]:
    lines = [line.strip() for line in text.rstrip("\n").split("\n")]
    edges = [line for line in lines if re.match(rf"n\d+ {arrow}", line)]
    return len(lines), len(edges)


STRING: Final = r'"(?:[^"\\\n]|\\.)*"'
DOT_LINE: Final = re.compile(
    rf"digraph {STRING} \{{|node \[shape=box\];|n\d+ \[(label={STRING}(, shape=oval)?|shape=point)\];"
    rf"|subgraph cluster_n\d+ \{{ label={STRING};|n\d+ -> n\d+ \[label={STRING}\];|\}}"
)
MERMAID_LINE: Final = re.compile(
    r'flowchart TD|n\d+(\["[^"\n]*"\]|\(\["[^"\n]*"\]\))|subgraph n\d+\["[^"\n]*"\]|end'
    r'|n\d+ -->\|"[^"\n]*"\| n\d+'
)


def test_names_may_hold_any_character(subtests: pytest.Subtests) -> None:
    program = shutil.which("dot")
    for name in NAMES:
        with subtests.test(name):
            for draw, line, arrow, lines in ((mermaid, MERMAID_LINE, "-->", 11), (dot, DOT_LINE, "->", 14)):
                text = draw(odd(name))
                assert not [one for one in text.rstrip("\n").split("\n") if not line.fullmatch(one.strip())]
                assert counts(text, arrow) == (lines, 4)
            if program is not None:
                subprocess.run([program, "-Tplain"], input=text, text=True, check=True, capture_output=True)
            assert len(outline(odd(name)).rstrip("\n").split("\n")) == 6
