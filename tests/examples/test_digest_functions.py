"""The functions of the digest example, alone and in the plain loop that mirrors the flow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.examples.digest_properties import (
    digest_nodes,
    plain_loop,
    problems_of,
)

split, summarise = digest_nodes.split, digest_nodes.summarise
join, grade = digest_nodes.join, digest_nodes.grade

WORDS = st.sampled_from(
    ["engine", "Wind", "rain", "überall", "e\u0301te\u0301", "日本", "カメラ", "بحر", "x", "🙂", "12"]
)
ENDS = st.sampled_from(
    [". ", "! ", "? ", ".\n", "… ", "。", "！", "؟ ", '." ', ".) ", "。」", " ", "\n", " e.g. ", ", "]
)
# fmt: off
BREAKS = [
    "\n", "\n\n", " \n\n\n", "\n# ", "\n## ", "\n###### ", "\n#\n", "\n===\n", "\n---\n", "\n- ", "\n1. ",
]
MARKUP = [
    "```\n", "\n~~~~ py\n", "\n````\n", "\n| a | b |\n", "# ", "    # ", "    ", "\t", "> ", " #\n", "\xa0",
    "***",
]
# fmt: on
LAYOUT = st.sampled_from(BREAKS + MARKUP)
TEXTS = st.lists(st.one_of(WORDS, WORDS, ENDS, LAYOUT), max_size=60).map("".join)
DOCUMENTS = st.one_of(TEXTS, TEXTS.map(lambda text: text.replace("\n", "\r\n")), st.text(max_size=200))


def sentences_of(text: str) -> Iterator[str]:
    return (text[sentence.start : sentence.end] for sentence in digest_nodes.sentences(text))


def ink(text: str) -> int:
    return len("".join(text.split()))


#: Texts with their title and their sections.
SECTIONS = (
    ("# Title\n\nLead.\n\n## One\n\nText.\n\n## Two\nMore.\n", "Title",
     ["Lead.", "## One\n\nText.", "## Two\nMore."]),
    ("Title\n=====\n\nOne\n---\nText.\n\nTwo\n---\nMore.", "Title", ["One\n---\nText.", "Two\n---\nMore."]),
    *((blank, "", []) for blank in ("", "\n", " \r\n\t\n", "\ufeff", "\u3000\n")),
    ("# Title\n", "Title", []),
    ("Before.\n\n## Early\n\nA.\n\n# Title\n\nB.\n\n# Chapter\n\nC.", "Title",
     ["Before.", "## Early\n\nA.", "B.", "# Chapter\n\nC."]),
    ("## One\n\nA.\n\n```\n## Two\n", "", ["## One\n\nA.\n\n```\n## Two"]),
    ("```x``` is code.\n\n# Title", "Title", ["```x``` is code."]),
    ("\ufeff# Title\r\n\r\nA\r\nb.\r\n\r\nOne\r\n---\r\nC.\r\n", "Title",
     ["A\r\nb.", "One\r\n---\r\nC."]),
)  # fmt: skip
#: What is the title of a text that begins with these lines.
TITLES = {
    "# Plain": "Plain", "   #   Blanks  around   ": "Blanks  around", "#\tA tab": "A tab",
    "# Closed ##": "Closed", "# C#": "C#", "# C# #": "C#", "# Größe e\u0301 日本 🙂": "Größe e\u0301 日本 🙂",
    "Under #\n=": "Under #", "#NoBlank": "", "    # Indented": "", "####### Seven": "", "#": "", "# ***": "",
    "## Second level": "", "Two lines\nof text\n=======": "", "- item\n===": "", "===": "",
    "````\n```\n~~~~\n```` x\n# code\n`````\n# Title": "Title",
}  # fmt: skip


async def test_headings_part_a_text_into_sections(subtests: pytest.Subtests) -> None:
    for text, title, chunks in SECTIONS:
        with subtests.test(text):
            assert await split(text) == (title, chunks)


async def test_the_title_is_the_text_of_a_top_level_heading(subtests: pytest.Subtests) -> None:
    for line, title in TITLES.items():
        with subtests.test(line):
            assert (await split(f"{line}\n\nText.")).title == title


@given(DOCUMENTS)
@example("## A\n\r```\nB.")
@example("A\n- \r\r\n")
async def test_every_sentence_of_a_text_is_in_a_section(text: str) -> None:
    found = [sentence for chunk in (await split(text)).chunks for sentence in sentences_of(chunk)]
    assert found == list(sentences_of(text.removeprefix("\ufeff")))


def test_a_paragraph_is_read_as_sentences(subtests: pytest.Subtests) -> None:
    for parts in (
        ["One.", "Two!", "Three?", "Four…", "Five"],
        ["He said: “It is.”", "Then (it was not.)", "**Bold.**", "End"],
        ["東京です。", "「はい。」", "本当ですか？！", "そう"],
        ["هل هذا صحيح؟", "نعم هو صحيح.", "تم"],
        ["यह पहला है।", "यह दूसरा है।"],
        ["Ask Dr. Who, e.g. on May 3. or later.", "Or not."],
        ["Am 3. Oktober, z. B. um 12. Uhr, bzw. später.", "Oder nie."],
        ["Well... he said so.", "It costs 3.50 or 400.", "See main.py.", "J. R. Smith did."],
        ["A line\nbreak stays.", "Next\none."],
        ["Cafe\u0301.", "E\u0301te\u0301!", "🙂 is text?"],
    ):
        with subtests.test(parts[0]):
            assert list(sentences_of(" ".join(parts))) == parts


#: Texts, how many sentences are kept, and their summaries.
SUMMARIES = (
    ("Nothing here. Engines drive engines. Something else. Small engines drive wheels. Other things.", 2,
     "Engines drive engines. Small engines drive wheels."),
    ("Alpha. Beta. Gamma.", 2, "Alpha. Beta."),
    ("## One\n\nA b.  C\nd!\n\nE f", 4, "## One\n\nA b.  C\nd!\n\nE f"),
    ("## One\n\nWheels. Wheels turn.\n\n## Empty\n\n## Two\n\nWheels turn wheels. No.", 2,
     "## One\n\nWheels turn.\n\n## Two\n\nWheels turn wheels."),
    ("## Alone\n\n```\ncode\n```", 3, ""),
    ("日本日本。「何。」「日本日本。」", 2, "日本日本。\n\n「日本日本。」"),
    ("## A\r\n\r\nB\r\nc. D.\r\n\r\nE.", 3, "## A\r\n\r\nB\r\nc. D.\r\n\r\nE."),
)  # fmt: skip


async def test_the_first_sentences_with_the_most_frequent_words_are_kept(subtests: pytest.Subtests) -> None:
    """In their order, with their headings and line ends."""
    for text, keep, summary in SUMMARIES:
        with subtests.test(text):
            assert await summarise(text, keep) == summary


@given(DOCUMENTS, st.integers(0, 120), st.integers(1, 4))
@example("T\n=\nFoo", 0, 2)
@example("# ## #\n\nFoo.\n\n# Bar\n\nBaz.", 0, 2)
@example("Foo.\n\n# T\n\nBar. Baz.", 0, 1)
@example("\xa0#\n===\n\nFoo.\n\n# Bar\n\nBaz.", 0, 2)
async def test_no_round_adds_moves_or_merges_anything(source: str, target: int, keep: int) -> None:
    outcome = await plain_loop(source, target, keep=keep)
    assert not problems_of(outcome.digest, source, target, outcome.ended_by_limit)
    for before, after in zip([source, *outcome.texts], outcome.texts, strict=False):
        assert not problems_of(after, source, len(after), ended_by_limit=False)
        assert ink(after) <= ink(before)
        assert all(sentence in source for sentence in sentences_of(after))
