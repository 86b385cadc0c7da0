"""The page of diagnostics: a hook of mkdocs adds a section for each code, in which all text is literal."""

from __future__ import annotations

import re
import runpy
from typing import Any, Final

from dataflow.diagnostics.catalogue import by_code
from dataflow.diagnostics.diagnostic import Kind
from dataflow.packs.registry import installed_diagnostics
from tests.docs.pages import DOCS

HOOK: Final[dict[str, Any]] = runpy.run_path(str(DOCS / "hooks" / "diagnostics_page.py"))


def test_each_code_has_one_heading_in_the_order_of_the_codes() -> None:
    headings = re.findall(r"^### (\w+)$", HOOK["codes"](), re.MULTILINE)
    assert headings == sorted(by_code(*installed_diagnostics().values()))


def test_characters_of_markdown_are_literal_outside_of_inline_code() -> None:
    kind = Kind(
        "XX0001",
        "`{name}` is not <here>",
        meaning="Takes *args, __all__ [x] and `*args`.",
        example="```\n{{ x }}",
        cure="Write `a < b`, not a < b.",
    )
    assert HOOK["section"](kind).split("\n\n") == [
        "### XX0001",
        "`` `NAME` is not <here> ``",
        r"Takes \*args, \_\_all\_\_ \[x\] and `*args`.",
        "Example:",
        "````text\n```\n{{ x }}\n````",
        "Write `a < b`, not a &lt; b.",
    ]
