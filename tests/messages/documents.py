# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator"
"""What is said of a document: of its text, its form and its names (S1.7)."""

from __future__ import annotations

from typing import Any, Final

from dataflow.formats.reader import MOST_BYTES, decode
from tests.messages.telling import Row, document

__all__ = ["ROWS"]

N: Final = "tests.behaviour.flow_parts"


def node(text: str) -> Any:
    return document(f"...\nnodes: {{a: {{type: '{N}:inc', {text}}}}}")


def schema(text: str) -> Any:
    return document(f"...\ninputs: {{x: {{type: {text}}}}}")


def in_json(text: str) -> Any:
    return document(text, "flow.json")


# fmt: off
ROWS: Final = [
    Row("no UTF-8", lambda: decode(b'a: \xff', 'flow.yaml')),
    Row("too large", lambda: decode(b'a' * (MOST_BYTES + 1), 'flow.yaml')),
    Row("nothing", document('')),
    Row("no YAML", document('...\nnodes: {a')),
    Row("a character", document('...\x00')),
    Row("a tag", document('...\nname: !x a')),
    Row("a tag that does not fit", document('...\nname: !!int a')),
    Row("two documents", document('...\n---\na: 1')),
    Row("a key that is a list", document('...\nmeta: {[]: a}')),
    Row("a key twice", document('...\nname: a\nname: b')),
    Row("an input without its $", document('...\ninputs: {x: {}}\noutputs: {o: in.x}')),
    Row("an alias of nothing", document('...\nname: *a')),
    Row("an alias of itself", document('...\nmeta: &a {b: *a}')),
    Row("aliases that grow", document('...\nmeta: {a: &a [' + 'x, ' * 1000 + '], b: &b [' + '*a, ' * 100 + '], c: [' + '*b, ' * 100 + ']}')),
    Row("too deep", document('...\nmeta: ' + '{a: ' * 101 + '}' * 101)),
    Row("a long number", document('...\nmeta: {a: ' + '1' * 1001 + '}')),
    Row("half a surrogate pair", in_json('{"dataflow": 1, "name": "\\ud800"}')),
    Row("JSON without a colon", in_json('{"dataflow" 1}')),
    Row("JSON without a comma", in_json('{"dataflow": 1 "name": 2}')),
    Row("JSON without a quote", in_json('{dataflow: 1}')),
    Row("JSON with more after it", in_json('{"dataflow": 1} 2')),
    Row("JSON without a value", in_json('{"dataflow": }')),
    Row("a list for a document", document('[1]')),
    Row("a later format", document('dataflow: 2')),
    Row("no number of a format", document('dataflow: one')),
    Row("uses with the name of a pack", document('...\nuses: {control: ./own.py}')),
    Row("a number for a text", document('...\nname: 1')),
    Row("two kinds of node", document('...\nnodes: {a: {type: a, loop: {}}}')),
    Row("no source", node('inputs: {x: {plus: 1}}')),
    Row("a source that cannot be", node('inputs: {x: $x.a}')),
    Row("an empty merge", node('inputs: {x: {merge: []}}')),
    Row("a fallback of three", node('inputs: {x: {fallback: [a, b, c]}}')),
    Row("each over several", node('inputs: {x: {each: [a, b]}}')),
    Row("a source twice", node('inputs: {x: {value: 1}}, values: {x: 1}')),
    Row("no seconds", node('values: {x: 1}, policy: {timeout: 0}')),
    Row("no finite number", node('values: {x: 1}, policy: {timeout: .inf}')),
    Row("no whole number", node('values: {x: 1}, policy: {limit: 1.5}')),
    Row("no boolean", node('values: {x: 1}, policy: {enabled: 1}')),
    Row("no choice", node('values: {x: 1}, policy: {on_error: stop}')),
    Row("errors of a node", node('values: {x: 1}, policy: {errors: collect}')),
    Row("a limit of a flow node", document('...\nnodes: {a: {flow: {dataflow: 1}, policy: {limit: 1}}}')),
    Row("a limit of nothing", document('...\nusing: {limits: {a: {}}}')),
    Row("a limit of an edge", document('...\nedges: [{source: a, target: b, target_port: c, limit: 1}]')),
    Row("two tests", document('...\nnodes: {l: {loop: {until: a, while: b}}}')),
    Row("all outside a loop", node('inputs: {x: {all: a}}')),
    Row("a default out of bounds", document('...\ninputs: {x: {type: {type: integer, minimum: 3}, default: 1}}')),
    Row("a default of no choice", document('...\ninputs: {x: {type: {enum: [a, b]}, default: c}}')),
    Row("an item schema that is none", schema('{type: array, items: 3}')),
    Row("an empty enum", schema('{enum: []}')),
    Row("an enum value", schema('{enum: [[1]]}')),
    Row("a JSON type", schema('{type: text}')),
    Row("a secret as a type", document("...\ninputs: {x: {type: secret}}")),
    Row("a bound that is no number", schema('{type: integer, minimum: a}')),
    Row("a length below zero", schema('{type: string, minLength: -1}')),
    Row("a reference to nothing", schema("{$ref: '#/a'}")),
    Row("a reference that is no text", schema('{$ref: 1}')),
    Row("an edge to a loop", document('...\nnodes: {l: {loop: {limit: 1}}, m: {map: {over: {x: {value: []}}}}}\nedges: [{source: m, target: l, target_port: x}]')),
    Row("a shadowed id", document('...\nnodes: {l: {loop: {limit: 1, nodes: {l: {type: control.if, config: {condition: value}, values: {value: true}}}}}}')),
    Row("a loop from inside", document('...\nnodes: {l: {loop: {limit: 1, nodes: {a: {type: control.if, config: {condition: value}, inputs: {value: l.x}}}}}}')),
    Row("a pack that is not there", document('...\nnodes: {a: {type: nowhere.inc}}')),
    Row("what is no function", document("...\nnodes: {a: {type: 'os:sep'}}")),
    Row("two tests of a branch", document("...\nnodes: {a: {type: control.if, config: {condition: value, predicate: 'os:getcwd'}, values: {value: 1}}}")),
    Row("an async test of a loop", document("...\nnodes: {l: {loop: {carry: {c: {first: {value: 1}, next: $carry.c}}, until: {source: $carry.c, test: '" + N + ":inc'}}}}")),
    Row("a how of two", node("inputs: {x: {merge_contexts: [a], how: 'operator:lt'}}")),
    Row("a switch without cases", document("...\nnodes: {a: {type: control.switch, config: {pick: 'os:getcwd'}, values: {value: 1}}}")),
    Row("an expression with another name", document('...\nnodes: {a: {type: control.if, config: {condition: x > y}, values: {value: 1}}}')),
    Row("an expression of a case", document('...\nnodes: {a: {type: control.switch, config: {cases: {big: value >}}, values: {value: 1}}}')),
    Row("how of merge_contexts", node('inputs: {x: {merge_contexts: [a], how: first}}')),
    Row("config of a node without", node('config: {a: 1}, values: {x: 1}')),
    Row("a problem of a nested flow", document("...\nnodes: {a: {flow: {dataflow: 1, nodes: {b: {type: '" + N + ":inc'}}}}}")),
    Row("neither pick nor conditions", document("...\nnodes: {a: {type: control.switch, config: {cases: [a]}, values: {value: 1}}}")),
    Row("a function that is none", document("...\nnodes: {a: {type: control.if, config: {predicate: 3}, values: {value: 1}}}")),
]
# fmt: on
