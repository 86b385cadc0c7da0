"""`python -m tests.docs.site FOLDER`: check a site that mkdocs has built; and what the site is made of.

The site has every page of the navigation, and what llms.txt links to; its pages load nothing from another
host.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import yaml

from tests.docs.pages import DOCS, ROOT

#: Links of these kinds are loaded with a page; others, such as `canonical`, are only told.
LOADED: Final = {
    "apple-touch-icon",
    "icon",
    "manifest",
    "modulepreload",
    "preconnect",
    "preload",
    "stylesheet",
}
LLMS: Final = DOCS / "llms.txt"
#: An entry of llms.txt: the file of the site, and a line on it.
ENTRY: Final = re.compile(r"^- \[(.+)\]\((.+\.(?:md|html))\): (.+)$", re.MULTILINE)


def navigation() -> list[str]:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return list(_pages_in(settings["nav"]))


def _pages_in(part: Any) -> Iterator[str]:
    match part:
        case str():
            yield part
        case dict():
            for inner in part.values():
                yield from _pages_in(inner)
        case _:
            for inner in part:
                yield from _pages_in(inner)


def told_files() -> list[str]:
    return [page for _, page, _ in ENTRY.findall(LLMS.read_text(encoding="utf-8"))]


def html_of(page: str) -> str:
    path = Path(page)
    if path.stem in ("index", "README"):
        return str(path.parent / "index.html")
    return str(path.with_suffix("") / "index.html")


class Assets(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "src" in given:
            self.found.append(given["src"])
        if tag == "link" and LOADED.intersection(given.get("rel", "").split()):
            self.found.append(given.get("href", ""))


def assets_of(file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".css":
        return re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')]+)", text)
    assets = Assets()
    assets.feed(text)
    return assets.found


def problems_of(site: Path) -> Iterator[str]:
    """Tell what a built site lacks, and what it loads from elsewhere."""
    for name in (*map(html_of, navigation()), LLMS.name, *told_files()):
        if not (site / name).is_file():
            yield f"the site has no {name}"
    for file in sorted((*site.rglob("*.html"), *site.rglob("*.css"))):
        foreign = [asset for asset in assets_of(file) if re.match(r"(\w+:)?//", asset)]
        yield from (f"{file.relative_to(site)} loads {asset}" for asset in foreign)


if __name__ == "__main__":
    problems = list(problems_of(Path(sys.argv[1])))
    sys.exit("\n".join(problems) or None)
