"""The typed contract: examples type-check clean, and the type checkers catch every marked mistake."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from dataflow import NodeState
from tests.support.processes import printed_in
from tests.typing import examples_core

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "tests" / "typing"
EXAMPLES: Final = ("examples_agents.py", "examples_core.py", "examples_durable.py", "more_examples.py")
MISTAKES: Final = ("mistakes_agents.py", "mistakes_core.py", "mistakes_durable.py")
FILES: Final = [str(FOLDER / name) for name in (*EXAMPLES, *MISTAKES)]

pytestmark = pytest.mark.timeout(900)  # two type checkers, from nothing

Errors = Mapping[str, Mapping[int, str]]  # file name -> line -> text


def checked_by(command: list[str]) -> str:
    """Run an installed type checker; it exits with 1 if it found errors, with more if it could not work."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def mypy() -> Errors:
    out = checked_by(["mypy", "--strict", "--output", "json", *FILES])
    found: dict[str, dict[int, str]] = {name: {} for name in (*EXAMPLES, *MISTAKES)}
    for line in out.splitlines():
        report = json.loads(line)
        if report["severity"] == "error":
            found.setdefault(Path(report["file"]).name, {})[report["line"]] = report["message"]
    return found


def pyright(folder: Path) -> Errors:
    """Check with the project's settings, but also the files that they leave out."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pyright"]
    paths = [str(ROOT), *(str(ROOT / path) for path in settings["extraPaths"])]
    config = {**settings, "include": ["."], "exclude": [], "extraPaths": paths}
    for file in FILES:
        shutil.copy(file, folder)
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    out = checked_by(["pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(folder)])
    report = json.loads(out)
    assert report["summary"]["filesAnalyzed"] == len(FILES), report
    found: dict[str, dict[int, str]] = {name: {} for name in (*EXAMPLES, *MISTAKES)}
    for item in report["generalDiagnostics"]:
        line = item["range"]["start"]["line"] + 1
        found.setdefault(Path(item["file"]).name, {})[line] = item["message"]
    return found


@pytest.fixture(scope="module", params=["mypy", "pyright"])
def errors(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Errors:
    return mypy() if request.param == "mypy" else pyright(tmp_path_factory.mktemp("pyright"))


def test_exactly_the_marked_mistakes_are_caught(errors: Errors) -> None:
    """Examples have none."""
    for name in (*EXAMPLES, *MISTAKES):
        lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        marked = {number for number, line in enumerate(lines, start=1) if re.search(r"# E\d+\b", line)}
        assert bool(marked) == (name in MISTAKES)
        assert set(errors[name]) == marked, errors[name]


async def test_examples_1_and_2_print_their_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    assert (await examples_core.hello.run(name="Ada"))["text"] == "hello Ada"
    await examples_core.ex1()
    assert capsys.readouterr().out == "hello Ada\n"
    assert await examples_core.digest("https://example.org") == ""
    await examples_core.ex2()
    assert capsys.readouterr().out == "\n"
    result = await examples_core.digest.run(url="https://example.org")
    assert dict(result.states) == dict.fromkeys(("fetch", "split", "summarise", "join"), NodeState.DONE)


async def test_example_3_takes_one_branch() -> None:
    for order, taken, other in (99, "refund", "reject"), (100, "reject", "refund"):
        result = await examples_core.claims.run(order=order)
        assert dict(result.outputs) == {"sent": ""}
        assert (result.states[taken], result.states[other]) == (NodeState.DONE, NodeState.SKIPPED)


async def test_example_4_ends_with_the_first_round_that_is_good_enough() -> None:
    result = await examples_core.refine.run(text="a text")
    assert dict(result.outputs) == {"text": "a text"}
    assert dict(result.states) == {
        "loop": NodeState.DONE, "loop[0]/score": NodeState.DONE, "loop[0]/improve": NodeState.NOT_RUN,
    }  # fmt: skip


def test_example_5_pauses_in_one_process_and_is_resumed_in_another(tmp_path: Path) -> None:
    start = "import anyio; from tests.typing import examples_durable as examples; "
    [run_id] = printed_in(tmp_path, "-c", f"{start}print(anyio.run(examples.process_one))")
    lines = printed_in(tmp_path, "-c", f"{start}anyio.run(examples.process_two, {run_id!r})")
    assert "\n".join(lines).strip() == "completed"
