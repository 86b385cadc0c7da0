"""Rows: branches, switches, several edges on a port, conditions of documents; B34 (S1, S4, S5.2, S16)."""

from __future__ import annotations

from functools import partial
from typing import Final

from dataflow import Flow, Signal, node
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from tests.behaviour.nodes import counted, defaulted_pair, ident, inc, one, pair, src
from tests.behaviour.table import Case, wired
from tests.formats.nesting import nest


@counted
async def left(x: int) -> int:
    return x * 10


@counted
async def right(x: int) -> int:
    return x * 100


@counted
async def join(val: int) -> list[object]:
    return ["J", val]


@counted
async def tail(y: list[object]) -> list[object]:
    return y


def both_exits(*, swapped: bool, direct: bool = False) -> Flow:
    with Flow("B01") as f:
        cond = f.when(f.add(src, x=f.input("x", int)).out, lambda v: v > 5)
        if not direct:
            first, second = f.add(left, x=cond.yes).out, "right"
            f.add(right, x=cond.no)
        else:
            first, second = cond.yes, "when.no"
        if swapped:
            f.connect(second, "join.val")
        joined = f.add(join, val=first)
        if not swapped:
            f.connect(second, "join.val")
        f.output("tail", f.add(tail, y=joined.out).out)
    return f


def dead_port() -> Flow:
    with Flow("B03") as f:
        cond = f.when(f.add(src, x=f.input("x", int)).out, lambda v: v > 5)
        first = f.add(node(ident).with_(name="t"), x=cond.yes)
        second = f.add(node(ident).with_(name="u"), x=cond.no)
        joined = f.add(node(pair).with_(name="j"), p=first.out, q=second.out)
        f.output("k", f.add(ident, x=joined.out).out)
    return f


@wired
def one_optional_port_dead(f: Flow) -> None:
    cond = f.when(f.input("x", int), lambda v: v > 5)
    f.output("o", f.add(defaulted_pair, x=cond.yes, y=f.add(src, x=cond.no).out).out)


@wired
def dead_chain(f: Flow) -> None:
    exits = f.when(f.input("x", int), lambda v: v > 5)
    first = f.add(inc, x=exits.yes)
    f.output("o", f.add(inc, x=f.add(inc, x=first.out).out).out)


B01_TAKEN: Final = {"src": 1, "left": 1, "join": 1, "tail": 1}
B01_OTHER: Final = {"src": 1, "right": 1, "join": 1, "tail": 1}

BRANCHES: Final = (
    *(case
        for swapped, order in ((False, "in order"), (True, "swapped"))
        for case in (Case(id=f"B01: a {order}", rule="S5.2", flow=partial(both_exits, swapped=swapped),
                inputs={"x": 7}, outputs={"tail": ["J", 70]}, runs=B01_TAKEN, states={"right": "skipped"},
                others="done", why={"right": ("port 'x' has no value", "exit 'no' not taken")}),
            Case(id=f"B01: b {order}", rule="S5.2", flow=partial(both_exits, swapped=swapped),
                inputs={"x": 3}, outputs={"tail": ["J", 300]}, runs=B01_OTHER, states={"left": "skipped"},
                others="done", why={"left": ("port 'x' has no value", "exit 'yes' not taken")}),
            *(Case(id=f"B01: c {order} {x}", rule="S5.2", inputs={"x": x},
                    flow=partial(both_exits, swapped=swapped, direct=True), outputs={"tail": ["J", x]},
                    runs={"src": 1, "join": 1, "tail": 1}, others="done")
                for x in (7, 3)))),
    Case(id="B03", rule="S4.3", flow=dead_port, inputs={"x": 3}, runs={"src": 1, "u": 1},
        states={"t": "skipped", "j": "skipped", "ident": "skipped"}, others="done",
        why={"t": ("t: port 'x' has no value", "when: exit 'yes' not taken"),
            "j": ("j: port 'p' has no value", "t: port 'x' has no value", "when: exit 'yes' not taken"),
            "ident.out": ("ident: port 'x'", "j: port 'p'", "t: port 'x'", "when: exit 'yes' not taken")},
        warnings=("DF0835 j:",),
        events=(("warning", "j", {"code": "join_unreleased"}), ("node_finished", "j", {"state": "skipped"}))),
    Case(id="an optional port that is dead beside a live one", rule="S4.4", flow=one_optional_port_dead,
        inputs={"x": 3}, outputs={"o": ["dflt", 3]}, runs={"src": 1, "defaulted_pair": 1}),
    Case(id="a dead path", rule="S3.3", flow=dead_chain, inputs={"x": 3}, runs={},
        states={"inc": "skipped", "inc_2": "skipped", "inc_3": "skipped"}, others="done",
        why={"inc_3.out": ("inc_3: port 'x'", "inc_2: port 'x'", "inc: port 'x'",
                "when: exit 'yes' not taken")},
        events=(("branch_evaluated", "when", {"matched": "no"}),
            ("node_finished", "inc", {"state": "skipped"}), ("node_finished", "inc_2", {"state": "skipped"}),
            ("node_finished", "inc_3", {"state": "skipped"}))),
)  # fmt: skip


@counted
async def signalled(go: Signal, x: int = 0) -> list[object]:
    return [type(go).__name__, x]


@wired
def switch(f: Flow, *, default: bool) -> None:
    names = ("low", "high", "default") if default else ("low", "high")
    cases = f.switch(f.input("x", int), pick_size, names)
    for name in names:
        f.output(name, f.add(inc, x=cases[name]).out)


def pick_size(x: int) -> str:
    return {0: "low", 1: "high", 2: "middle"}.get(x)  # type: ignore[return-value]  # None: no case at all


@wired
def after(f: Flow, *, dead: int, live: int) -> None:
    """Let a node wait for the signals of nodes that are skipped and of nodes that are not."""
    cond = f.when(f.input("x", int), lambda v: v > 5)
    last = f.add(one)
    signals = [f.add(inc, x=cond.yes).done for _ in range(dead)]
    signals += [f.add(src, x=cond.no).done for _ in range(live)]
    f.after(last, *signals)
    f.output("o", last.out)


@wired
def signal_port(f: Flow) -> None:
    cond = f.when(f.input("x", int), lambda v: v > 5)
    f.output("o", f.add(signalled, go=cond.no, x=4).out)  # type: ignore[arg-type]  # it takes any output


SWITCHES: Final = (
    *(Case(id=f"a switch picks {name}", rule="S3.2", flow=partial(switch, default=False), inputs={"x": x},
            outputs={name: x + 1}, runs={"inc" if name == "low" else "inc_2": 1},
            events=(("branch_evaluated", "switch", {"matched": name}),))
        for x, name in ((0, "low"), (1, "high"))),
    Case(id="a switch picks what only default takes", rule="S3.2", flow=partial(switch, default=True),
        inputs={"x": 2}, outputs={"default": 3}, runs={"inc_3": 1},
        why={"inc": ("inc: port 'x'", "switch: exit 'low' not taken")}),
    Case(id="a switch picks nothing", rule="S3.2", flow=partial(switch, default=False), inputs={"x": 5},
        runs={}, states={"inc": "skipped", "inc_2": "skipped", "switch": "done"},
        events=(("branch_evaluated", "switch", {"matched": None}),)),
    Case(id="a switch picks what is no case", rule="S9.5", flow=partial(switch, default=False),
        inputs={"x": 2}, status="failed", runs={}, failures=(("switch", "NodeFailed", "DF0813 switch:"),),
        states={"switch": "failed", "inc": "not_run", "inc_2": "not_run"}),
    Case(id="after signals that come", rule="S1.3", flow=partial(after, dead=0, live=2), inputs={"x": 3},
        outputs={"o": 1}, runs={"src": 1, "src_2": 1, "one": 1}, others="done",
        events=(("node_finished", "src", {}), ("node_started", "one", {}))),
    Case(id="after signals that cannot come", rule="S1.3", flow=partial(after, dead=2, live=0),
        inputs={"x": 3}, runs={}, states={"inc": "skipped", "inc_2": "skipped", "one": "skipped"},
        why={"one": ("one: port '$after'", "inc: port 'x'", "when: exit 'yes' not taken")}),
    Case(id="a signal port takes any output, and only its order", rule="S1.4", flow=signal_port,
        inputs={"x": 3}, outputs={"o": ["Signal", 4]}, runs={"signalled": 1}),
)  # fmt: skip


def flow_of(text: str) -> Flow:
    """Make a flow of a document in which `n` is the nodes of the behaviour tests."""
    document = text.replace('"n:', '"tests.behaviour.nodes:').replace('"own:', f'"{__name__}:')
    return Flow.from_wiring(load(f"dataflow: 1\n{document}", "f.yaml", nest), find_type, import_function)


def branch(condition: str) -> Flow:
    return flow_of(f"""
inputs: {{x: {{}}}}
nodes:
  if: {{type: control.if, config: {{condition: {condition!r}}}, inputs: {{value: $in.x}}}}
  yes: {{type: "n:ident", inputs: {{x: if.yes}}}}
  no: {{type: "n:ident", inputs: {{x: if.no}}}}
outputs: {{yes: yes, no: no}}
""")


def cases(conditions: str) -> Flow:
    return flow_of(f"""
inputs: {{x: {{}}}}
nodes:
  switch: {{type: control.switch, config: {{cases: {conditions}}}, inputs: {{value: $in.x}}}}
  A: {{type: "n:ident", inputs: {{x: switch.A}}}}
  B: {{type: "n:ident", inputs: {{x: switch.B}}}}
  rest: {{type: "n:ident", inputs: {{x: {"switch.default" if "default" in conditions else "switch.B"}}}}}
outputs: {{A: A, B: B, rest: rest}}
""")


def loop(kind: str, test: str, source: str) -> Flow:
    return flow_of(f"""
nodes:
  count:
    loop:
      carry: {{x: {{first: {{value: 0}}, next: inc}}}}
      {kind}: {{source: {source}, test: {test!r}}}
      nodes: {{inc: {{type: "n:inc", inputs: {{x: $carry.x}}}}}}
      outputs: {{x: $carry.x}}
outputs: {{x: count.x}}
""")


def keyed(key: str) -> Flow:
    return flow_of(f"""
inputs: {{rows: {{}}}}
nodes:
  m:
    map:
      over: {{row: $in.rows}}
      key: {key!r}
      nodes: {{ident: {{type: "n:ident", inputs: {{x: $item.row}}}}}}
      outputs: {{row: ident}}
outputs: {{rows: m.row}}
""")


def each_keyed(key: str) -> Flow:
    return flow_of(f"""
inputs: {{rows: {{}}}}
nodes:
  ident: {{type: "n:ident", inputs: {{x: {{each: $in.rows, key: {key!r}}}}}}}
outputs: {{rows: {{collect: ident}}}}
""")


def decided(id: str, condition: str, value: object, *, yes: bool) -> Case:
    taken, other = ("yes", "no") if yes else ("no", "yes")
    return Case(
        id=id, rule="S16.3", flow=partial(branch, condition), inputs={"x": value}, outputs={taken: value},
        runs={taken: 1}, states={other: "skipped"}, others="done",
        events=(("branch_evaluated", "if", {"matched": taken}),),
    )  # fmt: skip


def undecided(id: str, condition: str, value: object, code: str) -> Case:
    return Case(
        id=id, rule="S16.3", flow=partial(branch, condition), inputs={"x": value}, status="failed", runs={},
        states={"if": "failed", "yes": "not_run", "no": "not_run"},
        failures=(("if", "ExpressionError", f"{code} expression {condition!r}:"),),
    )  # fmt: skip


NO_DEFAULT: Final = "{A: value > 3, B: value > 1}"
DEFAULT: Final = "{A: value > 3, B: value > 1, default: 'true'}"
ADA: Final = {"name": "ada"}
BOB: Final = {"name": "bob"}

CONDITIONS: Final = (
    undecided("B34.2 a text is no boolean", "value", "false", "DF0718"),
    undecided("B34.3 what is missing", "value.missing > 90", {}, "DF0722"),
    decided("B34.4 numbers are compared as numbers", "value > 9", 10, yes=True),
    undecided("B34.4 a text is no number", "value > 9", "10", "DF0723"),
    *(Case(id=f"B34.5 the first case that holds: {x}", rule="S16.3", flow=partial(cases, DEFAULT),
            inputs={"x": x}, outputs={name: x}, runs={name: 1}, others=None,
            events=(("branch_evaluated", "switch", {"matched": "default" if name == "rest" else name}),))
        for x, name in ((5, "A"), (2, "B"), (0, "rest"))),
    Case(id="B34.6 no case holds", rule="S3.2", flow=partial(cases, NO_DEFAULT), inputs={"x": 0}, runs={},
        states={"switch": "done"}, events=(("branch_evaluated", "switch", {"matched": None}),),
        why={"A": ("port 'x' has no value", "exit 'A' not taken")}),
    Case(id="an expression ends a loop", rule="S6.1", flow=partial(loop, "until", "value >= 3", "inc"),
        outputs={"x": 2}, runs={"inc": 3},
        events=(("loop_exited", "count", {"reason": "condition", "iterations": 3}),)),
    *(Case(id=f"an expression names items: of {kind}", rule="S7.1", flow=partial(flow, "item.name ~ '!'"),
            inputs={"rows": [ADA, BOB]}, outputs={"rows": [ADA, BOB]}, runs={"ident": 2},
            states=dict.fromkeys(paths, "done"))
        for kind, flow, paths in (("a map", keyed, ("m[ada!]/ident", "m[bob!]/ident")),
            ("each", each_keyed, ("ident[ada!]", "ident[bob!]")))),
    *(Case(id=f"an expression for a key: {what}", rule="S7.1", flow=partial(keyed, key),
            inputs={"rows": [ADA, BOB]}, status="failed", runs={}, failures=(("m", error, told),))
        for what, key, error, told in (("is no text", "len(item)", "NodeFailed", "DF0812 m:"),
            ("is there twice", "'x'", "NodeFailed", "DF0816 m:"),
            ("cannot be computed", "item.id", "ExpressionError", "DF0722 expression 'item.id':"))),
)  # fmt: skip
