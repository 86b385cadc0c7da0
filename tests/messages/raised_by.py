# ruff: noqa: ARG005, E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator"
"""The whole text of each class of errors, as a traceback shows it, with its data (S20)."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import anyio

from dataflow import DataflowError, ExecutionContext, Flow, Message, Secret, node
from dataflow.expressions.expression import Expression
from dataflow.loading import read_document
from dataflow.packs.registry import find_type
from dataflow.stores import Store
from dataflow.testing.samples import new_run
from dataflow.types.validation import check_value
from dataflow.values.classes import classes_of
from dataflow.values.writer import Writer
from tests.behaviour.flow_parts import inc
from tests.messages.telling import Row, Stimulus

__all__ = ["ROWS"]


def whole(kind: str, raise_it: Stimulus) -> Stimulus:
    """Tell the text of an error of this class, or of the cause of a failed run, with the run's id left out."""

    def stimulus() -> str:
        try:
            raise_it()
        except DataflowError as error:
            found: BaseException | None = error
            while found is not None and type(found).__name__ != kind:
                found = found.__cause__
            return str(found)
        return "nothing was raised"

    return stimulus


def invalid() -> object:
    f = Flow("digest")
    f.add(inc)
    f.output("a", 1)
    f.output("a", 1)
    return f.compile()


async def returns_text() -> int:
    return "x"


async def waits() -> None:
    await anyio.sleep_forever()


async def paper() -> None:
    raise ValueError("no paper")


def run(function: Any, **inputs: Any) -> Stimulus:
    def stimulus() -> object:
        f = Flow("f")
        f.add(function, **inputs)
        return f.run_sync()

    return stimulus


def looping() -> object:
    f = Flow("f")
    with f.loop(limit=3, on_limit="fail") as it:
        c = it.carry(0)
        s = f.add(inc, x=c.out)
        c.next(s.out)
        it.until(s.out, lambda x: False)
    return f.run_sync()


def pausing() -> Flow:
    f = Flow("f")
    f.add(inc, x=f.ask(int, "How many?").out)
    return f


def answered() -> object:
    f = pausing()
    return anyio.run(f.resume, f.run_sync(), {"ask": "x"})


def edited() -> object:
    """Resume a run without the node that has given its value."""
    store, f = Store.memory(), pausing()
    f.add(inc, x=1)
    run = f.using(store=store).run_sync().run_id
    return anyio.run(pausing().using(store=store).resume, run)


def held_twice() -> object:
    store = Store.memory()
    store.begin(new_run())
    return store.hold("run")


def pulled() -> object:
    f = pausing()
    return anyio.run(f.pull, "inc.out")


async def cancels_itself() -> None:
    raise asyncio.CancelledError


# fmt: off
ROWS: Final = [
    Row("FlowInvalid", whole('FlowInvalid', invalid), hide=r"/\S+\.py:\d+"),
    Row("PortMisuse", whole('PortMisuse', lambda: bool(Flow().input('x', int)))),
    Row("ValueMismatch", whole('ValueMismatch', lambda: check_value([1, 'x'], list[int]))),
    Row("NodeFailed", whole('NodeFailed', run(cancels_itself))),
    Row("LoopLimit", whole('LoopLimit', looping)),
    Row("NodeTimeout", whole('NodeTimeout', run(node(waits).with_(timeout=0.001)))),
    Row("RunFailed", whole('RunFailed', run(paper))),
    Row("ExpressionError", whole('ExpressionError', lambda: Expression('a >'))),
    Row("AnswerRefused", whole('AnswerRefused', answered)),
    Row("FlowEdited", whole('FlowEdited', edited)),
    Row("Paused", whole('Paused', pulled)),
    Row("RunTaken", whole('RunTaken', held_twice)),
    Row("SecretMissing", whole('SecretMissing', Secret("DATAFLOW_NO_SUCH_SECRET").reveal)),
    Row("StoreError", whole('StoreError', lambda: Store.memory().find("run")), "store in memory: has no run 'run'; there are none"),
    Row("ConversationInvalid", whole("ConversationInvalid", lambda: ExecutionContext("c", message_history=[Message("tool", "3", tool_call_id="t1")]).check())),
    Row("BudgetExceeded", whole("BudgetExceeded", lambda: ExecutionContext("c", message_history=[Message("user", "u" * 8_000)]).trimmed(1_000))),
    Row("ValueRefused", whole('ValueRefused', lambda: Writer(classes_of([]), {}.__setitem__).write([open], "a.out")), "a.out[0]: builtin_function_or_method cannot be stored: it is a function; make it inside the node that needs it, or pass what it would return"),
    Row("PackError", whole('PackError', lambda: find_type('inc'))),
    Row("FormatError", whole('FormatError', lambda: read_document('nowhere.yaml', Flow.from_wiring))),
]
# fmt: on
