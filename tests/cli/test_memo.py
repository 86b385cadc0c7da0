"""What the store remembers of firings: told, forgotten, and why a firing was not among it (S13.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dataflow.stores import Store
from dataflow.testing.outcomes import new_outcome
from tests.cli.conftest import Cli

FLOW: Final = """
from dataflow import Flow, Memo, node

@node(memo="store")
async def double(number: int) -> int:
    return 2 * number

@node(memo=Memo("run"))
async def half(number: int) -> float:
    return number / 2

with Flow("numbers") as flow:
    number = flow.input("number", int)
    flow.output("double", flow.add(double, number=number).out)
    flow.output("half", flow.add(half, number=number).out)
"""


def run_of(cli: Cli, folder: Path, number: int) -> str:
    (folder / "numbers_flow.py").write_text(FLOW)
    found: str = cli("run", "numbers_flow.py", "--json", "--input", f"number={number}").json["run"]
    return found


def test_outcomes_are_told_by_node_types(cli: Cli, folder: Path) -> None:
    for number in (1, 2, 1):
        run_of(cli, folder, number)
    told = cli("memo", "stats", "--json").json
    assert told["entries"] == 2
    [of_double] = told["types"]
    assert (of_double["type"], of_double["entries"]) == ("numbers_flow:double", 2)
    assert of_double["bytes"] > 100
    head, line = cli("memo", "stats").out.splitlines()
    assert head.split() == ["NODE", "TYPE", "OUTCOMES", "BYTES", "NEWEST"]
    assert line.split()[:2] == ["numbers_flow:double", "2"]


def test_nothing_remembered_is_told(cli: Cli, folder: Path) -> None:
    done = cli("memo", "stats")
    assert (done.code, done.out) == (0, "")
    assert str(folder / ".dataflow/runs.db") in done.err
    assert cli("memo", "stats", "--json").json == {"entries": 0, "types": []}
    assert cli("memo", "clear").err == "forgot 0 outcomes\n"
    assert not list(folder.iterdir())


def test_outcomes_are_forgotten_by_type_and_age(cli: Cli, folder: Path) -> None:
    run_of(cli, folder, 1)
    table = Store.sqlite(folder / ".dataflow/runs.db").outcomes
    assert table is not None
    table.remember(new_outcome("k1", type="old"), {})
    table.remember(new_outcome("k2", type="older"), {})
    assert cli("memo", "clear", "older", "--json").json == {"cleared": 1}
    assert cli("memo", "clear", "--older-than", "3600").err == "forgot 1 outcome\n"
    assert [one.type for one in table.use()] == ["numbers_flow:double"]
    assert cli("memo", "clear", "--older-than", "1h").err == "forgot 0 outcomes\n"
    assert cli("memo", "clear").err == "forgot 1 outcome\n"
    assert not table.use()


def test_a_node_type_of_which_nothing_is_remembered_is_wrong_usage(cli: Cli, folder: Path) -> None:
    def refused() -> list[str]:
        done = cli("memo", "clear", "numbers_flow:duoble")
        assert (done.code, done.out) == (2, "")
        return done.codes

    assert refused() == ["DF1402"]
    assert cli("memo", "clear", "--older-than", "soon").codes == ["DF1405"]
    run_of(cli, folder, 1)
    table = Store.sqlite(folder / ".dataflow/runs.db").outcomes
    assert table is not None
    table.remember(new_outcome(type="another"), {})
    assert refused() == ["DF1433"]
    assert [one.entries for one in table.use()] == [1, 1]
    table.clear()
    assert refused() == ["DF1433"]


def test_why_tells_of_the_memo(cli: Cli, folder: Path) -> None:
    first, second, third = (run_of(cli, folder, number) for number in (1, 1, 2))
    unknown = "double is done, not remembered (store): nothing is known of this node type\n"
    assert cli("why", first, "double").out == unknown
    assert (
        cli("why", second, "double").out == f"double is done, remembered (store) from double of run {first}\n"
    )
    differs = "double is done, not remembered (store): input 'number' differs from what is known"
    assert cli("why", third, "double", "--json").json["why"] == [differs]
    assert cli("why", third, "half").out.startswith("half is done, not remembered (run): ")
