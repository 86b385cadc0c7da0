"""`python -m tests.docs.tutorial`: make docs/tutorial.sh from docs/tutorial.md."""

from __future__ import annotations

from typing import Final

from tests.docs.pages import DOCS, script_of

PAGE: Final = DOCS / "tutorial.md"
SCRIPT: Final = DOCS / "tutorial.sh"


def made_script() -> str:
    """Make the script of the tutorial's commands."""
    return script_of(PAGE.read_text(encoding="utf-8"), PAGE.name)


if __name__ == "__main__":
    SCRIPT.write_text(made_script(), encoding="utf-8")
    SCRIPT.chmod(0o755)
