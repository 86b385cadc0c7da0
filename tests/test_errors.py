"""Each error carries data and makes its own text (S20)."""

from __future__ import annotations

import pytest

from dataflow import (
    AnswerRefused,
    BudgetExceeded,
    ConversationInvalid,
    DataflowError,
    ExpressionError,
    Failure,
    Flow,
    FlowEdited,
    FlowInvalid,
    FormatError,
    LoopLimit,
    NodeFailed,
    PackError,
    Paused,
    PortMisuse,
    Result,
    RunFailed,
    RunTaken,
    SecretMissing,
    StoreError,
    ValueMismatch,
    ValueRefused,
)
from dataflow.base.wording import choices

TEXTS = [
    (FlowInvalid("f", ["a is wrong"]), "flow 'f' has 1 problem:\n  - a is wrong"),
    (
        FlowInvalid("f", ["a is wrong", "b is wrong"]),
        "flow 'f' has 2 problems:\n  - a is wrong\n  - b is wrong",
    ),
    (FlowInvalid("f", []), "flow 'f' has 0 problems:"),
    (FlowInvalid("fetch", ["a is wrong"], "node type"), "node type 'fetch' has 1 problem:\n  - a is wrong"),
    (
        PortMisuse("'a.out'", "bool", "decide inside a node"),
        (
            "port 'a.out' has no value while the flow is wired, "
            "so it cannot be used with bool; decide inside a node"
        ),
    ),
    (ValueMismatch("str", "int"), "expected int, found str"),
    (ValueMismatch("str", "int", "[0].size"), "[0].size: expected int, found str"),
    (NodeFailed("a", "returned too much"), "node 'a' returned too much"),
    (
        LoopLimit("loop", 3),
        "node 'loop' reached its limit of 3 rounds, and its test still asks for another",
    ),
    (ExpressionError("a >", "is no expression"), "expression 'a >': is no expression"),
    (ExpressionError("{{ a", "is open", "template"), "template '{{ a': is open"),
    (ExpressionError("a" * 101, "long"), f"expression '{'a' * 39}... 23 characters ...{'a' * 39}': long"),
    (ConversationInvalid("c", 1, "is wrong"), "message 1 of conversation 'c' is wrong"),
    (
        BudgetExceeded("c", 2_000, 1_000),
        (
            "conversation 'c' does not fit a budget of 1,000: its system text, pinned messages and last turn "
            "come to 2,000"
        ),
    ),
    (
        ValueRefused('a.out["h"][1]', "object", "it has no fields"),
        'a.out["h"][1]: object cannot be stored: it has no fields',
    ),
    (SecretMissing("TOKEN", "is not set"), "secret 'TOKEN' is not set"),
    (StoreError("runs.db", "the disk is full"), "store runs.db: the disk is full"),
    (RunTaken("runs.db", "run-1"), "store runs.db: run run-1 is being executed by somebody else"),
    (
        FlowEdited("run-1", ["c"], ["a"], ["b (type)"]),
        (
            "run run-1 stays as it was, since the flow was edited meanwhile: "
            "added: c; removed: a; changed: b (type); say "
            "edited='keep' to let what was settled stand, or edited='recompute' to run it again"
        ),
    ),
    (
        FlowEdited("run-1", [], [], ["b (type)"], ["x -> y"]),
        (
            "run run-1 stays as it was, since the flow was edited meanwhile: changed: b (type); "
            "node types are called after their module, renamed: x -> y; say "
            "edited='keep' to let what was settled stand, or edited='recompute' to run it again"
        ),
    ),
    (AnswerRefused("ok", "it has expired"), "answer to 'ok' refused: it has expired"),
    (PackError("shots.ocr", "is missing"), "shots.ocr: is missing"),
    (FormatError("a.yaml", "is empty"), "a.yaml: is empty"),
    (FormatError("a.yaml", "is no list", 3), "a.yaml:3: is no list"),
    (FormatError("a.yaml", "is no list", 3, 7), "a.yaml:3:7: is no list"),
]


@pytest.mark.parametrize(("error", "text"), TEXTS, ids=lambda value: type(value).__name__)
def test_the_text_of_an_error_is_whole(error: DataflowError, text: str) -> None:
    assert str(error) == text


@pytest.mark.parametrize(
    ("count", "shown", "end"), [(100, 100, "n99"), (101, 101, "and 1 more"), (350, 101, "and 250 more")]
)
def test_an_invalid_flow_tells_a_hundred_problems_and_counts_the_rest(
    count: int, shown: int, end: str
) -> None:
    error = FlowInvalid("f", [f"n{number}" for number in range(count)])
    head, *lines = str(error).splitlines()
    assert head == f"flow 'f' has {count} problems:"
    assert (len(lines), lines[-1]) == (shown, f"  - {end}")
    assert len(error.problems) == count


@pytest.mark.parametrize(
    ("kind", "parent"),
    [
        (FlowInvalid, DataflowError),
        (PortMisuse, FlowInvalid),
        (ValueMismatch, DataflowError),
        (NodeFailed, DataflowError),
        (LoopLimit, NodeFailed),
        (RunFailed, DataflowError),
        (Paused, DataflowError),
        (ValueRefused, DataflowError),
        (SecretMissing, DataflowError),
        (StoreError, DataflowError),
        (RunTaken, StoreError),
        (FlowEdited, DataflowError),
        (AnswerRefused, DataflowError),
        (ExpressionError, DataflowError),
        (PackError, DataflowError),
        (FormatError, DataflowError),
    ],
)
def test_an_error_is_one_of_the_more_general_kind(kind: type, parent: type) -> None:
    assert kind.__bases__ == (parent,)


def test_errors_carry_their_data() -> None:
    invalid = FlowInvalid("f", ["a", "b"])
    misuse = PortMisuse("'a.out'", "bool", "advice")
    mismatch = ValueMismatch("str", "int", "[0]")
    failed = NodeFailed("a", "broke")
    limit = LoopLimit("loop", 3)
    pack = PackError("shots", "is missing")
    place = FormatError("a.yaml", "is empty", 1, 2)
    assert (invalid.flow, invalid.problems) == ("f", ("a", "b"))
    assert (misuse.port, misuse.use) == ("'a.out'", "bool")
    assert (mismatch.found, mismatch.expected, mismatch.place) == ("str", "int", "[0]")
    assert (failed.node, failed.reason) == ("a", "broke")
    assert (limit.node, limit.loop, limit.limit) == ("loop", "loop", 3)
    assert (pack.name, pack.reason) == ("shots", "is missing")
    assert (place.place, place.reason, place.line, place.column) == ("a.yaml", "is empty", 1, 2)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], "there are none"),
        (["a"], "choices: a"),
        (["b", "a"], "choices: b, a"),
        ([f"n{number}" for number in range(12)], f"choices: {', '.join(f'n{n}' for n in range(12))}"),
        (
            [f"n{number}" for number in range(14)],
            f"choices: {', '.join(f'n{n}' for n in range(12))} and 2 more",
        ),
    ],
)
def test_choices_are_listed_in_order_and_shortened(names: list[str], text: str) -> None:
    assert choices(names) == text


async def completed() -> Result:
    return await Flow("f").run()


def failures(count: int) -> list[Failure]:
    return [Failure(f"n{n}", f"loop[0]/n{n}", 1, "ValueError", f"no {n}", "") for n in range(count)]


async def test_a_failed_run_names_path_and_error() -> None:
    result = await completed()
    error = RunFailed(result, failures(1))
    assert str(error) == f"run {result.run_id} failed: loop[0]/n0: ValueError: no 0"
    assert error.result is result
    assert error.failures == tuple(failures(1))


@pytest.mark.parametrize(("attempt", "place"), [(1, "n"), (2, "n (attempt 2)"), (12, "n (attempt 12)")])
async def test_a_failed_run_names_an_attempt_that_was_not_the_first(attempt: int, place: str) -> None:
    result = await completed()
    error = RunFailed(result, [Failure("n", "n", attempt, "ValueError", "no", "")])
    assert str(error) == f"run {result.run_id} failed: {place}: ValueError: no"


async def test_a_failed_run_names_five_failures_and_counts_the_rest() -> None:
    result = await completed()
    told = [f"loop[0]/n{n}: ValueError: no {n}" for n in range(5)]
    assert str(RunFailed(result, failures(5))) == f"run {result.run_id} failed: {'; '.join(told)}"
    assert (
        str(RunFailed(result, failures(7)))
        == f"run {result.run_id} failed: {'; '.join([*told, 'and 2 more'])}"
    )
