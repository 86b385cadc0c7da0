"""Each error carries data and makes its own text (S20)."""

from __future__ import annotations

from dataflow import (
    AnswerRefused,
    ArgumentInvalid,
    ConversationInvalid,
    DataflowError,
    ExpressionError,
    Failure,
    Flow,
    FlowEdited,
    FlowInvalid,
    FormatError,
    LoopLimit,
    NameUnknown,
    NodeFailed,
    NodeTimeout,
    PackError,
    PortMisuse,
    Result,
    RunFailed,
    RunTaken,
    SecretMissing,
    StoreError,
    ValueMismatch,
    ValueRefused,
    errors,
)
from dataflow.base.wording import choices
from dataflow.diagnostics.diagnostic import Kind, Location
from tests.support.codes import codes

WRONG = Kind("XX0001", "is wrong")()
#: Errors that are raised for a problem, by the place of the problem in them.
PLACES: dict[str, DataflowError] = {
    "a": NodeFailed("a", WRONG),
    "expression 'a >'": ExpressionError("a >", WRONG),
    "template '{{ a'": ExpressionError("{{ a", WRONG, "template"),
    f"expression '{'a' * 39}... 23 characters ...{'a' * 39}'": ExpressionError("a" * 101, WRONG),
    "message 1 of conversation 'c'": ConversationInvalid("c", 1, WRONG),
    'a.out["h"][1]': ValueRefused('a.out["h"][1]', "object", WRONG),
    "secret 'TOKEN'": SecretMissing("TOKEN", WRONG),
    "store runs.db": StoreError("runs.db", WRONG),
    "answer to 'ok'": AnswerRefused("ok", WRONG),
    "shots.ocr": PackError("shots.ocr", WRONG),
}


def test_an_error_has_its_problem_at_its_place() -> None:
    assert {place: error.diagnostics for place, error in PLACES.items()} == {
        place: (WRONG.within(place),) for place in PLACES
    }
    assert {str(error) for error in PLACES.values()} == {f"XX0001 {place}: is wrong" for place in PLACES}
    assert all((error.code, error.reason) == ("XX0001", "is wrong") for error in PLACES.values())


def test_an_error_of_a_file_has_its_problem_at_a_line() -> None:
    places: list[tuple[int | None, int | None]] = [(None, None), (3, None), (3, 7)]
    found = [FormatError("a.yaml", WRONG, *place).diagnostics[0].location for place in places]
    assert found == [Location("a.yaml"), Location("a.yaml", 3), Location("a.yaml", 3, 7)]


def test_an_invalid_flow_lists_a_hundred_problems_and_counts_the_rest() -> None:
    for count, shown in ((0, 0), (1, 1), (100, 100), (101, 101), (350, 101)):
        problems = [WRONG.within(f"n{number}") for number in range(count)]
        error = FlowInvalid("f", problems)
        head, *lines = str(error).splitlines()
        assert "'f'" in head
        assert str(count) in head
        assert len(lines) == shown
        assert lines[:100] == [f"  - {problem}" for problem in problems[:100]]
        assert (error.problems, error.diagnostics) == (tuple(problems), tuple(problems))
    assert str(FlowInvalid("fetch", [], "node type")).startswith("node type 'fetch'")


def test_an_error_is_one_of_the_more_general_kind() -> None:
    parents: dict[type, type] = {PortMisuse: FlowInvalid, LoopLimit: NodeFailed, RunTaken: StoreError}
    builtin = {NodeTimeout: TimeoutError, NameUnknown: KeyError, ArgumentInvalid: ValueError}
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, DataflowError) and kind is not DataflowError:
            assert kind.__bases__[0] is parents.get(kind, DataflowError)
            assert len(kind.__bases__) == 1 or kind.__bases__[1] is builtin[kind]


def test_errors_carry_their_data() -> None:
    misuse, mismatch = PortMisuse("'a.out'", "bool", "advice"), ValueMismatch("str", "int", "[0]")
    limit = LoopLimit("loop", 3)
    edited = FlowEdited("run-1", ["c"], ["a"], ["b (type)"], ["x -> y"])
    assert (misuse.port, misuse.use, codes(misuse)) == ("'a.out'", "bool", ["DF0201 a.out"])
    assert (mismatch.found, mismatch.expected, mismatch.place) == ("str", "int", "[0]")
    assert codes(mismatch) == ["DF0601 [0]"]
    assert (limit.node, limit.loop, limit.limit, codes(limit)) == ("loop", "loop", 3, ["DF0803 loop"])
    assert all(part in edited.edits for part in ("added: c", "removed: a", "changed: b (type)", "x -> y"))
    assert codes(edited) == ["DF1201 run run-1"]


def test_choices_are_listed_in_order_and_shortened() -> None:
    names = [f"n{number}" for number in range(14)]
    assert choices(names[:12]).endswith(f" {', '.join(names[:12])}")
    assert choices(names).endswith(f" {', '.join(names[:12])} and 2 more")
    assert choices([]) == "there are none"


async def completed() -> Result:
    return await Flow("f").run()


def failures(count: int) -> list[Failure]:
    return [Failure(f"n{n}", f"loop[0]/n{n}", 1, "ValueError", f"no {n}", "") for n in range(count)]


async def test_a_failed_run_names_path_error_and_attempt() -> None:
    result = await completed()
    error = RunFailed(result, failures(1))
    assert dict(error.diagnostics[0].details) == {"failures": "loop[0]/n0: ValueError: no 0"}
    assert codes(error) == [f"DF0801 run {result.run_id}"]
    assert (error.result, error.failures) == (result, tuple(failures(1)))
    for attempt, place in ((1, "n"), (2, "n (attempt 2)"), (12, "n (attempt 12)")):
        error = RunFailed(result, [Failure("n", "n", attempt, "ValueError", "no", "")])
        assert dict(error.diagnostics[0].details) == {"failures": f"{place}: ValueError: no"}


async def test_a_failed_run_names_five_failures_and_counts_the_rest() -> None:
    result = await completed()
    named = [f"loop[0]/n{n}: ValueError: no {n}" for n in range(5)]
    for count, more in ((5, []), (7, ["and 2 more"])):
        error = RunFailed(result, failures(count))
        assert dict(error.diagnostics[0].details) == {"failures": "; ".join([*named, *more])}
