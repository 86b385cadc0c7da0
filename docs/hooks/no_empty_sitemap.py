"""A hook of mkdocs: a site whose address is not set gets no sitemap, which would be empty."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_post_build(config: dict[str, Any]) -> None:
    """Remove the map of a site without an address."""
    if not config["site_url"]:
        for name in ("sitemap.xml", "sitemap.xml.gz"):
            (Path(config["site_dir"]) / name).unlink(missing_ok=True)
