"""A hook of mkdocs: list all codes of problems on the page of diagnostics, from the tables of the code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from dataflow.diagnostics.catalogue import AREAS
from dataflow.diagnostics.diagnostic import Kind, kinds_of
from dataflow.packs.registry import installed_diagnostics

PAGE: Final = "reference/diagnostics.md"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Append the tables to the page."""
    return f"{markdown}\n{tables()}" if page.file.src_uri == PAGE else markdown


def on_post_build(config: dict[str, Any]) -> None:
    """Append the tables to the Markdown in the site, too."""
    with (Path(config["site_dir"]) / PAGE).open("a", encoding="utf-8") as page:
        page.write(f"\n{tables()}")


def tables() -> str:
    """Return a section for each area of the engine and for each pack, with its codes."""
    areas = [((area.__doc__ or "").strip().rstrip("."), kinds_of(area)) for area in AREAS]
    packs = [
        (f"Problems of a pack ({kinds[0].code[:4]})", kinds) for kinds in installed_diagnostics() if kinds
    ]
    return "\n\n".join("\n\n".join([f"## {title}", *map(section, kinds)]) for title, kinds in areas + packs)


def section(kind: Kind) -> str:
    """Return the section of a code: its text, meaning, example and cure."""
    text = kind.outline.replace("<", "&lt;")
    return "\n\n".join(
        [f"### {kind.code}", f"*{text}*", kind.meaning, f"```text\n{kind.example}\n```", kind.cure]
    )
