"""What an edited flow means for a run that is resumed with it (S11.4, B28)."""

from __future__ import annotations

from typing import Any

import pytest

from dataflow import AnswerRefused, Flow, node
from dataflow.diagnostics.changes import CODE_CHANGED
from dataflow.durable.edits import Edits, check_edits, compare
from dataflow.durable.graph_signature import FlowShape, shape_of
from dataflow.errors import FlowEdited
from dataflow.stores import Store
from tests.support.quick_nodes import add, inc

RUN = "20261128T120000Z-0a1b2c3d"


async def ask(x: int) -> int:
    """Stand in for an ask, which waits."""
    return x


async def dec(x: int) -> int:
    return x - 1


def chain(*ids: str, **functions: Any) -> FlowShape:
    """Make the shape of a chain of nodes; the function of each is `inc` unless another is given."""
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


def asking(store: Store, *prompts: str) -> Flow:
    with Flow("asks") as f:
        for number, prompt in enumerate(prompts):
            f.output(f"o{number}", f.ask(int, prompt, name=f"q{number}").out)
    return f.using(store=store)


async def test_an_open_ask_that_was_removed_is_closed_and_one_with_another_prompt_asked_again() -> None:
    store = Store.memory()
    run = (await asking(store, "a?", "b?").run()).run_id
    with pytest.raises(AnswerRefused, match="'q1'"):
        await asking(store, "a?").resume(run, {"q1": 1})
    await asking(store, "a?").resume(run)
    assert [ask.id for ask in store.asks()] == ["q0"]
    again = await asking(store, "what?").resume(run)
    assert [(ask.id, ask.prompt) for ask in again.asks] == [("q0", "what?")]
    assert (await asking(store, "what?").resume(run, {"q0": 1})).outputs == {"o0": 1}
