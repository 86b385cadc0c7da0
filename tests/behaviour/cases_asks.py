"""Rows: asks in each kind of place (S11.1)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from dataflow import Flow, NodeOutput, Port, Ports, collect, each, fallback, gather, merge, node
from dataflow_control import Approval, approval
from tests.behaviour.asks import AskCase
from tests.behaviour.nodes import counted, ident, inc, src


@counted
async def joined(parts: list[str]) -> str:
    return "|".join(parts)


@counted
async def both(left: str, right: str) -> str:
    return f"{left}-{right}"


@counted
async def draft(before: str) -> str:
    return f"d{len(before) + 1}"


@counted
async def noted(text: str, note: str, approved: bool) -> list[Any]:
    return [text, "approve" if approved else "reject", note]


@counted
async def over(ways: list[list[Any]]) -> bool:
    return ways[0][1] == "approve"


def root() -> Flow:
    with Flow() as f:
        shown = f.add(src, x=f.input("x", int))
        answer = f.ask(bool, "Go on?", show=shown.out)
        f.output("answer", f.add(ident, x=answer.out).out)
        f.output("beside", f.add(inc, x=shown.out).out)
    return f


def branches() -> Flow:
    with Flow() as f:
        cond = f.when(f.input("x", int), lambda x: x > 5)
        yes = f.ask(str, "Why so much?", show=cond.yes, name="much")
        no = f.ask(str, "Why so little?", show=cond.no, name="little")
        f.output("why", f.add(ident, x=merge(yes.out, no.out)).out)
        f.output("extra", fallback(no.out, "no"))
    return f


def chained() -> Flow:
    with Flow() as f:
        one = f.ask(str, "First?", name="one")
        two = f.ask(str, "Second?", show=one.out, name="two")
        f.output("both", f.add(both, left=one.out, right=two.out).out)
    return f


def together() -> Flow:
    with Flow() as f:
        one, two, three = (f.ask(str, "?", name=name) for name in ("one", "two", "three"))
        f.output("left", f.add(both, left=one.out, right=two.out).out)
        f.output("all", f.add(joined, parts=gather(one.out, two.out, three.out)).out)
    return f


def items(*, keyed: bool) -> Flow:
    with Flow() as f:
        item = each(f.input("names", list[str]), key=str) if keyed else each(f.input("names", list[str]))
        answer = f.ask(str, "Who?", show=item)
        f.output("all", f.add(joined, parts=collect(f.add(both, left=item, right=answer.out).out)).out)
    return f


def talk() -> Flow:
    with Flow() as f:
        with f.loop(name="talk", limit=None) as rounds:
            line = rounds.carry("")
            said = f.ask(str, "Say", show=line.out)
            rounds.until(said.out, lambda text: text == "bye")
            line.next(f.add(ident, x=said.out).out)
        f.output("minutes", f.add(joined, parts=rounds.all(said.out)).out)
    return f


def inner(*, name: str = "inner", asked: str = "ask") -> Flow:
    with Flow(name) as f:
        text = f.input("text", str)
        answer = f.ask(str, "Inside?", show=text, name=asked)
        f.output("out", f.add(both, left=text, right=answer.out).out)
    return f


def flow_node() -> Flow:
    with Flow() as f:
        f.output("out", f.add(inner(), text=f.input("text", str)).out.out)
    return f


def nested_flow_nodes() -> Flow:
    with Flow("middle") as middle:
        deep = middle.add(inner(), text=middle.input("text", str))
        middle.output("out", deep.out.out)
        middle.output("own", middle.ask(int, "Middle?").out)
    with Flow() as f:
        step = f.add(middle, text=f.input("text", str))
        f.output("out", step.out.out)
        f.output("own", step.out.own)
    return f


def flow_node_of_items() -> Flow:
    with Flow() as f:
        step = f.add(inner(), text=each(f.input("names", list[str])))
        f.output("all", f.add(joined, parts=collect(step.out.out)).out)
    return f


def nested_maps() -> Flow:
    with Flow() as f:
        word = each(each(f.input("lists", list[list[str]])))
        answer = f.ask(str, "?", show=word)
        f.output("all", collect(collect(answer.out)))
    return f


def loop_in_a_loop() -> Flow:
    with Flow() as f:
        with f.loop(name="outer", limit=2) as outer:
            count = outer.carry(0)
            with f.loop(name="deep", limit=None) as deep:
                line = deep.carry("")
                said = f.ask(str, "Say", show=line.out)
                deep.until(said.out, lambda text: text == "bye")
                line.next(said.out)
            last = deep.result(said.out)
            count.next(f.add(inc, x=count.out).out)
        f.output("last", outer.result(last))
        f.output("count", count.final)
    return f


def approvals() -> Flow:
    with Flow() as f:
        decided = f.add(approval, value=f.input("text", str), config=Approval(prompt="Publish?")).out
        f.output("yes", f.add(ident, x=decided.approve).out)
        f.output("no", decided.reject)
        f.output("note", decided.note)
    return f


def approved_drafts() -> Flow:
    """B22: a new draft in each round until one is approved."""
    with Flow() as f:
        with f.loop(name="drafts", limit=5) as rounds:
            before = rounds.carry("")
            text = f.add(draft, before=before.out)
            way = f.add(approval, value=text.out, config=Approval(prompt="This one?")).out
            yes = f.add(node(noted).with_(name="yes"), text=way.approve, note=way.note, approved=True)
            no = f.add(node(noted).with_(name="no"), text=way.reject, note=way.note, approved=False)
            rounds.until(f.add(over, ways=gather(yes.out, no.out)).out, lambda done: done)
            before.next(f.add(both, left=before.out, right="").out)
        f.output("log", rounds.all(merge(yes.out, no.out)))
    return f


def _three(config: Any) -> Ports:
    return Ports({"x": int}, {"given": int, "text": str, "number": int, "maybe": Port(str, conditional=True)})


@node(ports=_three)
@counted
async def partly(inputs: dict[str, Any]) -> NodeOutput:
    asked = {"prompt": "The rest?", "show": inputs["x"]}
    return NodeOutput({"given": inputs["x"] + 1}, status="paused", metadata={"ask": asked, "more": 1})


@node(ports=lambda config: Ports({"x": int}, {"given": int}))  # noqa: ARG005 - as above
@counted
async def waits(inputs: dict[str, Any]) -> NodeOutput:
    return NodeOutput({"given": inputs["x"]}, status="paused")


def raw() -> Flow:
    with Flow() as f:
        step = f.add(partly, x=f.input("x", int))
        for name in ("given", "text", "number", "maybe"):
            f.output(name, f.add(node(ident).with_(name=name), x=getattr(step.out, name)).out)
    return f


def raw_with_nothing_left() -> Flow:
    with Flow() as f:
        f.output("given", f.add(waits, x=f.input("x", int)).out.given)
    return f


ASKS: Final = (
    AskCase(
        id="an ask in the root", rule="S11.1", flow=root, inputs={"x": 3}, first=("ask",),
        asked={"ask": (3, True)}, outputs={"answer": True, "beside": 4},
        runs={"src": 1, "ident": 1, "inc": 1}, states={"ask": "done"},
    ),
    *(
        AskCase(
            id=f"an ask in the branch {taken}", rule="S11.1", flow=branches, inputs={"x": x}, first=(taken,),
            asked={taken: (x, "so")}, outputs={"why": "so", "extra": extra}, runs={"ident": 1},
            states={taken: "done", other: "skipped"},
        )
        for x, taken, other, extra in ((9, "much", "little", "no"), (1, "little", "much", "so"))
    ),
    AskCase(
        id="an ask that shows the answer of another", rule="S11.1", flow=chained, first=("one",),
        asked={"one": (None, "a"), "two": ("a", "b")}, outputs={"both": "a-b"}, runs={"both": 1},
    ),
    AskCase(
        id="several asks at once", rule="S11.2", flow=together, first=("one", "two", "three"),
        asked={"one": (None, "a"), "two": (None, "b"), "three": (None, "c")},
        outputs={"left": "a-b", "all": "a|b|c"}, runs={"both": 1, "joined": 1},
    ),
    AskCase(
        id="an ask for each item", rule="S11.1", flow=partial(items, keyed=False), inputs={"names": ["x", "y", "z"]},
        first=("ask[0]", "ask[1]", "ask[2]"),
        asked={"ask[0]": ("x", "0"), "ask[1]": ("y", "1"), "ask[2]": ("z", "2")},
        outputs={"all": "x-0|y-1|z-2"}, runs={"both": 3, "joined": 1},
    ),
    AskCase(
        id="an ask for each keyed item", rule="S11.1", flow=partial(items, keyed=True), inputs={"names": ["x", "y"]},
        first=("ask[x]", "ask[y]"), asked={"ask[x]": ("x", "0"), "ask[y]": ("y", "1")},
        outputs={"all": "x-0|y-1"}, runs={"both": 2, "joined": 1},
    ),
    AskCase(
        id="a question a round, until one says bye", rule="S11.1", flow=talk, first=("talk[0]/ask",),
        asked={"talk[0]/ask": ("", "hello"), "talk[1]/ask": ("hello", "go on"), "talk[2]/ask": ("go on", "bye")},
        outputs={"minutes": "hello|go on|bye"}, runs={"ident": 2, "joined": 1},
    ),
    AskCase(
        id="an ask in a flow node", rule="S11.1", flow=flow_node, inputs={"text": "t"}, first=("inner/ask",),
        asked={"inner/ask": ("t", "a")}, outputs={"out": "t-a"}, runs={"both": 1},
        states={"inner": "done", "inner/ask": "done"},
    ),
    AskCase(
        id="asks in flow nodes at two depths", rule="S11.1", flow=nested_flow_nodes, inputs={"text": "t"},
        first=("middle/ask", "middle/inner/ask"),
        asked={"middle/inner/ask": ("t", "a"), "middle/ask": (None, 0)}, outputs={"out": "t-a", "own": 0},
        runs={"both": 1},
    ),
    AskCase(
        id="a flow node that asks for each item", rule="S11.1", flow=flow_node_of_items,
        inputs={"names": ["x", "y"]}, first=("inner[0]/ask", "inner[1]/ask"),
        asked={"inner[0]/ask": ("x", "0"), "inner[1]/ask": ("y", "1")}, outputs={"all": "x-0|y-1"},
        runs={"both": 2, "joined": 1},
    ),
    AskCase(
        id="an ask for each item of nested maps", rule="S11.1", flow=nested_maps,
        inputs={"lists": [["a"], [], ["b", "c"]]}, first=("ask[0][0]", "ask[2][0]", "ask[2][1]"),
        asked={"ask[0][0]": ("a", "A"), "ask[2][0]": ("b", "B"), "ask[2][1]": ("c", "C")},
        outputs={"all": [["A"], [], ["B", "C"]]},
    ),
    AskCase(
        id="an ask in a loop in a loop begins afresh", rule="S6.5", flow=loop_in_a_loop,
        first=("outer[0]/deep[0]/ask",),
        asked={
            "outer[0]/deep[0]/ask": ("", "more"), "outer[0]/deep[1]/ask": ("more", "bye"),
            "outer[1]/deep[0]/ask": ("", "bye"),
        },
        outputs={"last": "bye", "count": 2}, runs={"inc": 2},
    ),
    *(
        AskCase(
            id=f"an approval answered {answer}", rule="S11.1", flow=approvals, inputs={"text": "t"},
            first=("approval/ask",), asked={"approval/ask": ("t", answer)},
            outputs={way: "t", "note": note}, runs={"ident": 1} if way == "yes" else {},
            states={"approval": "done", "approval/switch": "done", "ident": "done" if way == "yes" else "skipped"},
        )
        for answer, way, note in (
            (True, "yes", ""),
            (False, "no", ""),
            ("approve", "yes", ""),
            ("reject", "no", ""),
            ({"decision": "approve"}, "yes", ""),
            ({"decision": "reject", "note": "not yet"}, "no", "not yet"),
            ({"decision": "approve", "note": ""}, "yes", ""),
        )
    ),
    AskCase(
        id="a pause in a loop asks again on every pass", rule="S11.3", flow=approved_drafts,
        first=("drafts[0]/approval/ask",),
        asked={
            "drafts[0]/approval/ask": ("d1", {"decision": "reject", "note": "r1"}),
            "drafts[1]/approval/ask": ("d2", {"decision": "reject", "note": "r2"}),
            "drafts[2]/approval/ask": ("d3", {"decision": "approve"}),
        },
        outputs={"log": [["d1", "reject", "r1"], ["d2", "reject", "r2"], ["d3", "approve", ""]]},
        runs={"draft": 3, "yes": 1, "no": 2, "over": 3, "both": 2},
    ),
    AskCase(
        id="a raw node that gave one port is asked for the others", rule="S11.1", flow=raw, inputs={"x": 1},
        first=("partly",), asked={"partly": (1, {"text": "", "number": 0, "maybe": "m"})},
        outputs={"given": 2, "text": "", "number": 0, "maybe": "m"},
        runs={"partly": 1, "given": 1, "text": 1, "number": 1, "maybe": 1},
    ),
    AskCase(
        id="an answer may leave a conditional port out", rule="S11.1", flow=raw, inputs={"x": 1},
        first=("partly",), asked={"partly": (1, {"text": "t", "number": 7})},
        outputs={"given": 2, "text": "t", "number": 7}, runs={"partly": 1, "given": 1, "text": 1, "number": 1},
        states={"maybe": "skipped"},
    ),
    AskCase(
        id="a raw node that gave all it has goes on when it is answered", rule="S11.1",
        flow=raw_with_nothing_left, inputs={"x": 1}, first=("waits",), asked={"waits": (None, None)},
        outputs={"given": 1}, runs={"waits": 1},
    ),
)  # fmt: skip
