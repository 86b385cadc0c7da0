"""The examples with agents, a chat and a newsroom: offline by their scripts, with a key by a provider."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.examples.digest_properties import EXAMPLES
from tests.nodes.agent.fake_openai import KEY, serving

SAVED: Final = "In 1931 the harbour froze over. The ferry was moved on sledges.\n"


def printed(folder: Path, *command: str, answer: str = "", **variables: str) -> list[str]:
    """Run an example in a folder; a newsroom asks whether a story may be saved."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / command[0]), *command[1:]],
        cwd=folder,
        env={**environment, **variables},
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


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
