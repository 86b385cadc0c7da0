"""Texts that messages quote, cut in one way (S12.4)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dataflow.authoring import shortened
from dataflow.base.wording import choices
from dataflow.secrets.known import know
from tests.support.known_secrets import forgetting


@given(st.text(max_size=300), st.integers(40, 300))
def test_a_text_has_at_most_so_many_characters_and_tells_how_many_are_left_out(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short) <= most
    if len(text) <= most:
        assert short == text
    else:
        head, count, tail = re.fullmatch(r"(.*)\.\.\. (\d+) characters \.\.\.(.*)", short, re.DOTALL).groups()  # type: ignore[union-attr]  # as it is cut
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(count) + len(tail) == len(text)


def test_what_is_left_out_is_told_without_half_of_a_secret() -> None:
    assert shortened("a" * 1_500, 0) == "... 1,500 characters ..."
    with forgetting():
        know("TOKEN", "s" * 100)
        assert "ss" not in shortened("s" * 100 + "x" * 100, 80)
        assert "ss" in shortened("s" * 100 + "x" * 100, 80, in_clear=True)
    assert choices(["zebra", "open", "close"], near="opne") == "choices: open, close, zebra"
