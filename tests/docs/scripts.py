"""`python -m tests.docs.scripts`: make the scripts of the pages whose commands are run as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.docs.pages import DOCS, script_of

TUTORIAL: Final = DOCS / "tutorial.md"
#: It installs packs, so its script is run in an environment of its own.
PACKS: Final = DOCS / "how-to" / "packs.md"
#: Likewise, with a file format.
FORMAT: Final = DOCS / "how-to" / "own-format.md"
#: Each script with the page that it is made from.
SCRIPTS: Final = {
    DOCS / "tutorial.sh": TUTORIAL, DOCS / "packs.sh": PACKS, DOCS / "own-format.sh": FORMAT,
}  # fmt: skip


def made_script(page: Path) -> str:
    return script_of(page.read_text(encoding="utf-8"), page.name)


if __name__ == "__main__":
    for script, page in SCRIPTS.items():
        script.write_text(made_script(page), encoding="utf-8")
        script.chmod(0o755)
