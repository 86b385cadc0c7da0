"""The examples with a live session and with agents, offline by their scripts, with a key by a provider."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.processes import Terminal
from tests.examples.test_digest_flow import EXAMPLES
from tests.nodes.agent.fake_openai import KEY, serving
from tests.support.processes import printed_in

SCRIPT: Final = EXAMPLES / "live.py"
PROGRAM: Final = (sys.executable, "-W", "error", str(SCRIPT))
COUNTS: Final = re.compile(r"(\d+) of 200 nodes were stale: (\d+) called, (\d+) stood")
UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
CLEAR: Final = "\x1b[H\x1b[J"


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("live_example", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


EXAMPLE: Final = example()
CHANGES: Final = st.lists(
    st.one_of(
        *(
            st.tuples(st.just(name), st.integers(0, knob.most // knob.step).map(knob.step.__mul__))
            for name, knob in EXAMPLE.KNOBS.items()
        )
    ),
    max_size=8,
)


class ExampleTerminal(Terminal):
    program = PROGRAM


def played(*arguments: str, lines: str = "") -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *arguments]
    return subprocess.run(command, input=lines, capture_output=True, encoding="utf-8", check=True)


def counts_in(text: str) -> list[tuple[int, int, int]]:
    return [(int(stale), int(called), int(stood)) for stale, called, stood in COUNTS.findall(text)]


def shown(**inputs: int) -> str:
    result = EXAMPLE.house.run_sync(**inputs).outputs
    return "\n".join(f"  {name:8} {result[name]}" for name in ("sun", "battery", "grid"))


def test_a_script_shows_what_each_change_has_called() -> None:
    done = played("--script", "price=40 sun=80 sun=80 battery=6000")
    assert counts_in(done.stdout) == [(200, 200, 0), (2, 2, 0), (175, 87, 88), (0, 0, 0), (102, 61, 41)]
    *_, day = done.stdout.split("% of a clear day")
    assert shown(sun=80, battery=6000) in day
    assert "2.3 kWh bought, 8.2 kWh sold; the day costs 0.26 euros, 4.62 saved" in day


async def compare(changes: list[tuple[str, int]]) -> None:
    inputs: dict[str, int] = {}
    async with EXAMPLE.house.live() as session:
        for name, value in changes:
            inputs[name] = value
            await session.update(**{name: value})
            found = {output: await session.get(output) for output in EXAMPLE.OUTPUTS}
            assert found == (await EXAMPLE.house.run(**inputs)).outputs
            assert session.counts.stale == 0


@settings(max_examples=20)
@given(changes=CHANGES)
def test_after_any_changes_a_day_is_that_of_a_run(changes: list[tuple[str, int]]) -> None:
    anyio.run(compare, changes)


def test_arrow_keys_turn_the_knobs_of_a_terminal() -> None:
    with ExampleTerminal() as terminal:
        terminal.read_until("> sun          60 %")
        terminal.press(RIGHT)
        terminal.read_until("> sun          65 %")
        terminal.press(UP + UP + LEFT)
        terminal.read_until("> battery   4,500 Wh")
        terminal.press(DOWN + RIGHT)
        terminal.read_until("> price        33 cents")
        terminal.press("q")
        assert terminal.end() == 0
    drawn = terminal.raw.replace("\r\n", "\n").split(CLEAR)[1:]
    called = [[called for _, called, _ in counts_in(one)] for one in drawn]
    assert called[0] == [200]
    assert called[-1] == [2]
    assert shown(sun=65, battery=4500, price=33) in drawn[-1]


SAVED: Final = "In 1931 the harbour froze over. The ferry was moved on sledges.\n"


def printed(folder: Path, *command: str, answer: str = "", **variables: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    example = str(EXAMPLES / command[0])
    return printed_in(folder, example, *command[1:], answer=answer, environment={**environment, **variables})


def test_with_a_key_the_provider_is_asked_by_the_chat(tmp_path: Path) -> None:
    with serving() as server:
        lines = printed(tmp_path, "chat.py", "rain", OPENAI_API_KEY=KEY, OPENAI_API_BASE=server.url)
    assert lines == ["Hello, there", "good: True, because: it rhymes"]
    assert [asked["model"] for asked in server.asked] == ["gpt-5-mini", "gpt-5-mini"]
    roles = [message["role"] for message in server.asked[1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_story_of_the_newsroom_is_saved_once_it_is_allowed(tmp_path: Path) -> None:
    for answer in ("n\n", ""):
        assert len(printed(tmp_path, "newsroom.py", answer=answer)) == 3
        assert not (tmp_path / "stories").exists()
    asked, story, claims = printed(tmp_path, "newsroom.py", answer="y\n")
    assert asked.startswith('editor wants to call write_story with {"name": "harbour", "text": "In 1931')
    assert story == f"Done. {SAVED.strip()}"
    assert claims.startswith("claims: The harbour froze over in 1931.")
    assert (tmp_path / "stories" / "harbour.md").read_text(encoding="utf-8") == SAVED


def test_with_a_key_the_provider_gets_the_tools_of_the_newsroom(tmp_path: Path) -> None:
    with serving() as server:
        lines = printed(tmp_path, "newsroom.py", OPENAI_API_KEY=KEY, OPENAI_API_BASE=server.url)
    assert lines == ["Hello, there", "claims: Hello, there"]
    first, second = server.asked
    tools = [tool["function"]["name"] for tool in first["tools"]]
    assert tools == ["read_archive", "write_story", "researcher"]
    assert "tools" not in second
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
