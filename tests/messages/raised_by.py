# ruff: noqa: ARG005
# mypy: disable-error-code="arg-type, call-arg, call-overload, return-value"
"""The whole text of each class of errors, as a traceback shows it, with its data (S20)."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import anyio
import pytest

from dataflow import DataflowError, ExecutionContext, Flow, Message, Secret, node
from dataflow.expressions.expression import Expression
from dataflow.inspection.stored_run import firing_object, read_run
from dataflow.loading import read_document
from dataflow.packs.registry import find_type
from dataflow.stores import Store
from dataflow.testing.samples import new_run
from dataflow.types.validation import check_value
from dataflow.values.classes import classes_of
from dataflow.values.writer import Writer
from tests.behaviour.flow_parts import inc
from tests.messages.telling import Row, Stimulus, later


def whole(kind: str, raise_it: Stimulus) -> Stimulus:
    return lambda: str(error_of(kind, raise_it))


def error_of(kind: str, raise_it: Stimulus) -> DataflowError:
    with pytest.raises(DataflowError) as caught:
        raise_it()
    found: BaseException | None = caught.value
    while found is not None and type(found).__name__ != kind:
        found = found.__cause__
    assert isinstance(found, DataflowError), f"expected {kind}, found {caught.value!r}"
    return found


def invalid() -> object:
    f = Flow("digest")
    f.add(inc)
    f.output("a", 1)
    f.output("a", 1)
    return f.compile()


async def waits() -> None:
    await anyio.sleep_forever()


async def paper() -> None:
    raise ValueError("no paper")


@later
def run(function: Any, **inputs: Any) -> object:
    f = Flow("f")
    f.add(function, **inputs)
    return f.run_sync()


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


def context(message: Message) -> ExecutionContext:
    return ExecutionContext("c", message_history=[message])


async def cancels_itself() -> None:
    raise asyncio.CancelledError


def unnamed() -> object:
    store = Store.memory()
    run = store.find(pausing().using(store=store).run_sync().run_id)
    return firing_object(read_run(store, run), store, "inkc")


#: What raises each class of errors, or is its cause.
RAISING: Final[dict[str, Stimulus]] = {
    "FlowInvalid": invalid,
    "PortMisuse": lambda: bool(Flow().input("x", int)),
    "ValueMismatch": lambda: check_value([1, "x"], list[int]),
    "NodeFailed": run(cancels_itself),
    "LoopLimit": looping,
    "NodeTimeout": run(node(waits).with_(timeout=0.001)),
    "RunFailed": run(paper),
    "ExpressionError": lambda: Expression("a >"),
    "AnswerRefused": answered,
    "ArgumentInvalid": lambda: Secret("my secret"),
    "NameUnknown": unnamed, "FlowEdited": edited, "Paused": pulled, "RunTaken": held_twice,
    "SecretMissing": Secret("DATAFLOW_NO_SUCH_SECRET").reveal,
    "StoreError": lambda: Store.memory().find("run"),
    "ConversationInvalid": lambda: context(Message("tool", "3", tool_call_id="t1")).check(),
    "BudgetExceeded": lambda: context(Message("user", "u" * 8_000)).trimmed(1_000),
    "ValueRefused": lambda: Writer(classes_of([]), {}.__setitem__).write([open], "a.out"),
    "PackError": lambda: find_type("inc"),
    "FormatError": lambda: read_document("nowhere.yaml", Flow.from_wiring),
}  # fmt: skip
ROWS: Final = [Row(kind, whole(kind, raise_it)) for kind, raise_it in RAISING.items()]
