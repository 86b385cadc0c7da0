"""The reference has every public name once, and the Python on the pages prints what they show."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
import yaml

import dataflow
import dataflow_agent
from dataflow import authoring
from tests.docs.pages import DOCS, PAGES, SEPARATOR, Block, blocks_of, program_of, write_files
from tests.support.steady import STEADY

REFERENCE: Final = {
    path.name: path.read_text(encoding="utf-8") + "\n" for path in sorted((DOCS / "reference").glob("*.md"))
}
#: A name, and the options of its entry.
ENTRY: Final = re.compile(r"^::: dataflow\.([\w.]+)\n((?:    .*\n)*)", re.MULTILINE)
#: A name of the agent pack.
AGENT_ENTRY: Final = re.compile(r"^::: dataflow_agent\.(\w+)$", re.MULTILINE)
ENTRIES: Final = {name: ENTRY.findall(page) for name, page in REFERENCE.items()}
#: The members that the entry of a class chooses.
CHOSEN: Final[dict[str, list[str]]] = {
    name: members
    for entries in ENTRIES.values()
    for name, options in entries
    if isinstance(members := (yaml.safe_load(options) or {}).get("options", {}).get("members"), list)
}
#: What other modules of the engine call, and users need not.
INTERNAL: Final = {
    "Flow": {
        "compile", "compile_for", "compile_other", "examine", "find_type", "from_wiring", "node_type",
        "opaque", "place_in", "rewired", "settings", "target", "version", "wiring", "wiring_with_settings",
    },
    "Node": {"in_a_thread", "redeclared", "type"},
    "ProcessMemo": {"count_as_hit", "newest", "recall", "remember"},
    "Run": {"raise_unseen"},
    "Shared": {"are_open", "close", "hurry"},
}  # fmt: skip


def is_failure(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, dataflow_agent.ModelFailed)


def methods_of(name: str) -> set[str]:
    whole: type = getattr(dataflow, name)
    fields = {field for base in whole.__mro__ for field in inspect.get_annotations(base)}
    return {member for member in dir(whole) if not member.startswith("_")} - fields


def test_every_public_name_is_on_one_page_once() -> None:
    names = [name for entries in ENTRIES.values() for name, _ in entries]
    assert sorted(names) == sorted([*dataflow.__all__, *(f"authoring.{name}" for name in authoring.__all__)])


def test_every_name_of_the_agent_pack_is_on_the_page_of_models_or_on_its_own() -> None:
    own = set(re.findall(r"`(?:agent\.)?(\w+)`", (DOCS / "agent.md").read_text(encoding="utf-8")))
    assert sorted(AGENT_ENTRY.findall(REFERENCE["models.md"])) == sorted(
        {*dataflow_agent.__all__} - own - {"pack"}
    )


def test_the_list_of_pages_names_what_each_has() -> None:
    rows = re.findall(r"^\| \[.+\]\(([\w-]+\.md)\) \| (.+) \|$", REFERENCE["index.md"], re.MULTILINE)
    listed = {page: sorted(re.findall(r"`(\w+)`", names)) for page, names in rows}
    found = {
        page: sorted(name.removeprefix("authoring.") for name, _ in entries)
        for page, entries in ENTRIES.items()
        if entries
    }
    found["models.md"] = sorted(
        name
        for name in AGENT_ENTRY.findall(REFERENCE["models.md"])
        if name == "ModelFailed" or not is_failure(getattr(dataflow_agent, name))
    )
    found["errors.md"] = ["DataflowError"]  # for all that are below it
    assert listed == found


def test_the_chosen_members_of_a_class_exist_and_its_methods_have_docstrings() -> None:
    offenders = []
    for name, members in CHOSEN.items():
        whole: type = getattr(dataflow, name)
        code = inspect.getsource(whole)
        for member in members:
            value = inspect.getattr_static(whole, member, None)
            is_method = callable(value) or isinstance(value, property)
            is_there = hasattr(whole, member) or re.search(rf"\b{member}: ", code)
            if not is_there or (is_method and not inspect.getdoc(value)):
                offenders.append(f"{name}.{member}")
    assert offenders == []


def test_a_public_method_of_a_class_is_chosen_or_internal() -> None:
    internal = {**INTERNAL, "TypedFlow": {*CHOSEN["Flow"], *INTERNAL["Flow"]}}
    others = {
        name: methods_of(name) - {*members} - internal.get(name, set()) for name, members in CHOSEN.items()
    }
    assert {name: found for name, found in others.items() if found} == {}


TEXTS: Final = {name: path.read_text(encoding="utf-8") for name, path in PAGES.items()}
EACH_PAGE_WITH_PYTHON: Final = pytest.mark.parametrize(
    "name", [name for name, text in TEXTS.items() if "```python" in text]
)
#: Runs a program in which no slice of a worker ends: what the pages show is the order on a machine that does
#: nothing else (S14.2).
PROGRAM: Final = f"""
import runpy, sys
{STEADY}
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
#: What a block may be written in. Data is a file that something on the page uses.
CODE: Final = {"python", "sh"}
DATA: Final = {"json", "toml", "yaml"}
#: What is only looked at: text, and drawings, which forges draw.
SHOWN: Final = {"mermaid", "text"}


@EACH_PAGE_WITH_PYTHON
def test_the_python_on_a_page_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    write_files(TEXTS[name], tmp_path)
    program = tmp_path / f"{PAGES[name].stem}.py"
    program.write_text(program_of(TEXTS[name]), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, program.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    blocks = [block for block in blocks_of(TEXTS[name]) if block.language == "python" and block.file is None]
    printed = done.stdout.split(f"{SEPARATOR}\n")[:-1]
    shown = [(f"{name}:{block.line}", block.shows or "") for block in blocks]
    assert [(place, text) for (place, _), text in zip(shown, printed, strict=True)] == shown


BLOCKS: Final = {name: blocks_of(text) for name, text in TEXTS.items()}
EVERY_BLOCK: Final = [(f"{name}:{block.line}", block) for name, blocks in BLOCKS.items() for block in blocks]


def test_blocks_have_a_known_language() -> None:
    known = CODE | DATA | SHOWN
    assert [(place, block.language) for place, block in EVERY_BLOCK if block.language not in known] == []


def is_used(file: str, blocks: list[Block]) -> bool:
    """Tell whether a program, a command or another file names a file, its top folder or a function in it."""
    top, slash, _ = file.partition("/")
    if slash:
        return any(block.language == "sh" and f"./{top}" in block.text for block in blocks)
    stem = file.removesuffix(".py")
    forms = (file, f"import {stem}", f"from {stem} import")
    named = re.compile(rf"\b({'|'.join(map(re.escape, forms))}|{re.escape(stem)}:\w+)\b")
    others = [block for block in blocks if block.file is None or block.file.name != file]
    return any(named.search(block.text) for block in others)


def test_comments_do_not_say_what_a_block_is() -> None:
    """A reader does not see comments; these two are for commands that need no name."""
    comments = [
        (name, comment)
        for name, text in TEXTS.items()
        for comment in re.findall(r"<!--(.*?)-->", text, re.DOTALL)
    ]
    allowed = re.compile(r" (unless: installed|command: \w+) ")
    assert [(name, comment) for name, comment in comments if not allowed.fullmatch(comment)] == []


def test_files_of_a_page_are_used_on_it() -> None:
    used = {name: [one for one in blocks if one.language in CODE | DATA] for name, blocks in BLOCKS.items()}
    files = {(name, one.file.name) for name, blocks in used.items() for one in blocks if one.file is not None}
    assert [(name, file) for name, file in sorted(files) if not is_used(file, used[name])] == []


def links_of(name: str) -> Iterator[tuple[Path, str]]:
    for part in TEXTS[name].split("](")[1:]:
        target, _, heading = part.partition(")")[0].partition("#")
        if "://" not in target:
            yield (PAGES[name].parent / target if target else PAGES[name]), heading


@cache
def headings_of(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_lead_to_files_and_headings() -> None:
    links = [(name, file, heading) for name in TEXTS for file, heading in links_of(name)]
    assert [(name, str(file)) for name, file, _ in links if not file.exists()] == []
    named = [(name, file, heading) for name, file, heading in links if heading]
    assert [(name, f"{file}#{head}") for name, file, head in named if head not in headings_of(file)] == []
