"""Flows that ask, for the rows and the tests of asks."""

from __future__ import annotations

from typing import Any

from dataflow import Flow, NodeOutput, Port, Ports, collect, each, fallback, gather, merge, node
from dataflow_control import Approval, approval
from tests.behaviour.nodes import counted, ident, inc, src
from tests.behaviour.table import wired


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
    return bool(ways[0][1] == "approve")


@wired
def root(f: Flow) -> None:
    shown = f.add(src, x=f.input("x", int))
    answer = f.ask(bool, "Go on?", show=shown.out)
    f.output("answer", f.add(ident, x=answer.out).out)
    f.output("beside", f.add(inc, x=shown.out).out)


@wired
def branches(f: Flow) -> None:
    cond = f.when(f.input("x", int), lambda x: x > 5)
    yes = f.ask(str, "Why so much?", show=cond.yes, name="much")
    no = f.ask(str, "Why so little?", show=cond.no, name="little")
    f.output("why", f.add(ident, x=merge(yes.out, no.out)).out)
    f.output("extra", fallback(no.out, "no"))


@wired
def chained(f: Flow) -> None:
    one = f.ask(str, "First?", name="one")
    two = f.ask(str, "Second?", show=one.out, name="two")
    f.output("both", f.add(both, left=one.out, right=two.out).out)


@wired
def together(f: Flow) -> None:
    one, two, three = (f.ask(str, "?", name=name) for name in ("one", "two", "three"))
    f.output("left", f.add(both, left=one.out, right=two.out).out)
    f.output("all", f.add(joined, parts=gather(one.out, two.out, three.out)).out)


@wired
def items(f: Flow, *, most: int | None = None) -> None:
    item = each(f.input("names", list[str]), max_concurrency=most)
    answer = f.ask(str, "Who?", show=item)
    f.output("all", f.add(joined, parts=collect(f.add(both, left=item, right=answer.out).out)).out)


@wired
def talk(f: Flow) -> None:
    with f.loop(name="talk", limit=None) as rounds:
        line = rounds.carry("")
        said = f.ask(str, "Say", show=line.out)
        rounds.until(said.out, lambda text: text == "bye")
        line.next(f.add(ident, x=said.out).out)
    f.output("minutes", f.add(joined, parts=rounds.all(said.out)).out)


def inner(*, name: str = "inner", asked: str = "ask") -> Flow:
    with Flow(name) as f:
        text = f.input("text", str)
        answer = f.ask(str, "Inside?", show=text, name=asked)
        f.output("out", f.add(both, left=text, right=answer.out).out)
    return f


@wired
def flow_node(f: Flow) -> None:
    f.output("out", f.add(inner(), text=f.input("text", str)).out.out)


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


@wired
def approvals(f: Flow) -> None:
    decided = f.add(approval, value=f.input("text", str), config=Approval(prompt="Publish?")).out
    f.output("yes", f.add(ident, x=decided.approve).out)
    f.output("no", decided.reject)
    f.output("note", decided.note)


@wired
def approved_drafts(f: Flow) -> None:
    """B22: a new draft in each round until one is approved."""
    with f.loop(name="drafts", limit=5) as rounds:
        before = rounds.carry("")
        text = f.add(draft, before=before.out)
        way = f.add(approval, value=text.out, config=Approval(prompt="This one?")).out
        yes = f.add(node(noted).with_(name="yes"), text=way.approve, note=way.note, approved=True)
        no = f.add(node(noted).with_(name="no"), text=way.reject, note=way.note, approved=False)
        rounds.until(f.add(over, ways=gather(yes.out, no.out)).out, lambda done: done)
        before.next(f.add(both, left=before.out, right="").out)
    f.output("log", rounds.all(merge(yes.out, no.out)))


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


@wired
def raw(f: Flow) -> None:
    step = f.add(partly, x=f.input("x", int))
    for name in ("given", "text", "number", "maybe"):
        f.output(name, f.add(node(ident).with_(name=name), x=getattr(step.out, name)).out)


@wired
def raw_with_nothing_left(f: Flow) -> None:
    f.output("given", f.add(waits, x=f.input("x", int)).out.given)
