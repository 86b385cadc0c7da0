"""The reference has every public name once, and every public method or a reason to leave it out."""

from __future__ import annotations

import inspect
import re
from typing import Final

import yaml

import dataflow
import dataflow_agent
from dataflow import authoring
from tests.docs.pages import DOCS

PAGES: Final = {
    path.name: path.read_text(encoding="utf-8") + "\n" for path in sorted((DOCS / "reference").glob("*.md"))
}
#: A name, and the options of its entry.
ENTRY: Final = re.compile(r"^::: dataflow\.([\w.]+)\n((?:    .*\n)*)", re.MULTILINE)
#: A name of the agent pack.
AGENT_ENTRY: Final = re.compile(r"^::: dataflow_agent\.(\w+)$", re.MULTILINE)
ENTRIES: Final = {name: ENTRY.findall(page) for name, page in PAGES.items()}
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
    "Shared": {"are_open", "close"},
}  # fmt: skip


def is_failure(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, dataflow_agent.ModelFailed)


def methods_of(name: str) -> set[str]:
    """List the methods and properties of a class that have no underscore in front."""
    whole: type = getattr(dataflow, name)
    fields = {field for base in whole.__mro__ for field in inspect.get_annotations(base)}
    return {member for member in dir(whole) if not member.startswith("_")} - fields


def test_every_public_name_is_on_one_page_once() -> None:
    names = [name for entries in ENTRIES.values() for name, _ in entries]
    assert sorted(names) == sorted([*dataflow.__all__, *(f"authoring.{name}" for name in authoring.__all__)])


def test_every_name_of_the_agent_pack_is_on_the_page_of_models_or_on_its_own() -> None:
    own = set(re.findall(r"`(?:agent\.)?(\w+)`", (DOCS / "agent.md").read_text(encoding="utf-8")))
    assert sorted(AGENT_ENTRY.findall(PAGES["models.md"])) == sorted(
        {*dataflow_agent.__all__} - own - {"pack"}
    )


def test_the_list_of_pages_names_what_each_has() -> None:
    rows = re.findall(r"^\| \[.+\]\(([\w-]+\.md)\) \| (.+) \|$", PAGES["index.md"], re.MULTILINE)
    listed = {page: sorted(re.findall(r"`(\w+)`", names)) for page, names in rows}
    found = {
        page: sorted(name.removeprefix("authoring.") for name, _ in entries)
        for page, entries in ENTRIES.items()
        if entries
    }
    found["models.md"] = sorted(
        name
        for name in AGENT_ENTRY.findall(PAGES["models.md"])
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
