"""A flow is checked whole when it is built: every problem at once, none of them at run time (S1.7, B57)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, FlowInvalid, FormatError, collect, each, merge, node
from tests.behaviour.flow_parts import fetch, inc, join, length, pair, point, score, split, summarise, triple

USES: Final = "dataflow: 1\nuses: {n: tests.behaviour.flow_parts}\n"


def problems_of(wire: Callable[[Flow], object]) -> list[str]:
    f = Flow()
    wire(f)
    return f.check()


def seven_faults(f: Flow) -> None:
    f.add(point)
    f.connect("point.x", "pair.p")
    f.add(pair)  # type: ignore[call-arg]  # q is required
    for name in ("u", "v", "w", "two"):
        f.add(node(inc).with_(name=name))  # type: ignore[call-arg]  # wired by name below
    f.connect("nobody", "u.x")
    f.connect("point.z", "v.x")
    f.connect("point.x", "w.x")
    f.connect("point.x", "w.zz")
    f.connect("point.x", "two.x")
    f.connect("point.y", "two.x")
    for name, other in (("c1", "c2"), ("c2", "c1")):
        f.add(node(inc).with_(name=name))  # type: ignore[call-arg]  # as above
        f.connect(other, f"{name}.x")
    f.add(node(point).with_(name="point"))


SEVEN: Final = (
    "node id 'point' is used twice",
    "port 'u.x' reads 'nobody.out': no node 'nobody'; choices: point, pair, u",
    "port 'v.x' reads 'point.z': node 'point' has no output port 'z'; choices: out, x, y",
    "node 'w' (tests.behaviour.flow_parts:inc) has no input port 'zz'; choices: x",
    "port 'pair.q' is required and has neither an edge nor a constant",
    "the nodes form a cycle: c1 -> c2 -> c1",
    "port 'two.x' takes one value, but point.x and point.y both always bring one",
)


def check_problems(found: list[str], expected: tuple[str, ...]) -> None:
    """Find each expected text in a problem of its own, and no problem besides."""
    assert [text for text in expected if sum(text in problem for problem in found) != 1] == []
    assert len(found) == len(expected), found


def test_seven_faults_are_told_at_once() -> None:
    """B57"""
    check_problems(problems_of(seven_faults), SEVEN)


async def test_a_flow_with_faults_runs_nothing() -> None:
    f = Flow("faulty")
    seven_faults(f)
    with pytest.raises(FlowInvalid, match="flow 'faulty' has 7 problems:") as raised:
        await f.run()
    check_problems(list(raised.value.problems), SEVEN)
    assert all(problem in str(raised.value) for problem in raised.value.problems)
    with pytest.raises(FlowInvalid), f:
        pass


def test_seven_faults_of_a_document_are_told_at_once(tmp_path: Path) -> None:
    """A node id twice in one block is a key twice (below); here an inner block has an outer one's id."""
    path = tmp_path / "faulty.yaml"
    path.write_text(
        USES
        + """
nodes:
  point: {type: n.point}
  pair: {type: n.pair, inputs: {p: point.x}}
  u: {type: n.inc, inputs: {x: nobody}}
  v: {type: n.inc, inputs: {x: point.z}}
  w: {type: n.inc, inputs: {x: point.x, zz: point.x}}
  two: {type: n.inc}
  c1: {type: n.inc, inputs: {x: c2}}
  c2: {type: n.inc, inputs: {x: c1}}
  again: {loop: {limit: 1, nodes: {point: {type: n.point}}}}
edges:
  - {source: point, source_port: x, target: two, target_port: x}
  - {source: point, source_port: y, target: two, target_port: x}
"""
    )
    with pytest.raises(FlowInvalid) as raised:
        Flow.load(path)
    first, *rest = SEVEN
    assert "used twice" in first
    expected = ("node id 'point' shadows a node of an outer block", *(t.replace("tests.behaviour.flow_parts:", "n.") for t in rest))
    check_problems(list(raised.value.problems), expected)


def test_a_node_id_twice_in_a_document_is_told_with_both_places(tmp_path: Path) -> None:
    path = tmp_path / "twice.yaml"
    path.write_text(USES + "nodes:\n  a: {type: n.point}\n  a: {type: n.point}\n")
    with pytest.raises(FormatError, match="key 'a' stands here for the second time; the first is in line 4") as raised:
        Flow.load(path)
    assert (raised.value.line, raised.value.column) == (5, 3)


def parallel() -> Flow:
    with Flow("parallel") as f:
        a = f.add(node(point).with_(name="a"))
        f.connect("a.x", "b.p", id="first")
        f.connect("a.x", "b.q", id="second", meta={"color": "red"})
        f.connect("a.y", "b.r")
        f.add(node(triple).with_(name="b"))  # type: ignore[call-arg]  # wired by name
        f.output("o", f.add(node(split).with_(name="c"), doc="x").out.title)
        f.output("b", a.out)
    return f


def edges_of(f: Flow) -> list[tuple[str, str, str | None, dict[str, Any]]]:
    return [
        (str(edge.source), f"{edge.target}.{edge.target_port}", edge.id, dict(edge.meta))
        for edge in f.wiring.block.edges
    ]


EDGES: Final = [
    ("a.x", "b.p", "first", {}),
    ("a.x", "b.q", "second", {"color": "red"}),
    ("a.y", "b.r", None, {}),
]


async def test_parallel_edges_are_kept() -> None:
    """B57"""
    f = parallel()
    assert edges_of(f) == EDGES
    assert (await f.run()).get("b.out") == [1, 1, 2]


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
async def test_parallel_edges_survive_a_document(tmp_path: Path, suffix: str) -> None:
    from dataflow.formats.native_dump import dump_yaml

    path = tmp_path / "parallel.yaml"
    path.write_text(
        USES
        + """
nodes: {a: {type: n.point}, b: {type: n.triple}}
edges:
  - {source: a, source_port: x, target: b, target_port: p, id: first}
  - {source: a, source_port: x, target: b, target_port: q, id: second, meta: {color: red}}
  - {source: a, source_port: y, target: b, target_port: r}
outputs: {o: b}
"""
    )
    loaded = Flow.load(path)
    saved = tmp_path / f"saved{suffix}"
    saved.write_text(to_text(loaded, suffix) if suffix == ".json" else dump_yaml(loaded.wiring))
    again = Flow.load(saved)
    assert edges_of(loaded) == edges_of(again) == EDGES
    assert (await again.run())["o"] == [1, 1, 2]
    assert again.to_dict()["edges"] == loaded.to_dict()["edges"]


def to_text(f: Flow, suffix: str) -> str:
    import json

    return json.dumps(f.to_dict())


def by_name(*edges: tuple[str, str]) -> Callable[[Flow], None]:
    """Place the functions of a digest and connect them by name."""

    def wire(f: Flow) -> None:
        url = f.input("url", str)
        f.when(f.add(length, text=url).out, lambda n: n > 3)
        f.add(fetch, url=url)
        f.add(split, doc="a text")
        f.add(score, text=url)
        f.add(node(summarise).with_(name="item"), text=each(["a", "b"]))
        f.add(node(summarise).with_(name="last"))  # type: ignore[call-arg]  # wired by name, or not at all
        f.add(node(join).with_(name="joined"), **({} if any("joined" in end for _, end in edges) else {"parts": ["a"]}))  # type: ignore[arg-type]  # as above
        for source, target in edges:
            f.connect(source, target)

    return wire


LIST_INTO_TEXT: Final = "port 'last.text' expects str, but split.chunks is list[str]; wire each(...)"


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        pytest.param([("split.chunks", "last.text")], LIST_INTO_TEXT, id="E1 a list into text"),
        pytest.param(
            [("fetch", "last.text"), ("fetch", "last.txt")],
            "node 'last' (tests.behaviour.flow_parts:summarise) has no input port 'txt'; choices: text, style",
            id="E2 an unknown port",
        ),
        pytest.param([], "port 'last.text' is required", id="E3 a required port without an edge"),
        pytest.param(
            [("fetch", "last.text"), ("fetch", "joined.parts")],
            "port 'joined.parts' expects list[str], but fetch.out is str",
            id="E4 text into a list",
        ),
        pytest.param(
            [("split.titel", "last.text")],
            "port 'last.text' reads 'split.titel': node 'split' has no output port 'titel'; choices: out, title, chunks",
            id="E5 an unknown output port",
        ),
        pytest.param(
            [("fetch", "last.text"), ("item", "joined.parts")],
            "port 'joined.parts' expects list[str], but item.out is str; collect it first",
            id="E6 a collect forgotten",
        ),
        pytest.param(
            [("score", "last.text")], "port 'last.text' expects str, but score.out is float", id="E8 a float into text"
        ),
        pytest.param(
            [("length", "last.text")], "port 'last.text' expects str, but length.out is int", id="E9 an int into text"
        ),
        pytest.param(
            [("when.maybe", "last.text")],
            "port 'last.text' reads 'when.maybe': node 'when' has no output port 'maybe'; choices: yes, no",
            id="E16 an unknown branch",
        ),
        pytest.param(
            [("when.yes", "last.text")], "port 'last.text' expects str, but when.yes is int", id="a branch has a type"
        ),
    ],
)
def test_a_mistake_made_with_names_is_told(edges: list[tuple[str, str]], expected: str) -> None:
    found = problems_of(by_name(*edges))
    assert len(found) == 1
    assert expected in found[0]


def mixed_merge(f: Flow) -> None:
    text: Any = merge(f.add(fetch, url="a").out, f.add(length, text="b").out)
    f.add(summarise, text=text)


def wrong_next_value(f: Flow) -> None:
    with f.loop(limit=3) as it:
        text = it.carry(f.add(fetch, url="a").out)
        graded = f.add(score, text=text.out)
        value: Any = graded.out
        text.next(value)
        it.until(graded.out, lambda q: q > 0.8)


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        pytest.param(mixed_merge, "expects str, but merge(fetch.out, length.out) is str | int", id="E10"),
        pytest.param(wrong_next_value, "next value of '$carry.carry' in loop 'loop' is float", id="E11"),
    ],
)
def test_a_mistake_in_an_expression_is_told(wire: Callable[[Flow], None], expected: str) -> None:
    found = problems_of(wire)
    assert len(found) == 1
    assert expected in found[0]


def test_problems_behind_a_cycle_are_told_with_it() -> None:
    def wire(f: Flow) -> None:
        for name, other in (("a", "b"), ("b", "a")):
            f.add(node(fetch).with_(name=name))  # type: ignore[call-arg]  # wired by name
            f.connect(other, f"{name}.url")
        f.add(join)  # type: ignore[call-arg]  # as above
        f.connect("a", "join.parts")
        f.add(length, text=f.add(length, text="x").out)  # type: ignore[arg-type]  # int into text

    check_problems(
        problems_of(wire),
        ("the nodes form a cycle: a -> b -> a", "port 'join.parts' expects list[str]", "port 'length_2.text' expects str"),
    )


def two_maps(f: Flow) -> None:
    f.add(pair, p=each(f.input("xs", list[int])), q=each(f.input("ys", list[int])))


def other_options(f: Flow) -> None:
    xs = f.input("xs", list[int])
    f.add(inc, x=each(xs))
    f.add(inc, x=each(xs, key=str))


def other_concurrency(f: Flow) -> None:
    xs = f.input("xs", list[int])
    f.add(inc, x=each(xs))
    f.add(inc, x=each(xs, max_concurrency=2))


def item_as_output(f: Flow) -> None:
    f.output("o", f.add(inc, x=each(f.input("xs", list[int]))).out)


def collect_outside(f: Flow) -> None:
    f.output("o", collect(f.add(inc, x=1).out))


def collect_twice(f: Flow) -> None:
    f.output("o", collect(collect(f.add(inc, x=each(f.input("xs", list[int]))).out)))


def each_of_no_list(f: Flow) -> None:
    value: Any = f.add(inc, x=1).out
    f.add(inc, x=each(value))


def item_of_a_map_as_next_value(f: Flow) -> None:
    with f.loop(limit=2) as it:
        v = it.carry(0)
        v.next(f.add(inc, x=each(f.input("xs", list[int]))).out)
        it.until(v.out, lambda _: True)


@pytest.mark.parametrize(
    ("wire", "expected"),
    [
        (two_maps, "node 'pair' reads two maps neither inside the other: each($in.xs) and each($in.ys)"),
        (other_options, "each($in.xs) has other options than the same each read by 'inc'"),
        (other_concurrency, "each($in.xs) has other options than the same each read by 'inc'"),
        (item_as_output, "output 'o' reads inc.out, which is inside a map; collect it first"),
        (collect_outside, "collect(inc.out): the port is not inside a map"),
        (collect_twice, "collect(collect(inc.out)): the port is not inside a map"),
        (each_of_no_list, "map of 'inc_2' goes over inc.out, which is int; expected a list"),
        (item_of_a_map_as_next_value, "inc.out, which is inside a map; collect it first"),
    ],
)
def test_a_map_that_cannot_be_is_refused(wire: Callable[[Flow], None], expected: str) -> None:
    """S7.1"""
    found = problems_of(wire)
    assert len(found) == 1
    assert expected in found[0]
