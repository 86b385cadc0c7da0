"""Which edits of a flow make a node another one, and what they mean for a run (S11.4, B28)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from dataflow import (
    AnswerRefused,
    Config,
    Flow,
    collect,
    each,
    fallback,
    merge,
    node,
)  # fmt: skip
from dataflow.diagnostics.changes import CODE_CHANGED
from dataflow.durable.edits import Edits, check_edits, compare
from dataflow.durable.graph_signature import FlowShape, NodeShape, shape_of
from dataflow.errors import FlowEdited
from dataflow.stores import Answer, Store
from dataflow.values.functions import digest_of
from tests.properties.playing import flow_of
from tests.properties.random_flows import Program, programs, sample
from tests.support.processes import printed_with
from tests.support.quick_nodes import Set, add, configured, defaulted, inc

Wire = Callable[[Flow], object]


def shape(wire: Wire) -> FlowShape:
    flow = Flow("versions")
    with flow:
        wire(flow)
    return shape_of(flow.compile())


def differing(one: Wire, other: Wire, address: str) -> tuple[str, ...]:
    old, new = shape(one).entries[address], shape(other).entries[address]
    return tuple(name for name in NodeShape._fields if getattr(old, name) != getattr(new, name))


class Asked(Config):
    by: int = 1
    decide: Any = None
    names: tuple[str, ...] = ()


async def asking(config: Asked, x: int) -> int:
    return x + config.by


async def dec(x: int) -> int:
    return x - 1


def versioned(version: str, function: Any = inc) -> Any:
    return node(version=version, name="a")(function)


def placed(function: Any, **given: Any) -> Wire:
    given = given or {"x": 1}
    return lambda f: f.add(node(name="a")(function), **given)


def two(wire: Callable[[Any, Any], Any]) -> Wire:
    def wired(f: Flow) -> None:
        one, other = f.add(node(name="one")(inc), x=1).out, f.add(node(name="other")(inc), x=2).out
        f.add(node(name="a")(inc), x=wire(one, other))

    return wired


def looping(
    *,
    limit: int = 9,
    first: int = 0,
    by: Any = inc,
    test: Any = None,
    kind: str = "until",
) -> Wire:
    def wired(f: Flow) -> None:
        with f.loop(name="a", limit=limit) as loop:
            carry = loop.carry(first)
            step = f.add(node(name="step")(by), x=carry.out)
            carry.next(step.out)
            if kind == "until":
                loop.until(step.out, test or is_big)
            else:
                loop.while_(carry.out, test or is_big)
        f.add(node(name="reader")(inc), x=carry.final)

    return wired


def is_big(x: int) -> bool:
    return x > 3


def is_small(x: int) -> bool:
    return x < 3


def mapping(by: Any = inc, **options: Any) -> Wire:
    def wired(f: Flow) -> None:
        item: Any = each(f.input("xs", list[int]), **options)
        f.output("y", collect(f.add(node(name="a")(by), x=item).out))

    return wired


def nesting(*, given: int = 1, default: int = 2, reads: str = "last", inner: Any = inc) -> Wire:
    def wired(f: Flow) -> None:
        with Flow("a") as nested:
            x, y = nested.input("x", int), nested.input("y", int, default=default)
            first = nested.add(node(name="first")(inner), x=x)
            steps = {"first": first, "last": nested.add(add, x=first.out, y=y)}
            nested.output("y", steps[reads].out)
        f.add(nested, x=given)

    return wired


def after(*names: str) -> Wire:
    def wired(f: Flow) -> None:
        made = {name: f.add(node(name=name)(inc), x=1) for name in ("one", "other")}
        f.after(f.add(node(name="a")(inc), x=1), *(made[name].done for name in names))

    return wired


EDITS: list[tuple[str, Wire, Wire, tuple[str, ...]]] = [
    ("nothing", placed(inc), placed(inc), ()),
    ("another function", placed(inc), placed(dec), ("type", "code")),
    ("the version", lambda f: f.add(versioned("1"), x=1), lambda f: f.add(versioned("2"), x=1), ("version",)),
    ("a constant", placed(inc, x=1), placed(inc, x=2), ("wiring",)),
    ("the type of a constant", placed(inc, x=1), placed(inc, x=True), ("wiring",)),
    ("a default that is written out", placed(defaulted), placed(defaulted, x=1, y=2), ("wiring",)),
    ("the order of the ports", placed(add, x=1, y=2), placed(add, y=2, x=1), ()),
    (
        "a config",
        lambda f: f.add(node(name="a")(configured), config=Set(by=1), x=1),
        lambda f: f.add(node(name="a")(configured), config=Set(by=2), x=1),
        ("config", "code"),  # a field with its default counts with the code
    ),
    (
        "a field of a config that is set to its default",
        lambda f: f.add(node(name="a")(configured), config=Set(), x=1),
        lambda f: f.add(node(name="a")(configured), config=Set(by=1), x=1),
        (),
    ),
    (
        "the code of a function in a config",
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=lambda x: x > 1), x=1),
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=lambda x: x > 2), x=1),
        ("code",),
    ),
    (
        "a function in a config",
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=is_big), x=1),
        lambda f: f.add(node(name="a")(asking), config=Asked(decide=is_small), x=1),
        ("config", "code"),
    ),
    ("a source", two(lambda one, _: one), two(lambda _, other: other), ("wiring",)),
    ("a join in between", two(lambda one, _: one), two(merge), ("wiring",)),
    ("the mode of a join", two(merge), two(fallback), ("wiring",)),
    ("the order of a join", two(merge), two(lambda one, other: merge(other, one)), ("wiring",)),
    ("what comes before", after("one"), after("other"), ("wiring",)),
    ("the order of what comes before", after("one", "other"), after("other", "one"), ()),
    ("a setting", lambda f: f.add(node(name="a", retries=2, timeout=3.0)(inc), x=1), placed(inc), ()),
    (
        "a node that is left out",
        placed(inc),
        lambda f: f.add(node(name="a")(inc).with_(enabled=False), x=1),
        (),
    ),
    ("an output of the flow", placed(inc), lambda f: f.output("y", f.add(node(name="a")(inc), x=1).out), ()),
    ("the limit of a loop", looping(limit=9), looping(limit=5), ()),
    ("the first value of a loop", looping(first=0), looping(first=1), ("wiring",)),
    ("the test of a loop", looping(test=is_big), looping(test=is_small), ("wiring", "code")),
    ("the code of a test", looping(test=lambda x: x > 1), looping(test=lambda x: x > 2), ("code",)),
    ("the kind of a test", looping(), looping(kind="while"), ("wiring",)),
    ("the function of a node in a loop", looping(), looping(by=dec), ()),
    ("how many items run at once", mapping(), mapping(max_concurrency=2), ()),
    ("what failed items do", mapping(), mapping(on_error="skip"), ("config",)),
    ("the keys of a map", mapping(), mapping(key=str), ("config",)),
    ("what a flow node is given", nesting(given=1), nesting(given=2), ("wiring",)),
    ("a default of a flow node", nesting(default=1), nesting(default=2), ("wiring",)),
    ("what leaves a flow node", nesting(reads="last"), nesting(reads="first"), ("wiring",)),
    ("the function of a node in a flow node", nesting(), nesting(inner=dec), ()),
    ("the code of a key", mapping(key=lambda x: f"{x}"), mapping(key=lambda x: f"_{x}"), ("code",)),
]


def test_an_edit_is_told_by_the_parts_that_differ() -> None:
    for name, one, other, parts in EDITS:
        assert differing(one, other, "a") == parts, name


def test_an_inner_node_that_was_edited_is_told_under_its_own_address() -> None:
    assert differing(nesting(), nesting(inner=dec), "a/first") == ("type", "code")
    assert differing(looping(), looping(by=dec), "a/step") == ("type", "code")


def test_a_condition_of_a_document_counts_as_it_is_written() -> None:
    def entry(condition: str) -> NodeShape:
        branch = {
            "type": "control.if",
            "config": {"condition": condition},
            "inputs": {"value": "$in.x"},
        }
        return shape_of(
            flow_of({"dataflow": 1, "inputs": {"x": {}}, "nodes": {"a": branch}}).compile()
        ).entries["a"]

    assert entry("value > 1") == entry("value > 1")
    assert entry("value > 1").config != entry("value > 2").config


# writing and reading


def test_another_text_is_refused() -> None:
    for text in (
        "",
        "[]",
        "{}",
        '{"shape":1,"texts":[],"nodes":{"a":[0,0,0,0,0]}}',
        '{"shape":1,"texts":["t"],"nodes":{"a":[0]}}',
    ):
        with pytest.raises(ValueError, match="DF1118"):
            FlowShape.read(text)
    with pytest.raises(ValueError, match="DF1111"):
        FlowShape.read('{"shape":2,"texts":[],"nodes":{}}')


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(programs())
def test_a_flow_that_is_built_twice_has_one_shape(program: Program) -> None:
    one, other = (shape_of(flow_of(program.document).compile()) for _ in range(2))
    assert one == other == FlowShape.read(one.write())


def digest() -> str:
    found = [shape_of(flow_of(sample(seed).document).compile()) for seed in range(50)]
    found.append(shape(mapping(key=lambda x: f"{x in {'a', 'b', 'c'}}")))
    return digest_of(" ".join(one.write() for one in found))


def test_processes_with_other_hash_seeds_tell_the_same() -> None:
    code = "from tests.durable.test_graph_signature import digest; print(digest())"
    told = [printed_with(seed, code) for seed in ("1", "2")]
    assert told == [digest()] * 2


RUN = "20261128T120000Z-0a1b2c3d"


async def ask(x: int) -> int:
    return x


def chain(*ids: str, **functions: Any) -> FlowShape:
    with Flow("chain") as flow:
        last: Any = 1
        for id in ids:
            last = flow.add(node(name=id)(functions.get(id, ask if id == "ask" else inc)), x=last).out
        flow.output("y", last)
    return shape_of(flow.compile())


def same_code(function: Any, other: Any) -> Any:
    """Give a function the code of another, as an edit of its file does."""
    edited = type(function)(other.__code__, function.__globals__, function.__name__)
    edited.__qualname__, edited.__module__ = function.__qualname__, function.__module__
    edited.__annotations__ = function.__annotations__
    return edited


STORED = chain("a", "ask", "b")
SETTLED = {"a"}  # the run waits for the answer


def edited(shape: FlowShape) -> Edits:
    return compare(STORED, shape)


# what was edited


def test_edits_are_found() -> None:
    assert edited(chain("a", "ask", "b")).is_none
    assert edited(chain("a", "ask", "b", "c")) == Edits(added=("c",))
    assert edited(chain("a", "ask", "b2")) == Edits(renamed={"b": "b2"})
    assert edited(chain("ask", "b")) == Edits(removed=("a",), changed={"ask": ("wiring",)})
    assert edited(chain("a", "ask", "b", a=dec)).changed == {"a": ("type", "code")}


def test_what_is_inside_a_renamed_node_is_renamed_with_it() -> None:
    def nested(name: str) -> FlowShape:
        with Flow(name) as flow:
            flow.add(inc, x=flow.input("x", int))
        with Flow("outer") as outer, outer.loop(name=name, limit=2) as loop:
            carry = loop.carry(0)
            carry.next(outer.add(node(name="step")(add), x=carry.out, y=1).out)
        return shape_of(outer.compile())

    assert compare(nested("a"), nested("b")).renamed == {"a": "b", "a/step": "b/step"}


# what it means for a run


def test_code_of_a_settled_node_may_change_with_a_warning() -> None:
    """B28 (4)."""
    edits = edited(chain("a", "ask", "b", a=same_code(inc, dec)))
    assert edits.changed == {"a": ("code",)}
    assert check_edits(RUN, edited(chain("a", "ask", "b", b=same_code(inc, dec))), SETTLED) == []
    assert check_edits(RUN, edits, SETTLED) == [str(CODE_CHANGED("a"))]


def test_a_settled_node_may_not_be_changed() -> None:
    for part in ("type", "version", "config", "wiring"):
        edits = Edits(changed={"a": (part,)})
        with pytest.raises(FlowEdited, match=rf"changed: a \({part}\)"):
            check_edits(RUN, edits, SETTLED)
        assert check_edits(RUN, edits, {"b"}) == []


def test_a_module_that_was_renamed_is_told() -> None:
    async def inc(x: int) -> int:
        return x + 1

    inc.__qualname__, inc.__module__ = "inc", "tests.renamed"
    edits = edited(chain("a", "ask", "b", a=inc))
    assert edits.changed["a"] == ("type", "code")
    assert edits.modules == {"tests.support.quick_nodes": "tests.renamed"}
    assert edited(chain("a", "ask", "b", a=dec)).modules == {}
    with pytest.raises(FlowEdited) as caught:
        check_edits(RUN, edits, SETTLED)
    assert caught.value.changed == ("a (type, code)",)
    assert caught.value.modules == ("tests.support.quick_nodes -> tests.renamed",)


# asks that waited when the flow was edited


def of_asks(store: Store, *prompts: str) -> Flow:
    with Flow("asks") as f:
        for number, prompt in enumerate(prompts):
            f.output(f"o{number}", f.ask(int, prompt, name=f"q{number}").out)
    return f.using(store=store)


async def test_an_open_ask_that_was_removed_is_closed_and_one_with_another_prompt_asked_again() -> None:
    store = Store.memory()
    run = (await of_asks(store, "a?", "b?").run()).run_id
    with pytest.raises(AnswerRefused, match="'q1'"):
        await of_asks(store, "a?").resume(run, {"q1": 1})
    await of_asks(store, "a?").resume(run)
    assert [ask.id for ask in store.asks()] == ["q0"]
    again = await of_asks(store, "what?").resume(run)
    assert [(ask.id, ask.prompt) for ask in again.asks] == [("q0", "what?")]
    store.answer(run, Answer("q0", "1"))
    edited = await of_asks(store, "how?").resume(run)  # the answer was given to the other prompt
    assert (edited.status, [text.split()[0] for text in edited.warnings]) == ("paused", ["DF0853"])
    assert (await of_asks(store, "how?").resume(run, {"q0": 1})).outputs == {"o0": 1}
