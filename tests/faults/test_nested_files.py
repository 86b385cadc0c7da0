"""F-R08: flow files nest up to the documented limit on any stack; the nodes of a whole flow are bounded."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dataflow import Flow, FlowInvalid, FormatError, Store
from dataflow.compiler import passes

LEAF = "dataflow: 1\nnodes:\n  a: {type: control.template, config: {template: x}}\noutputs: {o: a}\n"


def chain(folder: Path, files: int, body: str = "  a: {{flow: {0}}}\noutputs: {{o: a.o}}\n") -> None:
    """Write files that each nest the one before."""
    (folder / "c0.yaml").write_text(LEAF)
    for number in range(1, files):
        nested = body.format(f"./c{number - 1}.yaml")
        (folder / f"c{number}.yaml").write_text(f"dataflow: 1\nnodes:\n{nested}")


@contextmanager
def few_frames(left: int = 150) -> Iterator[None]:
    """Let the block use a stack of so many more frames, so that no recursion fits that follows the files."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + left)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def test_a_hundred_deep_is_fine(tmp_path: Path) -> None:
    chain(tmp_path, 101)
    flow = Flow.load(tmp_path / "c3.yaml")
    assert flow.run_sync()["o"] == "x"  # what is loaded on first use
    with few_frames():
        flow = Flow.load(tmp_path / "c100.yaml")
        assert flow.check() == []
        assert flow.to_dict()["nodes"] == {"a": {"flow": "./c99.yaml"}}
    store = Store.memory()
    result = flow.using(store=store).run_sync()
    assert result["o"] == "x"
    assert result.states["/".join("a" * 101)] == "done"


@pytest.mark.parametrize("files", [102, 120, 600])
def test_deeper_is_one_problem_with_the_limit_and_the_file(tmp_path: Path, files: int) -> None:
    chain(tmp_path, files)
    with few_frames(), pytest.raises(FormatError) as caught:
        Flow.load(tmp_path / f"c{files - 1}.yaml")
    [problem] = caught.value.diagnostics
    assert (problem.code, problem.expected) == ("DF0207", "at most 100 levels")
    assert Path(problem.location.file).name == "c101.yaml"


INLINE = (
    "  a: {{flow: {{dataflow: 1, nodes: {{b: {{flow: {0}}}}}, outputs: {{o: b.o}}}}}}\noutputs: {{o: a.o}}\n"
)
MAP = (
    "  m: {{map: {{over: {{v: {{value: [1]}}}}, nodes: {{a: {{flow: {0}}}}}, outputs: {{o: a.o}}}}}}\n"
    "outputs: {{o: m.o}}\n"
)
LOOP = "  l: {{loop: {{limit: 1, nodes: {{a: {{flow: {0}}}}}, outputs: {{o: a.o}}}}}}\noutputs: {{o: l.o}}\n"


@pytest.mark.parametrize(("body", "most"), [(INLINE, 50), (MAP, 100), (LOOP, 100)])
def test_files_that_are_nested_in_blocks(tmp_path: Path, body: str, most: int) -> None:
    """A nested document is a level as well; loops and maps are not, though they are frames of a run."""
    chain(tmp_path, most + 2, body)
    Flow.load(tmp_path / "c1.yaml").check()
    with few_frames():
        assert Flow.load(tmp_path / f"c{most}.yaml").check() == []
        with pytest.raises(FormatError, match="DF0207"):
            Flow.load(tmp_path / f"c{most + 1}.yaml")


def test_a_problem_at_the_bottom_is_reported_once(tmp_path: Path) -> None:
    chain(tmp_path, 101)
    (tmp_path / "c0.yaml").write_text(LEAF.replace("outputs: {o: a}", "outputs: {o: b}"))
    for code in ("DF0303", "DF0101"):
        with few_frames(), pytest.raises(FlowInvalid) as caught:
            Flow.load(tmp_path / "c100.yaml")
        assert [problem.code for problem in caught.value.problems] == [code]
        (tmp_path / "c0.yaml").unlink(missing_ok=True)


async def one() -> int:
    return 1


def grown(levels: int, add: Callable[[Flow, Flow], Any]) -> Flow:
    """Build flows that each have the one before."""
    flow = Flow("f")
    flow.output("o", flow.add(one).out)
    for _ in range(levels):
        outer = Flow("f")
        add(outer, flow)
        flow = outer
    return flow


def test_in_python_there_is_one_problem_too() -> None:
    for levels, codes in ((100, []), (101, ["DF0207"]), (300, ["DF0207"])):
        problems = grown(levels, lambda outer, inner: outer.add(inner)).check()
        assert [(problem.code, problem.place) for problem in problems] == [(code, "f") for code in codes]


def twice(outer: Flow, inner: Flow) -> None:
    outer.add(inner)
    outer.add(inner)


TWICE = "  a: {{flow: {0}}}\n  b: {{flow: {0}}}\noutputs: {{o: a.o}}\n"


def test_flows_that_double_are_refused_with_their_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain(tmp_path, 31, TWICE)
    makers: tuple[Callable[[], Flow], ...] = (
        lambda: Flow.load(tmp_path / "c30.yaml"),
        lambda: grown(30, twice),
    )
    for make in makers:
        with pytest.raises(FlowInvalid) as caught:
            make().compile()
        found = {(problem.code, problem.details) for problem in caught.value.problems}
        assert found == {("DF0288", (("count", "12,582,910"),))}  # 3 * 2**22 - 2
        assert len(caught.value.problems) <= 2  # in Python at each of the two lines
    assert grown(21, twice).check() == []
    monkeypatch.setattr(passes, "MOST_NODES", 10)
    with Flow("wide") as wide:  # node by node it is as large as its author likes
        for _ in range(20):
            wide.add(one)


def test_a_problem_at_the_bottom_of_flows_that_double_is_reported_once(tmp_path: Path) -> None:
    chain(tmp_path, 31, TWICE)
    (tmp_path / "c0.yaml").write_text(LEAF.replace("outputs: {o: a}", "outputs: {o: b}"))
    for code in ("DF0303", "DF0101"):
        with pytest.raises(FlowInvalid) as caught:
            Flow.load(tmp_path / "c30.yaml")
        assert [problem.code for problem in caught.value.problems] == [code]
        (tmp_path / "c0.yaml").unlink(missing_ok=True)
