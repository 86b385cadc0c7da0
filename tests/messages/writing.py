# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, assignment"
"""What is said of documents, files, expressions, packs, and files of other systems (S1.7, S16, S20)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, Final
from unittest.mock import patch

from pydantic import BaseModel, field_validator

from dataflow import Diagnostic, Flow, Pack, Retry, each, node
from dataflow.authoring import Notes, PartReader, unique_ids
from dataflow.cli.targets import find_flow
from dataflow.core.config import Config
from dataflow.core.public_names import public_module
from dataflow.core.wiring import Carried, Literally, LoopBlock
from dataflow.expressions.expression import Expression, Template
from dataflow.formats.reader import MOST_BYTES, decode
from dataflow.loading import read_document
from dataflow.packs.registry import find_type, installed_packs
from tests.behaviour.flow_parts import Parts, inc
from tests.messages.telling import Row, Stimulus, document, dumped, files, later
from tests.support.processes import install

N: Final = "tests.behaviour.flow_parts"


def with_node(text: str) -> Any:
    return document(f"...\nnodes: {{a: {{type: '{N}:inc', {text}}}}}")


def schema(text: str) -> Any:
    return document(f"...\ninputs: {{x: {{type: {text}}}}}")


def in_json(text: str) -> Any:
    return document(text, "flow.json")


# fmt: off
DOCUMENTS: Final = [
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
    Row("a large number", document('...\nmeta: {n: 1e999}')),
    Row("a merge key", document('...\nmeta: {<<: {a: 1}}')),
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
    Row("no source", with_node('inputs: {x: {plus: 1}}')),
    Row("a source that cannot be", with_node('inputs: {x: $x.a}')),
    Row("an empty merge", with_node('inputs: {x: {merge: []}}')),
    Row("each over several", with_node('inputs: {x: {each: [a, b]}}')),
    Row("a source twice", with_node('inputs: {x: {value: 1}}, values: {x: 1}')),
    Row("no seconds", with_node('values: {x: 1}, policy: {timeout: 0}')),
    Row("no choice", with_node('values: {x: 1}, policy: {on_error: stop}')),
    Row("errors of a node", with_node('values: {x: 1}, policy: {errors: collect}')),
    Row("a limit of a flow node", document('...\nnodes: {a: {flow: {dataflow: 1}, policy: {limit: 1}}}')),
    Row("a limit of nothing", document('...\nusing: {limits: {a: {}}}')),
    Row("a limit of an edge", document('...\nedges: [{source: a, target: b, target_port: c, limit: 1}]')),
    Row("two tests", document('...\nnodes: {l: {loop: {until: a, while: b}}}')),
    Row("all outside a loop", with_node('inputs: {x: {all: a}}')),
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
    Row("keywords that nobody checks", schema('{minimun: 1, format: iban}')),
    Row("a pattern that looks ahead", schema('{pattern: "(?=a)"}')),
    Row("a reference to another document", schema('{$ref: "https://example.org/a.json"}')),
    Row("a reference to itself", schema('{$ref: "#/$defs/n", $defs: {n: {$ref: "#/$defs/n"}}}')),
    Row("an unknown draft", schema('{$schema: "https://example.org/own"}')),
    Row("an edge to a loop", document('...\nnodes: {l: {loop: {limit: 1}}, m: {map: {over: {x: {value: []}}}}}\nedges: [{source: m, target: l, target_port: x}]')),
    Row("a shadowed id", document('...\nnodes: {l: {loop: {limit: 1, nodes: {l: {type: control.if, config: {condition: value}, values: {value: true}}}}}}')),
    Row("a loop from inside", document('...\nnodes: {l: {loop: {limit: 1, nodes: {a: {type: control.if, config: {condition: value}, inputs: {value: l.x}}}}}}')),
    Row("a pack that is not there", document('...\nnodes: {a: {type: nowhere.inc}}')),
    Row("what is no function", document("...\nnodes: {a: {type: 'os:sep'}}")),
    Row("two tests of a branch", document("...\nnodes: {a: {type: control.if, config: {condition: value, predicate: 'os:getcwd'}, values: {value: 1}}}")),
    Row("an async test of a loop", document("...\nnodes: {l: {loop: {carry: {c: {first: {value: 1}, next: $carry.c}}, until: {source: $carry.c, test: '" + N + ":inc'}}}}")),
    Row("a how of two", with_node("inputs: {x: {merge_contexts: [a], how: 'operator:lt'}}")),
    Row("a switch without cases", document("...\nnodes: {a: {type: control.switch, config: {pick: 'os:getcwd'}, values: {value: 1}}}")),
    Row("an expression with another name", document('...\nnodes: {a: {type: control.if, config: {condition: x > y}, values: {value: 1}}}')),
    Row("an expression of a case", document('...\nnodes: {a: {type: control.switch, config: {cases: {big: value >}}, values: {value: 1}}}')),
    Row("how of merge_contexts", with_node('inputs: {x: {merge_contexts: [a], how: first}}')),
    Row("config of a node without", with_node('config: {a: 1}, values: {x: 1}')),
    Row("a problem of a nested flow", document("...\nnodes: {a: {flow: {dataflow: 1, nodes: {b: {type: '" + N + ":inc'}}}}}")),
    Row("neither pick nor conditions", document("...\nnodes: {a: {type: control.switch, config: {cases: [a]}, values: {value: 1}}}")),
    Row("a function that is none", document("...\nnodes: {a: {type: control.if, config: {predicate: 3}, values: {value: 1}}}")),
]
# fmt: on


class Options(Config):
    made: Any = None


async def configured(options: Options, x: int = 1) -> int:
    return 1


async def dated(day: date, x: Any = 1) -> int:
    return 1


class Odd:
    def __repr__(self) -> str:
        return "<odd>"


def used(python: str | None, uses: str = "./own.py", name: str = "own.f") -> Stimulus:
    def make(folder: Path) -> object:
        if python is not None:
            (folder / "own.py").write_text(python)
        (folder / "flow.yaml").write_text(
            f"dataflow: 1\nuses: {{own: {uses}}}\nnodes: {{a: {{type: {name}}}}}\n"
        )
        return Flow.load(folder / "flow.yaml")

    return files(make)


def loaded(text: str, **options: Any) -> Stimulus:
    def make(folder: Path) -> object:
        (folder / "flow.yaml").write_text(text)
        return Flow.load(folder / "flow.yaml", **options)

    return files(make)


def target(python: str, name: str = "") -> Stimulus:
    def make(folder: Path) -> object:
        (folder / "own.py").write_text(python)
        return find_flow(f"{folder / 'own.py'}{name}")

    return files(make)


@later
def stored_as(name: str) -> object:
    package: Any = ModuleType("acme")
    package.__stored_as__ = name
    with patch.dict(sys.modules, acme=package):
        return public_module("acme")


def links(folder: Path) -> object:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    return Flow.load(folder / "a")


def unseen(folder: Path) -> object:
    (folder / "flow.yaml").write_text(
        "dataflow: 1\nuses: {own: ./own.py}\nnodes: {a: {type: own.f}, b: {type: own.g}}\n"
    )
    return Flow.from_wiring(*read_document(folder / "flow.yaml", Flow.from_wiring, imports=False)).compile()


def recursive(folder: Path) -> object:
    (folder / "own.py").write_text(
        "from pathlib import Path\nfrom dataflow import Flow\nf = Flow.load(Path(__file__).parent / 'flow.yaml')\n"
    )
    (folder / "flow.yaml").write_text("dataflow: 1\nuses: {own: ./own.py}\nnodes: {a: {type: own.f}}\n")
    return Flow.load(folder / "flow.yaml")


def a_loop_without_a_next_value(f: Flow) -> None:
    loop = LoopBlock("l", limit=1, carries={"c": Carried(Literally(1), None)})
    f.wiring.block.nodes["l"] = loop


def of_a_pack() -> Any:
    def read_text(item: object) -> str:
        return str(item)

    read_text.__module__, read_text.__qualname__ = "control", "read_text"
    return read_text


# fmt: off
SAVING: Final = [
    Row("a missing file", files(lambda folder: Flow.load(folder / 'flow.yaml'))),
    Row("a folder", files(Flow.load)),
    Row("a device", lambda: Flow.load('/dev/zero')),
    Row("a name with a NUL", lambda: Flow.load('a\x00'), hide="(?<=read: ).*"),
    Row("links in a circle", files(links)),
    Row("a format", loaded('dataflow: 1', format='visio')),
    Row("a file in itself", loaded('dataflow: 1\nnodes: {a: {flow: flow.yaml}}')),
    Row("a file with problems in it", loaded('dataflow: 1\nnodes: {a: {flow: {dataflow: 1, nodez: 1}}}')),
    Row("not looked into", files(unseen)),
    Row("a missing Python file", used(None)),
    Row("no function in it", used('f = 3\ndef g(): ...')),
    Row("no function that can be seen", used('class C:\n    def __call__(self): ...\n    def __getattr__(self, name): raise KeyError(name)\nf = C()')),
    Row("a module that cannot be one", used(None, '..own')),
    Row("a flow that uses itself", files(recursive)),
    Row("no flow", target('x = 1')),
    Row("no such flow", target("from dataflow import Flow\nf = Flow('f')", ':g')),
    Row("several flows", target("from dataflow import Flow\nf = Flow('f')\ng = Flow('g')")),
    Row("no such module", lambda: find_flow('nowhere:f')),
    Row("a public name that is none", stored_as("no:name")),
    Row("a public name of the engine", stored_as("agent")),
    Row("a constant without a form", dumped(lambda f: f.add(dated, x=Odd(), day=date(2026, 1, 2)))),
    Row("a long number", dumped(lambda f: f.add(dated, x=10 ** 1000, day=date(2026, 1, 2)))),
    Row("a key that is no text", dumped(lambda f: f.add(dated, x={1: 2}, day=date(2026, 1, 2)))),
    Row("half a surrogate pair", dumped(lambda f: f.add(dated, x='\ud800', day=date(2026, 1, 2)))),
    Row("a default without a form", dumped(lambda f: f.input('x', Any, Odd()))),
    Row("a type without a schema", dumped(lambda f: f.input('x', Odd))),
    Row("a type that its schema does not make", dumped(lambda f: f.input('x', list[Options]))),
    Row("a lambda of a branch", dumped(lambda f: f.when(1, lambda x: x > 0))),
    Row("a function of a module like a pack", dumped(lambda f: f.add(inc, x=each([1], key=of_a_pack())))),
    Row("a config without a form", dumped(lambda f: f.add(configured, Options(made=Odd())))),
    Row("a config that is read as another", dumped(lambda f: f.add(configured, Options(made=(1, 2))))),
    Row("before of a retry", dumped(lambda f: f.add(node(retries=Retry(1, before=print))(inc), x=1))),
    Row("a default of a policy", dumped(lambda f: f.add(node(default=Odd())(inc), x=1))),
    Row("no next value", dumped(a_loop_without_a_next_value)),
    Row("a name that is no text", dumped(lambda f: f.wiring.meta.update(a=Odd()))),
    Row("an empty id", dumped(lambda f: f.add(node(inc).with_(name=''), x=1))),
]
# fmt: on


def with_formats(data: Any, *points: str, **options: str) -> Stimulus:
    def make(folder: Path) -> object:
        for name in points:
            install(folder, name.partition(" ")[0], f"{name}\n", group="dataflow.formats")
        (folder / "flow.json").write_text(json.dumps(data), encoding="utf-8")
        sys.path.insert(0, str(folder))
        try:
            return Flow.load(folder / "flow.json", **options)
        finally:
            sys.path.remove(str(folder))

    return files(make)


@later
def read(part: Any, use: Callable[[PartReader], object]) -> list[Diagnostic]:
    notes = Notes()
    use(PartReader(notes, part, ("nodes", 0), "node 'a'"))
    return [problem.diagnostic for problem in notes.problems]


class Strict(BaseModel, extra="forbid"):
    size: int = 0

    @field_validator("size")
    @classmethod
    def _is_even(cls, size: int) -> int:
        if size % 2:
            raise ValueError("the size is odd")
        return size


TOY: Final = "toy = tests.formats.toy:FORMAT"

# fmt: off
FOREIGN: Final = [
    Row("an option that the format does not have", with_formats({"toy": ["a"]}, TOY, joins="once")),
    Row("an option of a native document", with_formats({"dataflow": 1}, branch="a")),
    Row("several formats", with_formats({"toy": ["a"]}, TOY, "twin = tests.formats.toy:TWIN")),
    Row("a format that raises", with_formats({"toy": {}}, "faulty = tests.formats.toy:FAULTY")),
    Row("a format without a document", with_formats({"toy": {"returns": 1}}, "faulty = tests.formats.toy:FAULTY")),
    Row("no known format", with_formats({"tay": 1})),
    Row("a broken format", with_formats({"tay": 1}, "toy = tests.formats.nowhere:FORMAT")),
    Row("no format", with_formats({"tay": 1}, "toy = tests.formats.toy:translate")),
    Row("a problem without a kind", read({}, lambda part: part.problem("is of an older version"))),
    Row("an id twice", read({"x": [{"id": "b"}, {"id": "b"}]}, lambda part: unique_ids(part.entries("x", "node")))),
    Row("a part that a model refuses", read({"size": 1}, lambda part: part.checked(Strict))),
]
# fmt: on


def evaluated(source: str, **names: Any) -> Any:
    return lambda: Expression(source).evaluate(names)


def filled(source: str, **names: Any) -> Any:
    return lambda: Template(source).fill(names)


class Raises:
    def __eq__(self, other: object) -> bool:
        raise KeyError("no")

    __hash__ = None


class OddValue:
    def __eq__(self, other: object) -> Any:
        return "yes"

    __hash__ = None


class Recurses:
    def __eq__(self, other: object) -> bool:
        raise RecursionError

    __hash__ = None


ITSELF: Final[list[Any]] = []
ITSELF.append(ITSELF)

# fmt: off
EXPRESSIONS: Final = [
    Row("an empty one", evaluated('')),
    Row("a long one", evaluated('a' * 10001)),
    Row("a comment", filled('{# a #}')),
    Row("a bracket", evaluated('a[')), Row("an underscore", evaluated('a._b')),
    Row("a dollar", evaluated('a $ b')), Row("an escape", evaluated("'\\q'")),
    Row("a character", evaluated('a ? b')),
    Row("brackets", evaluated('(' * 21 + ')' * 21)),
    Row("levels", evaluated('not ' * 30 + 'a')),
    Row("no end", filled('{% if a %}')),
    Row("an end of nothing", filled('{% endif %}')),
    Row("no name", evaluated('a.')), Row("no comma", evaluated('[a b]')),
    Row("a filter", evaluated('a | upper')), Row("a slice", evaluated('a[1:2]', a='x')),
    Row("a keyword", evaluated('a in b is c')),
    Row("a long literal", evaluated('1' * 5000)),
    Row("a large literal", evaluated('1' * 2000)),
    Row("an unknown name", evaluated('a', b=1)),
    Row("no else", evaluated('1 if a', a=True)),
    Row("an unknown function", evaluated('f(1)')),
    Row("a call of a value", evaluated('a.b(1)')),
    Row("arguments", evaluated('len(1, 2)')),
    Row("arguments of round", evaluated('round(1, 2, 3)')),
    Row("no condition", lambda: Expression('a').holds({'a': 1})),
    Row("no number", evaluated('-a', a='x')),
    Row("two that are no numbers", evaluated('a - 1', a='x')),
    Row("unlike sums", evaluated('a + 1', a='x')),
    Row("a large power", evaluated('9 ** 9999')),
    Row("a long text", evaluated('a ~ a', a='x' * 600000)),
    Row("too many steps", evaluated('a == b', a=[['x'] * 1000] * 10000, b=[['x'] * 1000] * 10000)),
    Row("no key of a kind", evaluated('a[b]', a={}, b=[])),
    Row("no field", evaluated('a.b', a=Parts('x', []))),
    Row("no item", evaluated('a[0]', a=3)),
    Row("no such item", evaluated('a[3]', a=[1])),
    Row("unlike values", evaluated('a == b', a=1, b='x')),
    Row("no order", evaluated('a < 1', a=[1])),
    Row("in a text", evaluated("a in 'text'", a=1)),
    Row("in a number", evaluated('1 in a', a=1)),
    Row("a comparison of another kind", evaluated('a == b', a=OddValue(), b=OddValue())),
    Row("a comparison that raises", evaluated('a == b', a=Raises(), b=Raises())),
    Row("no text", evaluated('upper(a)', a=1)),
    Row("no length", evaluated('len(a)', a=1)),
    Row("digits", evaluated('round(1.5, 999)')),
    Row("no number in a text", evaluated('int(a)', a='x')),
    Row("no text of a value", filled('{{ a }}', a=object())),
    Row("a text of itself", filled('{{ a }}', a=ITSELF)),
    Row("a text of a long integer", filled('{{ a }}', a=[10 ** 5000])),
    Row("a full template", filled('{{ a }}{{ a }}', a='x' * 600000)),
    Row("a result too long", lambda: Expression('a').evaluate({'a': 'x' * 1000001})),
    Row("a value nested too deep", evaluated("a == b", a=Recurses(), b=Recurses())),
]  # fmt: skip
# fmt: on


MODULE: Final = """
from dataflow import Pack

__stored_as__ = "messages"

async def fetch(url: str) -> str:
    return url

good = Pack("good", version="1.0", api=1, nodes=[fetch])
newer = Pack("newer", version="1.0", api=2, nodes=[fetch])
twins = Pack("twins", version="1.0", api=1, nodes={"a": "message_packs.one:f", "b": "message_packs.two:f"})
no_pack = 3
"""


async def fetch(url: str) -> str:
    return url


def blocking(x: int) -> int:
    return x


def pack(name: str, nodes: Any) -> Stimulus:
    return lambda: Pack(name, version="1.0", api=1, nodes=nodes)


def found_in(nodes: Any, name: str) -> Stimulus:
    return lambda: Pack("shots", version="1.0", api=1, nodes=nodes).find(name)


@later
def finding(
    id: str, *others: str, disabled: str = "", requires: str = "", hidden: str = "", **distributions: str
) -> object:
    """Find a type, or list the pack of a name without a dot, where these distributions are installed."""
    with (
        TemporaryDirectory() as first,
        TemporaryDirectory() as folder,
        patch.object(sys, "path", [first, *sys.path, folder]),
        patch.dict(os.environ, {"DATAFLOW_DISABLE_PACKS": disabled}),
    ):
        Path(folder, "message_packs.py").write_text(MODULE, encoding="utf-8")
        for name, entry in distributions.items():
            install(Path(folder), name, entry, files=others, requires=requires)
        if hidden:
            Path(first, hidden).touch()
            Path(folder, hidden).touch()
        try:
            return (
                find_type(id) if "." in id else [one.fault.reason for one in installed_packs(id) if one.fault]
            )
        finally:
            sys.modules.pop("message_packs", None)


GOOD: Final = "good = message_packs:good"
TWICE: Final = "good = message_packs:good\ngood = message_packs:other"

# fmt: off
PACKS: Final = [
    Row("a name of a pack", pack("sho.ts", [])),
    Row("a name of a node type", pack("shots", {"a b": "m:f"})),
    Row("two node types of one name", pack("shots", [fetch, node(name="fetch")(fetch)])),
    Row("a place of a node type", pack("shots", {"a": "m.f"})),
    Row("a number for a node type", pack("shots", {"a": 3})),
    Row("a function that blocks", found_in([blocking], "blocking"), hide="unusable: .*"),
    Row("no such node type", found_in([fetch], "fetsch")),
    Row("no such node type in an installed pack", finding("good.scan", shots=GOOD)),
    Row("no such distribution", finding("no-such:good.fetch", shots=GOOD)),
    Row("a node type of two distributions", finding("good.fetch", shots=GOOD, another=GOOD)),
    Row("a number for a pack", finding("good.fetch", shots="good = message_packs:no_pack")),
    Row("a pack under another name", finding("other.fetch", shots="other = message_packs:good")),
    Row("a pack for a later release", finding("newer.fetch", shots="newer = message_packs:newer")),
    Row("two functions of one public name", finding("twins.a", shots="twins = message_packs:twins")),
    Row("a disabled pack", finding("good.fetch", disabled="good", shots=GOOD)),
    Row("a pack with the name of one of the engine", finding("shots:control.fetch", shots="control = message_packs:good")),
    Row("an entry point without an object", finding("good.fetch", shots="good = message_packs")),
    Row("a file of two distributions", finding("good.fetch", "message_packs.py", shots=GOOD, another="fine = message_packs:good")),
    Row("a module that another hides", finding("good.fetch", "hidden_by_one.py", hidden="hidden_by_one.py", shots=GOOD), hide="(?<=hidden by ).*(?=hidden_by)"),
    Row("a pack for a later engine", finding("good.fetch", requires="dataflow-engine>=99", shots=GOOD), hide="(?<=found )[^ ]*"),
    Row("two entry points of one name", finding("good.fetch", shots=TWICE)),
    Row("malformed metadata", finding("(unreadable)", torn="this line has no value"), hide="(?<=TypeError: ).*"),
]
# fmt: on

TABLES: Final = {
    "documents": DOCUMENTS, "saving": SAVING, "foreign": FOREIGN, "expressions": EXPRESSIONS, "packs": PACKS,
}  # fmt: skip
