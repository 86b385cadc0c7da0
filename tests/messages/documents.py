# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator"
"""What is said of a document: of its text, its form and its names (S1.7)."""

from __future__ import annotations

import json
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
    Row("no UTF-8", lambda: decode(b'a: \xff', 'flow.yaml'), "flow.yaml:1:4: is no UTF-8 text: found the byte 0xff"),
    Row("too large", lambda: decode(b'a' * (MOST_BYTES + 1), 'flow.yaml'), "flow.yaml:1:10000001: is larger than 10 MB"),
    Row("nothing", document(''), "flow.yaml:1:1: is empty"),
    Row("no YAML", document('...\nnodes: {a'), "flow.yaml:3:1: is no YAML: did not find expected ',' or '}' while parsing a flow mapping"),
    Row("a character", document('...\x00'), "flow.yaml:1:12: character U+0000 may not stand in YAML"),
    Row("a tag", document('...\nname: !x a'), "flow.yaml:2:7: tag !x is not known here"),
    Row("a tag that does not fit", document('...\nname: !!int a'), "flow.yaml:2:7: 'a' is no int"),
    Row("two documents", document('...\n---\na: 1'), "flow.yaml:2:1: a second document begins here; a file holds one"),
    Row("a key that is no text", document('...\nmeta: {1: a}'), "flow.yaml:2:8: a key must be text, found the number 1; put it in quotes"),
    Row("a key that is a list", document('...\nmeta: {[]: a}'), "flow.yaml:2:8: a key must be text, found a list"),
    Row("a key twice", document('...\nname: a\nname: b'), "flow.yaml:3:1: key 'name' stands here for the second time; the first is in line 2"),
    Row("a key that is a mapping", document('...\nname: {{ x }}'), "flow.yaml:2:8: a key must be text, found a mapping; put a text that begins with a brace in quotes"),
    Row("an input without its $", document('...\ninputs: {x: {}}\noutputs: {o: in.x}')),
    Row("an alias of nothing", document('...\nname: *a'), "flow.yaml:2:7: alias *a names no anchor that comes before it"),
    Row("an alias of itself", document('...\nmeta: &a {b: *a}'), "flow.yaml:2:14: alias *a stands inside its own anchor"),
    Row("aliases that grow", document('...\nmeta: {a: &a [' + 'x, ' * 1000 + '], b: &b [' + '*a, ' * 100 + '], c: [' + '*b, ' * 100 + ']}'), "flow.yaml:2:3464: the aliases up to here expand to more than 10 MB"),
    Row("too deep", document('...\nmeta: ' + '{a: ' * 101 + '}' * 101), "flow.yaml:2:403: nests deeper than 100 levels"),
    Row("a long number", document('...\nmeta: {a: ' + '1' * 1001 + '}'), "flow.yaml:2:11: a number has more than 1000 digits"),
    Row("half a surrogate pair", in_json('{"dataflow": 1, "name": "\\ud800"}'), "flow.json:1:25: half of a surrogate pair is no character"),
    Row("JSON without a colon", in_json('{"dataflow" 1}'), "flow.json:1:13: expected `:`"),
    Row("JSON without a comma", in_json('{"dataflow": 1 "name": 2}'), "flow.json:1:16: expected `,` or `}`"),
    Row("JSON without a quote", in_json('{dataflow: 1}'), "flow.json:1:2: expected a key in double quotes"),
    Row("JSON with more after it", in_json('{"dataflow": 1} 2'), "flow.json:1:17: nothing may follow the document"),
    Row("JSON without a value", in_json('{"dataflow": }'), "flow.json:1:14: expecting value"),
    Row("a list for a document", document('[1]'), "flow.yaml:1:1: is no flow document: expected a mapping with `dataflow: 1`, found a list of 1"),
    Row("a later format", document('dataflow: 2'), "flow.yaml:1:1: is written in format 2; this release reads format 1"),
    Row("no number of a format", document('dataflow: one'), "1:1 dataflow: expected the number of the format, 1, found 'one'"),
    Row("a missing field", document('name: a'), "1:1 dataflow: is missing"),
    Row("an unknown field", document('...\nnodez: {}'), "2:1 nodez: is not known here; choices: nodes, edges, outputs, dataflow, name, uses, inputs, using, meta"),
    Row("uses with the name of a pack", document('...\nuses: {control: ./own.py}'), "2:8 uses.control: is the name of a pack of the engine (S1.2); use another prefix"),
    Row("a number for a text", document('...\nname: 1'), "2:1 name: expected text, found 1"),
    Row("an empty name", document("...\nnodes: {'': {type: a.b}}"), "2:9 nodes.: expected a text that is not empty, found ''"),
    Row("a reserved name", document('...\nnodes: {$in: {type: a.b}}'), "2:9 nodes.$in: no node can be called '$in', which stands for the inputs of the flow"),
    Row("two kinds of node", document('...\nnodes: {a: {type: a, loop: {}}}'), "2:9 nodes.a: expected a node: a mapping with exactly one of type, flow, loop, map, found a mapping with type, loop"),
    Row("no source", node('inputs: {x: {plus: 1}}'), "2:62 nodes.a.inputs.x: expected a source: `node.port`, or a mapping with one of merge, gather, race, fallback, value, each, every, collect, all, merge_contexts, found a mapping with plus"),
    Row("a source that cannot be", node('inputs: {x: $x.a}')),
    Row("an empty merge", node('inputs: {x: {merge: []}}'), "2:66 nodes.a.inputs.x.merge: expected 1 or more entries, found an empty list"),
    Row("a fallback of three", node('inputs: {x: {fallback: [a, b, c]}}'), "2:66 nodes.a.inputs.x.fallback: expected at most 2 entries, found a list of 3"),
    Row("each over several", node('inputs: {x: {each: [a, b]}}'), "2:66 nodes.a.inputs.x.each: `each` over several lists comes with a later release; a map block takes them in `over`"),
    Row("a source twice", node('inputs: {x: {value: 1}}, values: {x: 1}'), "2:87 nodes.a.values.x: has a source in `inputs` already"),
    Row("a constant of another type", node('values: {x: a}'), "2:62 port 'a.x': expected int, found str 'a'"),
    Row("no seconds", node('values: {x: 1}, policy: {timeout: 0}'), "2:78 nodes.a.policy.timeout: expected a number above 0, found 0"),
    Row("no finite number", node('values: {x: 1}, policy: {timeout: .inf}'), "2:78 nodes.a.policy.timeout: expected a finite number, found Infinity"),
    Row("no whole number", node('values: {x: 1}, policy: {limit: 1.5}'), "2:78 nodes.a.policy.limit: expected text or a whole number, found 1.5"),
    Row("too few", node('values: {x: 1}, policy: {retry: {retries: -1}}'), "2:86 nodes.a.policy.retry.retries: expected a number of 0 or more, found -1"),
    Row("no boolean", node('values: {x: 1}, policy: {enabled: 1}'), "2:78 nodes.a.policy.enabled: expected true or false, found 1"),
    Row("no choice", node('values: {x: 1}, policy: {on_error: stop}'), "2:78 nodes.a.policy.on_error: expected 'fail', 'skip' or 'route', found 'stop'"),
    Row("errors of a node", node('values: {x: 1}, policy: {errors: collect}'), "2:78 nodes.a.policy.errors: is for flow nodes only"),
    Row("a limit of a flow node", document('...\nnodes: {a: {flow: {dataflow: 1}, policy: {limit: 1}}}'), "2:43 nodes.a.policy.limit: is for nodes of a type; a flow node holds no slot"),
    Row("a limit of nothing", document('...\nusing: {limits: {a: {}}}'), "2:18 using.limits.a: a limit has slots, per_second or both"),
    Row("a limit of an edge", document('...\nedges: [{source: a, target: b, target_port: c, limit: 1}]'), "2:9 edges[0]: `limit` stands only beside `feedback: true`"),
    Row("two tests", document('...\nnodes: {l: {loop: {until: a, while: b}}}'), "2:13 nodes.l.loop: a loop has one test: `until` or `while`"),
    Row("all outside a loop", node('inputs: {x: {all: a}}'), "2:66 nodes.a.inputs.x.all: `all` is an output of a loop, and nothing else"),
    Row("all of a map's output", document('...\noutputs: {o: {all: a}}'), "2:15 outputs.o.all: `all` is an output of a loop, and nothing else"),
    Row("a map over nothing", document('...\nnodes: {m: {map: {over: {}}}}'), "2:19 nodes.m.map.over: expected 1 or more entries, found an empty mapping"),
    Row("a default of another type", document('...\ninputs: {x: {type: integer, default: a}}'), "2:29 inputs.x.default: expected int, found str 'a'"),
    Row("a default out of bounds", document('...\ninputs: {x: {type: {type: integer, minimum: 3}, default: 1}}'), "2:49 inputs.x.default: expected int (greater than or equal to 3), found int 1"),
    Row("a default of no choice", document('...\ninputs: {x: {type: {enum: [a, b]}, default: c}}'), "2:36 inputs.x.default: expected Literal['a', 'b'], found str 'c'"),
    Row("a schema that is none", schema('{items: 3}'), ""),
    Row("an item schema that is none", schema('{type: array, items: 3}'), "2:14 inputs.x.type: expected a JSON Schema, found 3"),
    Row("an empty enum", schema('{enum: []}'), "2:14 inputs.x.type: enum must be a list that is not empty, found []"),
    Row("an enum value", schema('{enum: [[1]]}'), ""),
    Row("a JSON type", schema('{type: text}'), "2:14 inputs.x.type: there is no JSON type 'text'; choices: string, number, integer, boolean, array, object, null"),
    Row("a secret as a JSON type", schema('{type: secret}'), "2:14 inputs.x.type: there is no JSON type 'secret'; choices: string, number, integer, boolean, array, object, null; a secret is {type: string, format: secret}"),
    Row("a bound that is no number", schema('{type: integer, minimum: a}'), "2:14 inputs.x.type: minimum must be a number, found 'a'"),
    Row("a length below zero", schema('{type: string, minLength: -1}'), ""),
    Row("a reference to nothing", schema("{$ref: '#/a'}"), "2:14 inputs.x.type: $ref '#/a' leads to nothing in this schema"),
    Row("a reference that is no text", schema('{$ref: 1}'), "2:14 inputs.x.type: $ref must be text, found 1"),
    Row("an edge to a loop", document('...\nnodes: {l: {loop: {limit: 1}}, m: {map: {over: {x: {value: []}}}}}\nedges: [{source: m, target: l, target_port: x}]')),
    Row("a shadowed id", document('...\nnodes: {l: {loop: {limit: 1, nodes: {l: {type: control.if, config: {condition: value}, values: {value: true}}}}}}')),
    Row("a loop from inside", document('...\nnodes: {l: {loop: {limit: 1, nodes: {a: {type: control.if, config: {condition: value}, inputs: {value: l.x}}}}}}')),
    Row("a type that is none", document('...\nnodes: {a: {type: inc}}'), "2:13 node 'a': inc: is no node type: write pack.name, prefix.function or module:qualname"),
    Row("a pack that is not there", document('...\nnodes: {a: {type: nowhere.inc}}'), "2:13 node 'a': nowhere.inc: no installed pack is called 'nowhere'; …"),
    Row("a module that is not there", document("...\nnodes: {a: {type: 'nowhere:inc'}}")),
    Row("what is no function", document("...\nnodes: {a: {type: 'os:sep'}}")),
    Row("what is no async function", document("...\nnodes: {a: {type: 'os:getcwd'}}")),
    Row("an unknown config field", document('...\nnodes: {a: {type: control.if, config: {if: a}, values: {value: 1}}}')),
    Row("two tests of a branch", document("...\nnodes: {a: {type: control.if, config: {condition: value, predicate: 'os:getcwd'}, values: {value: 1}}}")),
    Row("a predicate of no value", document("...\nnodes: {a: {type: control.if, config: {predicate: 'os:getcwd'}, values: {value: 1}}}")),
    Row("a key of no value", document("...\nnodes: {m: {map: {over: {x: {value: [1]}}, key: 'os:getcwd'}}}")),
    Row("an async key", document("...\nnodes: {m: {map: {over: {x: {value: [1]}}, key: '" + N + ":inc'}}}")),
    Row("an async test of a loop", document("...\nnodes: {l: {loop: {carry: {c: {first: {value: 1}, next: $carry.c}}, until: {source: $carry.c, test: '" + N + ":inc'}}}}")),
    Row("a how of two", node("inputs: {x: {merge_contexts: [a], how: 'operator:lt'}}")),
    Row("a switch without cases", document("...\nnodes: {a: {type: control.switch, config: {pick: 'os:getcwd'}, values: {value: 1}}}")),
    Row("an expression with another name", document('...\nnodes: {a: {type: control.if, config: {condition: x > y}, values: {value: 1}}}'), "2:40 node 'a', config condition: expression 'x > y': unknown names 'x', 'y'; choices: value"),
    Row("an expression that ends too early", document('...\nnodes: {a: {type: control.if, config: {condition: value >}, values: {value: 1}}}'), "2:40 node 'a', config condition: expression 'value >': ends too early"),
    Row("an expression of a case", document('...\nnodes: {a: {type: control.switch, config: {cases: {big: value >}}, values: {value: 1}}}'), "2:52 node 'a', config cases.big: expression 'value >': ends too early"),
    Row("how of merge_contexts", node('inputs: {x: {merge_contexts: [a], how: first}}')),
    Row("an async how", node("inputs: {x: {merge_contexts: [a], how: '" + N + ":inc'}}")),
    Row("config of a node without", node('config: {a: 1}, values: {x: 1}')),
    Row("a problem of a nested flow", document("...\nnodes: {a: {flow: {dataflow: 1, nodes: {b: {type: '" + N + ":inc'}}}}}")),
    Row("long values", document('...\nname: [' + json.dumps('x' * 100) + ']'), "2:1 name: expected text, found a list of 1"),
    Row("neither pick nor conditions", document("...\nnodes: {a: {type: control.switch, config: {cases: [a]}, values: {value: 1}}}")),
    Row("a function that is none", document("...\nnodes: {a: {type: control.if, config: {predicate: 3}, values: {value: 1}}}")),
]
# fmt: on
