"""Rows: values, templates and expressions of the control pack, also before branches and loops; B32, B34."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Final

from dataflow import Flow
from tests.behaviour.cases_conditions import flow_of
from tests.behaviour.cases_values import FALSY
from tests.behaviour.table import Case


def falsy(value: Any, *, given: bool) -> Flow:
    """Give a value as an input of the flow, or as that of a node of the pack, to what B32 has."""
    source = "$in.v" if given else "src"
    return flow_of(f"""
inputs: {{v: {{default: null}}}}
nodes:
  src: {{type: control.value, config: {{value: {json.dumps(value)}}}}}
  opt: {{type: "n:defaulted", inputs: {{x: {source}}}}}
  tpl: {{type: control.template, config: {{template: "[{{{{ x }}}}]"}}, inputs: {{x: {source}}}}}
  same: {{type: control.expression, config: {{expression: x}}, inputs: {{x: {source}}}}}
  sink: {{type: "n:ident", inputs: {{x: same}}}}
outputs: {{opt: opt, tpl: tpl, sink: sink, itself: {source}}}
""")


def compared(value: Any) -> Flow:
    """Compare a value with itself: whatever it is, it takes the yes exit."""
    return flow_of(f"""
inputs: {{x: {{}}}}
nodes:
  zero: {{type: control.value, config: {{value: {json.dumps(value)}}}}}
  same: {{type: control.expression, config: {{expression: x == zero}}, inputs: {{x: $in.x, zero: zero}}}}
  if: {{type: control.if, config: {{condition: value}}, inputs: {{value: same}}}}
  yes: {{type: "n:ident", inputs: {{x: if.yes}}}}
  no: {{type: "n:ident", inputs: {{x: if.no}}}}
outputs: {{yes: yes, no: no}}
""")


def branch(expression: str) -> Flow:
    """Compute an expression, and let a branch decide by what it gives."""
    return flow_of(f"""
inputs: {{x: {{}}}}
nodes:
  large: {{type: control.expression, config: {{expression: {json.dumps(expression)}}}, inputs: {{x: $in.x}}}}
  if: {{type: control.if, config: {{condition: value}}, inputs: {{value: large}}}}
  yes: {{type: "n:ident", inputs: {{x: if.yes}}}}
  no: {{type: "n:ident", inputs: {{x: if.no}}}}
outputs: {{yes: yes, no: no}}
""")


def cases(expression: str) -> Flow:
    """Compute a number, and let a switch decide by it."""
    return flow_of(f"""
inputs: {{x: {{}}}}
nodes:
  double: {{type: control.expression, config: {{expression: {json.dumps(expression)}}}, inputs: {{x: $in.x}}}}
  switch:
    type: control.switch
    config: {{cases: {{A: value > 3, B: value > 1}}}}
    inputs: {{value: double}}
  A: {{type: "n:ident", inputs: {{x: switch.A}}}}
  B: {{type: "n:ident", inputs: {{x: switch.B}}}}
outputs: {{A: A, B: B}}
""")


def loop(expression: str) -> Flow:
    """Let an expression be the test of a loop that counts."""
    return flow_of(f"""
nodes:
  count:
    loop:
      limit: 9
      carry: {{x: {{first: {{value: 0}}, next: more}}}}
      until: enough
      nodes:
        more: {{type: control.expression, config: {{expression: x + 1}}, inputs: {{x: $carry.x}}}}
        seen: {{type: "n:ident", inputs: {{x: more}}}}
        enough:
          type: control.expression
          config: {{expression: {json.dumps(expression)}}}
          inputs: {{x: seen}}
      outputs: {{x: seen}}
outputs: {{x: count.x}}
""")


def template(text: str) -> Flow:
    return flow_of(f"""
inputs: {{x: {{}}}}
nodes:
  tpl: {{type: control.template, config: {{template: {json.dumps(text)}}}, inputs: {{x: $in.x}}}}
outputs: {{text: tpl}}
""")


def decided(id: str, expression: str, x: Any, *, yes: bool) -> Case:
    taken, other = ("yes", "no") if yes else ("no", "yes")
    return Case(
        id=f"{id}, computed", rule="S16.3", flow=partial(branch, expression), inputs={"x": x},
        outputs={taken: yes}, runs={taken: 1}, states={other: "skipped"}, others="done",
        events=(("branch_evaluated", "if", {"matched": taken}),),
    )  # fmt: skip


def undecided(id: str, expression: str, x: Any, code: str, *, at: str = "large") -> Case:
    states = {"if": "failed" if at == "if" else "not_run", "yes": "not_run", "no": "not_run"}
    return Case(
        id=f"{id}, computed", rule="S16.3", flow=partial(branch, expression), inputs={"x": x},
        status="failed", runs={}, states=states, failures=((at, "ExpressionError", f"{code} expression "),),
    )  # fmt: skip


CONTROL: Final = (
    *(
        Case(
            id=f"B32 in the pack: {value!r} as {'an input' if given else 'a value'}", rule="S1.6",
            flow=partial(falsy, value, given=given), inputs={"v": value} if given else {},
            outputs={"opt": value, "tpl": text, "sink": value, "itself": value},
            runs={"opt": 1, "sink": 1}, others="done",
        )
        for value, text in zip(
            FALSY, ("[0]", "[0.0]", "[False]", "[]", "[[]]", "[{}]", "[None]"), strict=True
        )
        for given in (True, False)
    ),
    *(
        Case(
            id=f"B32 compared: {value!r}", rule="S16.3", flow=partial(compared, value),
            inputs={"x": value}, outputs={"yes": True}, runs={"yes": 1}, states={"no": "skipped"},
        )
        for value in FALSY
    ),
    undecided("B34.2 a text is no boolean", "x", "false", "DF0718", at="if"),
    undecided("B34.3 what is missing", "x.missing > 90", {}, "DF0722"),
    decided("B34.4 numbers are compared as numbers", "x > 9", 10, yes=True),
    undecided("B34.4 a text is no number", "x > 9", "10", "DF0723"),
    *(
        Case(
            id=f"B34.5 the first case that holds: {x}, computed", rule="S16.3", flow=partial(cases, "x + 1"),
            inputs={"x": x}, outputs={name: x + 1}, runs={name: 1},
            events=(("branch_evaluated", "switch", {"matched": name}),),
        )
        for x, name in ((4, "A"), (1, "B"))
    ),
    Case(
        id="B34.6 no case holds, computed", rule="S3.2", flow=partial(cases, "x * 2"), inputs={"x": 0},
        runs={}, states={"double": "done", "switch": "done", "A": "skipped", "B": "skipped"},
        events=(("branch_evaluated", "switch", {"matched": None}),),
    ),
    decided("B34.7 a field that is false", "x.is_approved", {"is_approved": False}, yes=False),
    undecided("B34.8 an expression that fails", "1 / x > 0", 0, "DF0725"),
    Case(
        id="an expression node is the test of a loop", rule="S6.1", flow=partial(loop, "x >= 3"),
        outputs={"x": 3}, runs={"seen": 3},
        events=(("loop_exited", "count", {"reason": "condition", "iterations": 3}),),
    ),
    Case(
        id="an expression node that gives no boolean is no test", rule="S16.3", flow=partial(loop, "x"),
        status="failed", runs={"seen": 1}, failures=(("count", "NodeFailed", "DF0812 count:"),),
    ),
    Case(
        id="an expression node that fails fails the loop it is the test of", rule="S6.1", status="failed",
        flow=partial(loop, "x.y > 3"), runs={"seen": 1},
        failures=(("count[0]/enough", "ExpressionError", "DF0722 expression 'x.y > 3':"),),
    ),
    Case(
        id="a template is filled once", rule="S16.2", flow=partial(template, "<{{ x }}>"),
        inputs={"x": "{{ x }}{% if %}"}, outputs={"text": "<{{ x }}{% if %}>"}, runs={}, others="done",
    ),
    Case(
        id="a template whose condition is no boolean", rule="S16.3", status="failed", runs={},
        flow=partial(template, "{% if x %}yes{% endif %}"), inputs={"x": "false"},
        failures=(("tpl", "ExpressionError", "DF0718 template "),),
    ),
)  # fmt: skip
