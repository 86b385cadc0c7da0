"""The example of a newsroom: agents, a tool server of its own, and somebody who decides what is saved."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.nodes.agent.fake_openai import KEY, serving

SCRIPT: Final = Path(__file__).parents[2] / "docs" / "examples" / "newsroom.py"
SAVED: Final = "In 1931 the harbour froze over. The ferry was moved on sledges.\n"


def printed(folder: Path, answer: str, **variables: str) -> list[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        cwd=folder,
        env={**environment, **variables},
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_without_a_key_scripts_answer_and_a_story_is_saved_once_it_is_allowed(tmp_path: Path) -> None:
    asked, story, claims = printed(tmp_path, "y\n")
    assert asked.startswith('editor wants to call write_story with {"name": "harbour", "text": "In 1931')
    assert story == f"Done. {SAVED.strip()}"
    assert claims.startswith("claims: The harbour froze over in 1931.")
    assert (tmp_path / "stories" / "harbour.md").read_text(encoding="utf-8") == SAVED


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_what_is_not_allowed_is_not_saved(tmp_path: Path, answer: str) -> None:
    assert len(printed(tmp_path, answer)) == 3
    assert not (tmp_path / "stories").exists()


def test_with_a_key_the_provider_is_asked_and_told_of_the_tools(tmp_path: Path) -> None:
    with serving() as server:
        story, claims = printed(tmp_path, "", OPENAI_API_KEY=KEY, OPENAI_API_BASE=server.url)
    assert (story, claims) == ("Hello, there", "claims: Hello, there")
    first, second = server.asked
    told = [tool["function"]["name"] for tool in first["tools"]]
    assert told == ["read_archive", "write_story", "researcher"]
    assert "tools" not in second
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
