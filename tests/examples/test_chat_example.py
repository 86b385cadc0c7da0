"""The example of a chat: offline by its script, with a key by a provider."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.nodes.agent.fake_openai import KEY, serving

SCRIPT: Final = Path(__file__).parents[2] / "docs" / "examples" / "chat.py"


def printed(**variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "rain"],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_key_a_script_answers() -> None:
    assert printed().splitlines()[-1] == "good: True, because: the cat"


def test_with_a_key_the_provider_is_asked() -> None:
    with serving() as server:
        text = printed(OPENAI_API_KEY=KEY, OPENAI_API_BASE=server.url)
    assert text == "Hello, there\ngood: True, because: it rhymes\n"
    assert [asked["model"] for asked in server.asked] == ["gpt-5-mini", "gpt-5-mini"]
    assert [message["role"] for message in server.asked[1]["messages"]] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
