"""Known texts are found as a regular expression finds them, in time that does not depend on their number."""

from __future__ import annotations

import re
import sys
from hashlib import sha256
from types import FrameType
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from dataflow.secrets.known import Secrets
from dataflow.secrets.masking import SHORTEST, Masking

letters = st.text("ab", max_size=30)
known_texts = st.lists(st.text("ab", min_size=SHORTEST, max_size=14), max_size=6)


@given(letters, known_texts)
def test_the_first_and_longest_known_text_is_masked(text: str, known: list[str]) -> None:
    masking: Masking[str] = Masking()
    for number, one in enumerate(known):
        masking.add(one, f"[{number}]")
    longest_first = "|".join(sorted(known, key=len, reverse=True))
    expected = re.sub(longest_first, lambda found: f"[{known.index(found[0])}]", text) if known else text
    marked = masking.mark(text)
    assert masking.masked(text) == expected
    assert (marked is None) == (text == expected)
    assert marked is None or all(re.fullmatch(r"\[\d\]", marked.value[slice(*span)]) for span in marked.spans)


#: Like what most programs write, and what is most like the secrets: their common beginning again and again.
TEXTS: Final = {
    "other": "it was a dark and stormy night; " * 1_000,
    "alike": "token-0x token-12 token-abcdefgh " * 1_000,
    "long": "token-0001-abcdefgh, " * 1_000,
}


def instructions(secrets: Secrets, text: str) -> int:
    """Count the instructions of Python that masking a text takes."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        secrets.text.masked(text)
    finally:
        sys.settrace(before)
    return count


def test_a_thousand_secrets_take_as_many_instructions_as_one(subtests: Any) -> None:
    one, many = Secrets(), Secrets()
    one.add("FIRST", "token-0001-abcdefgh")
    for number in range(1_000):
        many.add(f"NAME_{number}", f"token-{number:04}-abcdefgh")
        many.add(f"OTHER_{number}", sha256(str(number).encode()).hexdigest())
    for name, text in TEXTS.items():
        with subtests.test(name):
            assert instructions(many, text) < 1.5 * instructions(one, text)
            assert instructions(many, 2 * text) < 2.1 * instructions(many, text)
