"""A hook of mkdocs: put the Markdown of the pages beside them in the site, where llms.txt links to it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any


def on_post_build(config: dict[str, Any]) -> None:
    """Copy each page of Markdown to its path in the site."""
    source, site = Path(config["docs_dir"]), Path(config["site_dir"])
    for page in source.rglob("*.md"):
        target = site / page.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
