from __future__ import annotations

from pathlib import Path
from typing import Final

from dataflow import Location
from dataflow.authoring import Kind
from dataflow.cli.targets import problems_of
from dataflow.errors import FlowInvalid, FormatError, PackError
from tests.cli.conftest import Cli

BAD: Final = Kind("XX0001", "is bad")


def test_a_problem_has_its_place() -> None:
    nodes_a = BAD("nodes.a", location=Location("", 3, 5))
    problems = {
        FormatError("f.yaml", BAD()): ["f.yaml: XX0001 is bad"],
        FormatError("f.yaml", BAD(), 3): ["f.yaml:3: XX0001 is bad"],
        FormatError("f.yaml", BAD(), 3, 5): ["f.yaml:3:5: XX0001 is bad"],
        FlowInvalid("f", [nodes_a, BAD("b")]): ["it:3:5: XX0001 nodes.a: is bad", "it: XX0001 b: is bad"],
        PackError("it", BAD()): ["it: XX0001 is bad"],
        PackError("pack.a", BAD()): ["it: XX0001 pack.a: is bad"],
        KeyError("k"): ["it: DF1401 KeyError: 'k'"],
    }
    assert {error: list(map(str, problems_of("it", error))) for error in problems} == problems


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
        assert f"has {count} flows" in cli("check", str(other)).out
