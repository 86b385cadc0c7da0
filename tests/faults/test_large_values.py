"""F-I10: large values are shortened in reprs, on terminals, in `runs show`, in errors and in events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, RunFailed, Secret, Store
from dataflow.base.wording import LONGEST_PROBLEM, short_repr
from dataflow.cli import main
from dataflow.cli.report import output_text

MANY: Final = 100_000
FLOW: Final = f"""
from dataflow import Flow

async def many(n: int) -> list[int]:
    return list(range(n))

async def bad(numbers: list[int]) -> int:
    raise ValueError(f"cannot take {{numbers}}")

with Flow("large") as flow:
    numbers = flow.add(many, n={MANY})
    flow.output("numbers", numbers.out)

with Flow("failing") as failing:
    failing.output("out", failing.add(bad, numbers=failing.add(many, n={MANY}).out).out)
"""


async def many(n: int) -> list[int]:
    return list(range(n))


async def bad(numbers: list[int]) -> int:
    raise ValueError(f"cannot take {numbers}")


async def test_results_events_failures_and_errors_have_short_reprs() -> None:
    with Flow("large") as flow:
        numbers = flow.add(many, n=MANY)
        flow.output("numbers", numbers.out)
        flow.output("sum", flow.add(bad, numbers=numbers.out).out)
    async with flow.start() as run:
        events = [event async for event in run.events()]
        with pytest.raises(RunFailed) as failed:
            await run
    error = failed.value
    shown = [*map(repr, events), *map(repr, error.failures), repr(error.result), str(error), repr(error)]
    assert max(map(len, shown)) < LONGEST_PROBLEM + 100
    assert f"({MANY:,} items)" in repr(error.result)
    assert len(error.failures[0].message) > MANY  # the whole is kept
    assert len(error.result["numbers"]) == MANY


def test_small_values_are_shown_in_full_and_containers_are_counted() -> None:
    for value in ({"b": 1, "a": [1, (2,)]}, "text", 1.5, None, {1}, [1] * 50):
        assert short_repr(value) == repr(value)
    assert short_repr([*range(60)]).endswith(", 49, ...] (60 items)")
    assert short_repr(dict.fromkeys(range(60))).endswith("...} (60 items)")
    assert len(short_repr({"a": "x" * MANY, "b": [["y" * MANY] * 100] * 100})) <= 520


async def test_a_secret_is_masked_before_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LARGE_KEY", "key-" + "k" * 400)

    async def tell() -> list[str]:
        return ["x" * 300 + Secret("LARGE_KEY").reveal()] * 3

    with Flow("telling") as flow:
        flow.output("out", flow.add(tell).out)
    shown = repr(await flow.run())
    assert "kkk" not in shown
    assert "key-" not in shown


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    with pytest.raises(SystemExit):
        raise SystemExit(main(list(arguments)))
    done = capsys.readouterr()
    return done.out, done.err


def test_the_command_line_shortens_with_a_count_unless_all_is_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large.py").write_text(FLOW)
    assert len(lines_of(capsys, "run", "large.py:flow")[0]) > MANY  # a pipe is read by programs
    out, err = lines_of(capsys, "run", "large.py:failing", "--traceback")
    assert len(out + err) < 40_000
    [failed, run] = Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs()
    for number, path in ((run.id, "many"), (failed.id, "bad")):
        assert len(lines_of(capsys, "runs", "show", number, path)[0]) < 30_000
        assert len(lines_of(capsys, "runs", "show", number, path, "--full")[0]) > MANY
        assert len(json.dumps(json.loads(lines_of(capsys, "runs", "show", number, path, "--json")[0]))) > MANY
    assert f"{MANY:,} items" in lines_of(capsys, "runs", "show", run.id, "many")[0]
    assert "bad failed: ValueError" in lines_of(capsys, "runs", "show", failed.id)[0]
    assert "ValueError" in lines_of(capsys, "why", failed.id, "bad")[0]


def test_an_output_on_a_terminal_is_shortened_with_a_count() -> None:
    value: Any = [*range(MANY)]
    assert len(output_text("numbers", value, shorten=True)) < 2_200
    assert f"{MANY:,} items" in output_text("numbers", value, shorten=True)
    assert output_text("numbers", [1, 2], shorten=True) == "numbers: [1, 2]"
