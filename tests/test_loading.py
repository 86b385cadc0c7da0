"""Documents, the Python files that they name, and the flows that the command line finds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dataflow import Flow, FlowInvalid, PackError
from dataflow.cli.targets import find_flow
from dataflow.compiler.graph import CallAction
from dataflow.compiler.names import FindFunction, FindType
from dataflow.core.wiring import Wiring
from dataflow.loading import read_document

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
    text = DOCUMENT.replace("outputs:", "  far: {type: 'os.path:join', inputs: {a: inc}}\noutputs:")
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
