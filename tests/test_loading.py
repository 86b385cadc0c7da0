"""Loading flows and functions of files, and what errors carry and say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

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
from dataflow.cli.targets import find_flow
from dataflow.compiler.graph import CallAction
from dataflow.compiler.names import FindFunction, FindType
from dataflow.core.wiring import Wiring
from dataflow.diagnostics.diagnostic import Kind, Location
from dataflow.loading import read_document
from tests.support.codes import codes

NODES = """
from beside import STEP

async def inc(n: int) -> int:
    return n + STEP

def is_large(n: int) -> bool:
    return n > 9
"""

DOCUMENT = """
dataflow: 1
uses: {own: ./nodes.py}
inputs: {n: {type: integer}}
nodes:
  inc: {type: own.inc, inputs: {n: $in.n}}
  size: {type: control.if, config: {predicate: "own:is_large"}, inputs: {value: inc}}
outputs: {large: size.yes, small: size.no}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("STEP = 1\n")
    (tmp_path / "nodes.py").write_text(NODES)
    (tmp_path / "flow.yaml").write_text(DOCUMENT)
    return tmp_path


async def test_the_functions_of_a_used_file_are_found(folder: Path) -> None:
    flow = Flow.load(folder / "flow.yaml")
    assert dict((await flow.run(n=1)).outputs) == {"small": 2}
    assert dict((await flow.run(n=9)).outputs) == {"large": 10}
    assert str(folder) not in sys.path


async def test_a_used_module_is_imported_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(
        "dataflow: 1\nuses: {digest: tests.docs.pages}\nnodes: {a: {type: digest.nothing}}\n"
    )
    with pytest.raises(FlowInvalid, match=r"DF0144 a: digest\.nothing:"):
        Flow.load(tmp_path / "flow.yaml")


def test_a_function_is_named_after_the_file_it_is_in(folder: Path) -> None:
    flow = find_flow(_python(folder, "flow.add(inc, n=1)"))
    [node] = flow.compile().root.nodes
    assert getattr(node.action, "type").id == "made:inc"  # noqa: B009 - any action has it here


def test_what_cannot_be_used_is_a_problem_each_time(folder: Path) -> None:
    (folder / "raises.py").write_text("1 / 0\n")
    (folder / "leaves.py").write_text("import sys\nsys.exit(3)\n")
    for uses, problem in {
        "./nowhere.py": "DF0142",
        "./raises.py": "ZeroDivisionError: division by zero",
        "./leaves.py": "SystemExit: 3",
        "no.such.module": "ModuleNotFoundError: No module named 'no'",
        "./beside.py": "DF0144",
    }.items():
        (folder / "flow.yaml").write_text(DOCUMENT.replace("./nodes.py", uses))
        for _ in range(2):
            with pytest.raises(FlowInvalid, match=problem):
                Flow.load(folder / "flow.yaml")


def test_nothing_is_imported_unless_asked_for(folder: Path) -> None:
    (folder / "nodes.py").write_text("raise SystemExit\n")
    far = "far: {type: 'os.path:join', policy: {default: 7}, inputs: {a: inc}}"
    text = DOCUMENT.replace("outputs:", f"  {far}\noutputs:")
    (folder / "flow.yaml").write_text(text)
    flow = Flow.from_wiring(*read_document(folder / "flow.yaml", Flow.from_wiring, imports=False))
    graph = flow.examine()
    assert graph.problems == []
    assert graph.opaque == ["own.inc", "own:is_large", "os.path:join"]
    with pytest.raises(FlowInvalid, match=r"own\.inc"):
        flow.compile()


def _python(folder: Path, body: str) -> str:
    file = folder / "made.py"
    file.write_text(f"from dataflow import Flow\n{NODES}\nwith Flow('made') as flow:\n    {body}\n")
    return str(file)


def test_the_only_flow_of_a_file_needs_no_name(folder: Path) -> None:
    target = _python(folder, "pass")
    assert find_flow(target).name == find_flow(f"{target}:flow").name == "made"


def test_a_module_without_the_flow_is_a_problem() -> None:
    with pytest.raises(PackError, match=r"tests\.docs\.pages:flow"):
        find_flow("tests.docs.pages:flow")


def test_a_document_is_found_by_its_path(folder: Path) -> None:
    assert find_flow(str(folder / "flow.yaml")).check() == []


def test_a_type_is_looked_up_once_for_all_flows_of_a_document(tmp_path: Path) -> None:
    """What is not looked into is made again each time that it is looked up."""
    inner = "{dataflow: 1, nodes: {a: {type: 'm:f'}}}"
    file = tmp_path / "flow.yaml"
    file.write_text(f"dataflow: 1\nnodes: {{x: {{flow: {inner}}}, y: {{flow: {inner}}}}}\n")
    finding = []

    def noted(wiring: Wiring, find_type: FindType, find_function: FindFunction) -> Flow:
        finding.append(find_type)
        return Flow.from_wiring(wiring, find_type, find_function)

    read_document(file, noted, imports=False)
    assert len({find_type("m:f") for find_type in finding}) == 1


def test_flows_of_a_document_that_use_other_files_have_their_own_types(tmp_path: Path) -> None:
    for name, result in (("one", "int"), ("two", "str")):
        (tmp_path / f"{name}.py").write_text(f"async def make() -> {result}: ...\n")
    flow = "{{dataflow: 1, uses: {{own: ./{}.py}}, nodes: {{a: {{type: own.make}}}}, outputs: {{out: a}}}}"
    nodes = ", ".join(f"{name}: {{flow: {flow.format(name)}}}" for name in ("one", "two"))
    (tmp_path / "flow.yaml").write_text(f"dataflow: 1\nnodes: {{{nodes}}}\n")
    loaded = Flow.load(tmp_path / "flow.yaml")
    examined = loaded.examine().vertices
    types = [vertex.action.type for vertex in examined if isinstance(vertex.action, CallAction)]
    assert [one.outputs["out"].type for one in types] == [int, str]


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
