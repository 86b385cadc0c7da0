from __future__ import annotations

from pathlib import Path

import pytest

from dataflow.cli.output import Problem, Refused
from dataflow.cli.targets import problems_of, refusing
from dataflow.errors import FlowInvalid, FormatError, PackError
from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("error", "problems"),
    [
        (FormatError("f.yaml", "is bad"), ["f.yaml: is bad"]),
        (FormatError("f.yaml", "is bad", 3), ["f.yaml:3: is bad"]),
        (FormatError("f.yaml", "is bad", 3, 5), ["f.yaml:3:5: is bad"]),
        (FlowInvalid("f", ["3:5 nodes.a: is bad", "node 'b'"]), ["it:3:5: nodes.a: is bad", "it: node 'b'"]),
        (PackError("it", "is bad"), ["it: is bad"]),
        (PackError("pack.a", "is bad"), ["it: pack.a: is bad"]),
        (KeyError("k"), ["it: KeyError: 'k'"]),
    ],
)
def test_a_problem_has_its_place(error: Exception, problems: list[str]) -> None:
    assert [str(problem) for problem in problems_of("it", error)] == problems


def test_a_problem_may_have_no_place() -> None:
    assert str(Problem("is bad")) == "is bad"


def test_what_is_not_of_the_engine_is_told_with_its_line() -> None:
    with (
        pytest.raises(Refused, match=r"it: SystemExit: 5 \(.*test_targets\.py, line \d+\)") as caught,
        refusing("it"),
    ):
        raise SystemExit(5)
    assert "Traceback" in caught.value.trace
    assert isinstance(caught.value.reason, SystemExit)


def test_a_refusal_without_an_exception_has_no_reason() -> None:
    assert Refused([Problem("is bad")]).reason is None


TYPED = """
from dataflow import Flow, flow
from dataflow_agent import Agent

lead = Agent("lead", model="a/b")

async def same(x: int) -> int:
    return x

@flow
def part(f: Flow, x: int) -> int:
    return f.add(same, x=x).out
"""
PLAIN = """
with Flow("main") as main:
    main.output("y", main.add(part, x=main.input("x", int, 1)).out)
"""


def test_the_only_flow_that_is_no_part_of_others_needs_no_name(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(TYPED + PLAIN + "again = main\n")
    assert cli("run", str(file)).out == "y: 1\n"
    assert cli("run", f"{file}:part", "--input", "x=2").out == "out: 2\n"
    unclear = {"typed": TYPED, "several": TYPED + PLAIN + "with Flow('other') as other: pass\n"}
    for (name, text), count in zip(unclear.items(), (2, 4), strict=True):
        other = tmp_path / f"{name}.py"
        other.write_text(text)
        assert f"holds {count} flows, so name one" in cli("check", str(other)).out


@pytest.mark.parametrize(
    "raised", ["GeneratorExit", "asyncio.CancelledError()", "type('Own', (BaseException,), {})('mine')"]
)
def test_whatever_a_module_raises_is_told_without_a_traceback(cli: Cli, tmp_path: Path, raised: str) -> None:
    (tmp_path / "raising.py").write_text(f"import asyncio\nraise {raised}\n")
    done = cli("check", str(tmp_path / "raising.py"))
    assert done.code == 1
    assert done.out.startswith(f"{tmp_path / 'raising.py'}: ")
    assert "Traceback" not in done.out + done.err
