"""Rows: expressions that documents write for conditions, tests and keys; B34 (S16)."""

from __future__ import annotations

from functools import partial
from typing import Final

from dataflow import Flow
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from tests.behaviour.table import Case
from tests.formats.nesting import nest


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
    *(
        Case(
            id=f"B34.5 the first case that holds: {x}", rule="S16.3", flow=partial(cases, DEFAULT),
            inputs={"x": x}, outputs={name: x}, runs={name: 1}, others=None,
            events=(("branch_evaluated", "switch", {"matched": "default" if name == "rest" else name}),),
        )
        for x, name in ((5, "A"), (2, "B"), (0, "rest"))
    ),
    Case(
        id="B34.6 no case holds", rule="S3.2", flow=partial(cases, NO_DEFAULT), inputs={"x": 0}, runs={},
        states={"switch": "done"}, events=(("branch_evaluated", "switch", {"matched": None}),),
        why={"A": ("port 'x' has no value", "exit 'A' not taken")},
    ),
    Case(
        id="an expression ends a loop", rule="S6.1", flow=partial(loop, "until", "value >= 3", "inc"),
        outputs={"x": 2}, runs={"inc": 3},
        events=(("loop_exited", "count", {"reason": "condition", "iterations": 3}),),
    ),
    *(
        Case(
            id=f"an expression names items: of {kind}", rule="S7.1", flow=partial(flow, "item.name ~ '!'"),
            inputs={"rows": [ADA, BOB]}, outputs={"rows": [ADA, BOB]}, runs={"ident": 2},
            states=dict.fromkeys(paths, "done"),
        )
        for kind, flow, paths in (
            ("a map", keyed, ("m[ada!]/ident", "m[bob!]/ident")),
            ("each", each_keyed, ("ident[ada!]", "ident[bob!]")),
        )
    ),
    *(
        Case(
            id=f"an expression for a key: {what}", rule="S7.1", flow=partial(keyed, key),
            inputs={"rows": [ADA, BOB]},
            status="failed", runs={}, failures=(("m", error, told),),
        )
        for what, key, error, told in (
            ("is no text", "len(item)", "NodeFailed", "DF0812 m:"),
            ("is there twice", "'x'", "NodeFailed", "DF0816 m:"),
            ("cannot be computed", "item.id", "ExpressionError", "DF0722 expression 'item.id':"),
        )
    ),
)  # fmt: skip
