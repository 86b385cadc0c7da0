"""A hook of mkdocs: list all codes of problems on the page of diagnostics, from the tables of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dataflow.diagnostics.catalogue import AREAS
from dataflow.diagnostics.diagnostic import Kind, kinds_of
from dataflow_agent.diagnostics import chats, models, servers, tools
from dataflow_control import diagnostics as control
from dataflow_formats.agentflow import diagnostics as agentflow
from dataflow_formats.agentron import diagnostics as agentron
from dataflow_formats.cagent import diagnostics as cagent
from dataflow_formats.clickweave import diagnostics as clickweave
from dataflow_formats.hifide import diagnostics as hifide

if TYPE_CHECKING:
    from types import ModuleType

PAGE: Final = "reference/diagnostics.md"
#: All tables, in the order of their codes.
TABLES: Final = sorted(
    (
        *AREAS,
        *(chats, models, tools, servers, control),
        *(agentflow, agentron, cagent, clickweave, hifide),
    ),
    key=lambda table: kinds_of(table)[0].code,
)
#: The first line of the docstring of a table, such as "Problems of tools: functions, and calls (DF22)."
DOCSTRING: Final = re.compile(r"Problems of (.+?)(?:: .*)? \((DF\d\d).*\)\.$", re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Append the codes to the page."""
    return f"{markdown}\n{codes()}" if page.file.src_uri == PAGE else markdown


def on_post_build(config: dict[str, Any]) -> None:
    """Append the codes to the Markdown in the site, too."""
    with (Path(config["site_dir"]) / PAGE).open("a", encoding="utf-8") as page:
        page.write(f"\n{codes()}")


def codes() -> str:
    """Return a list of the tables, and a section for each with a section for each of its codes."""
    titles = [title(table) for table in TABLES]
    contents = [f"- [{name}](#{_anchor(name)})" for name in titles]
    sections = [
        "\n\n".join([f"## {name}", *map(section, kinds_of(table))])
        for table, name in zip(TABLES, titles, strict=True)
    ]
    return "\n\n".join(["## All codes", "\n".join(contents), *sections])


def title(table: ModuleType) -> str:
    """Return the title of a table, with what its codes begin with."""
    found = DOCSTRING.match(table.__doc__ or "")
    if found is None:
        raise ValueError(f"the docstring of {table.__name__} names no problems with codes")
    name, area = found.groups()
    return f"{name[0].upper()}{name[1:]} ({area})"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def section(kind: Kind) -> str:
    """Return the section of a code: its text, meaning, example and cure."""
    return "\n\n".join(
        [
            f"### {kind.code}",
            literal(kind.outline),
            prose(kind.meaning),
            f"Example:\n\n{block(kind.example)}",
            prose(kind.cure),
        ]
    )


def literal(text: str) -> str:
    """Return a text as inline code, whatever is in it."""
    fence = "`" * (1 + max(map(len, re.findall(r"`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def block(text: str) -> str:
    """Return a text as a block of code, whatever is in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def prose(text: str) -> str:
    """Return a text with its inline code, and with all else literal."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if number % 2 else _escaped(part) for number, part in enumerate(parts))


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]#])", r"\\\1", text).replace("<", "&lt;")
