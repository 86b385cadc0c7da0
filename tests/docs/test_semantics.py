"""The page of rules has every rule that the code and its messages name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.docs.pages import DOCS
from tests.source import PACKAGES, Module, modules_of

PAGE: Final = (DOCS / "semantics.md").read_text(encoding="utf-8")
RULE: Final = re.compile(r"\bS(\d{1,2})(?:\.(\d+))?\b")


def rules_of(page: str) -> Iterator[str]:
    """Yield the rules of the page: `S4` and `S4.3`, and `S4.` for a section that has no numbers."""
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        numbers = [int(number) for number in re.findall(r"S(\d+)", head)]
        items = re.findall(r"^(\d+)\. ", text, re.MULTILINE)
        for section in range(numbers[0], numbers[-1] + 1):
            yield f"S{section}"
            yield from (f"S{section}.{item}" for item in items)
            if not items:
                yield f"S{section}."


RULES: Final = list(rules_of(PAGE))


def is_on_the_page(section: str, item: str | None) -> bool:
    return (f"S{section}.{item}" if item else f"S{section}") in RULES or f"S{section}." in RULES


@pytest.mark.parametrize(
    "module",
    [module for package in PACKAGES for module in modules_of(package)],
    ids=lambda module: module.name,
)
def test_a_rule_that_the_code_names_is_on_the_page(module: Module) -> None:
    assert not [match[0] for match in RULE.finditer(module.text()) if not is_on_the_page(*match.groups())]


def test_the_sections_stand_in_order() -> None:
    sections = [int(rule[1:]) for rule in RULES if "." not in rule]
    assert sections == list(range(1, 21))


def test_the_rules_of_a_section_stand_in_order() -> None:
    numbers = [
        (int(section), int(item)) for section, item in (r[1:].split(".") for r in RULES if "." in r) if item
    ]
    assert numbers == sorted(set(numbers))
