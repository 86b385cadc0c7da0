"""The pages of rules have every rule that the code and its messages name, with an example below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.docs.pages import DOCS, blocks_of
from tests.support.source import PACKAGES, modules_of

NAMES: Final = ("semantics.md", "semantics_blocks.md", "semantics_runs.md")
PAGE: Final = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in NAMES)
NAMED: Final = re.compile(r"\bS(\d{1,2})(?:\.(\d+))?\b")
#: The line above an example that serves two rules.
SERVES: Final = re.compile(r"^(S\d+\.\d+) and (S\d+\.\d+):\n\n```python$", re.MULTILINE)
#: Tables of names, which have no example.
TABLES: Final = ("S19.", "S20.")


class Rule(NamedTuple):
    """A rule, `S4` or `S4.3`, or `S4.` for a section without numbers, and what stands below it."""

    name: str
    text: str

    @property
    def has_example(self) -> bool:
        return any(block.language == "python" and block.shows for block in blocks_of(self.text))

    @property
    def holds(self) -> bool:
        """Whether any of the rule is in force."""
        return not self.text.startswith("*Not yet")


def rules_of(page: str) -> Iterator[Rule]:
    """Yield the sections of the page and their rules."""
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        numbers = [int(number) for number in re.findall(r"S(\d+)", head)]
        _, *items = re.split(r"^(\d+)\. ", text, flags=re.MULTILINE)
        for section in range(numbers[0], numbers[-1] + 1):
            yield Rule(f"S{section}", text)
            for item, below in zip(items[::2], items[1::2], strict=True):
                yield Rule(f"S{section}.{item}", below)
            if not items:
                yield Rule(f"S{section}.", text.strip())


RULES: Final = list(rules_of(PAGE))
NUMBERS: Final = [rule.name for rule in RULES]
SERVED: Final = [rule for pair in SERVES.findall(PAGE) for rule in pair]


def is_on_the_page(section: str, item: str | None) -> bool:
    return (f"S{section}.{item}" if item else f"S{section}") in NUMBERS or f"S{section}." in NUMBERS


def unknown_rules(text: str) -> list[str]:
    """Return the rules that a text names and the pages do not have."""
    return [match[0] for match in NAMED.finditer(text) if not is_on_the_page(*match.groups())]


def test_rules_that_the_code_names_are_on_the_page() -> None:
    modules = (module for package in PACKAGES for module in modules_of(package))
    assert [(module.name, rule) for module in modules for rule in unknown_rules(module.text())] == []


def test_rules_have_an_example() -> None:
    rules = [rule for rule in RULES if "." in rule.name and rule.holds and rule.name not in TABLES]
    assert [rule.name for rule in rules if not rule.has_example and rule.name not in SERVED] == []


def test_a_rule_that_the_pages_name_is_on_them() -> None:
    assert unknown_rules(PAGE) == []
