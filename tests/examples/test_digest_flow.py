"""The digest example: its functions, its flow against golden files, and the plain loop that mirrors it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dataflow import EventKind, Flow

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
GOLDEN = ROOT / "tests" / "golden"

sys.path.insert(0, str(EXAMPLES))

import digest_nodes  # noqa: E402 - an example is no package: its folder comes first

LIMIT = 5
KEEP = 8

# Cuts at least wherever a sentence may end, so each piece of a right digest lies within one sentence.
_CUT = re.compile(
    r"""(?<= [.!?…؟۔।॥։።\])}"'”’»›*_] ) \s+
      | (?<= [。！？｡\])}"'”’»›*_」』）】》〉] )
      | (?: \r?\n ){2,}""",
    re.VERBOSE,
)


class Golden(NamedTuple):
    """An input, the target it is digested with, and the number of rounds that takes."""

    name: str
    target: int
    rounds: int

    @property
    def path(self) -> Path:
        return GOLDEN / self.name

    @property
    def source(self) -> str:
        return self.path.read_bytes().decode()

    @property
    def digest(self) -> str:
        return self.path.with_suffix(".digest.txt").read_bytes().decode()


class Outcome(NamedTuple):
    """What the loop ended with: the text of each round, the last one's being the digest."""

    texts: list[str]
    ended_by_limit: bool

    @property
    def digest(self) -> str:
        return self.texts[-1]


GOLDENS = (
    Golden("station_manual.md", target=2000, rounds=4),
    Golden("voices.txt", target=1200, rounds=2),
    Golden("write_ahead.md", target=2000, rounds=4),
)


async def plain_loop(source: str, target: int, limit: int = LIMIT, keep: int = KEEP) -> Outcome:
    """Do what the flow does: round after round, until the digest is short enough or the limit is reached."""
    doc = source
    texts: list[str] = []
    for _ in range(limit):
        parts = await digest_nodes.split(doc)
        briefs = [await digest_nodes.summarise(chunk, keep) for chunk in parts.chunks]
        doc = await digest_nodes.join(parts.title, briefs)
        texts.append(doc)
        short, keep = await digest_nodes.grade(doc, target, keep)
        if short:
            return Outcome(texts, ended_by_limit=False)
    return Outcome(texts, ended_by_limit=True)


def problems_of(digest: str, source: str, target: int, ended_by_limit: bool) -> list[str]:
    """List what is wrong with a digest: its length, what is not in the source, what is in another order."""
    problems = []
    if not source.strip() and digest:
        problems.append(f"a blank source has a digest of {len(digest)} characters")
    if len(digest) > target and not ended_by_limit:
        problems.append(f"{len(digest)} characters, over the target of {target}")
    if len(digest) <= target and ended_by_limit:
        problems.append("went on to the limit though it was short enough")
    title, body = take_title(digest, source)
    if title not in source:
        problems.append(f"the title {title!r} is not in the source")
    return problems + misplaced(body, source)


def take_title(digest: str, source: str) -> tuple[str, str]:
    """Part the title that the digest itself has written as a heading from the rest.

    It comes first wherever it stood, and had another form if it was underlined in the source.
    """
    if not digest.startswith("# "):
        return "", digest
    line, _, body = digest.partition("\n")
    return line.removeprefix("# ").strip(), body


def misplaced(body: str, source: str) -> list[str]:
    """List the pieces that are not in the source behind the piece before them."""
    problems = []
    position = 0
    for piece in pieces(body):
        found = source.find(piece, position)
        if found >= 0:
            position = found + len(piece)
        elif piece in source:
            problems.append(f"out of order: {piece!r}")
        else:
            problems.append(f"not in the source: {piece!r}")
    return problems


def pieces(text: str) -> Iterator[str]:
    """Yield the sentences and headings of a text, cut rather too often than too seldom."""
    return (piece.strip() for piece in _CUT.split(text) if piece.strip())


DOCUMENT = EXAMPLES / "digest.yaml"
SCRIPT = EXAMPLES / "digest.py"
EVERY_GOLDEN = pytest.mark.parametrize("golden", GOLDENS, ids=lambda golden: golden.name)

#: Runs the flow in a fresh process and prints its peak memory in MB and the size of the digest.
MEASURE = """
import sys
from benchmarks.memory import kilobytes
from dataflow import Flow
result = Flow.load(sys.argv[1]).run_sync(path=sys.argv[2], to=sys.argv[3])
print(kilobytes("VmHWM") // 1024, len(result["digest"]), result.status)
"""


@EVERY_GOLDEN
async def test_the_document_makes_the_golden_digest(golden: Golden, tmp_path: Path) -> None:
    to = tmp_path / "digest.txt"
    result = await Flow.load(DOCUMENT).run(path=str(golden.path), to=str(to), target=golden.target)
    assert result.status == "completed"
    assert problems_of(result["digest"], golden.source, golden.target, ended_by_limit=False) == []
    assert result["digest"] == golden.digest
    assert to.read_bytes().decode() == golden.digest
    assert result.warnings == ()


@EVERY_GOLDEN
def test_the_script_makes_the_golden_digest(golden: Golden, tmp_path: Path) -> None:
    to = tmp_path / "digest.txt"
    command = [sys.executable, str(SCRIPT), str(golden.path), "--to", str(to), "--target", str(golden.target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert to.read_bytes().decode() == golden.digest
    assert done.stdout == f"{len(golden.digest)} characters after {golden.rounds} rounds, written to {to}\n"


async def test_sections_are_summarised_once_a_round_and_at_the_same_time(tmp_path: Path) -> None:
    golden = GOLDENS[2]
    flow = Flow.load(DOCUMENT)
    sections: dict[str, int] = {}
    firings: Counter[str] = Counter()
    most_at_once = running = 0
    async with flow.start(path=str(golden.path), to=str(tmp_path / "to"), target=golden.target) as run:
        async for event in run.events():
            round_ = event.path.partition("/")[0]
            if event.kind is EventKind.MAP_OPENED:
                sections[round_] = event.data["items"]
            if re.fullmatch(r"refine\[\d+\]/brief\[\d+\]", event.path):
                if event.kind is EventKind.NODE_STARTED:
                    firings[round_] += 1
                    running += 1
                    most_at_once = max(most_at_once, running)
                elif event.kind is EventKind.NODE_FINISHED:
                    running -= 1
    assert len(sections) == golden.rounds >= 2
    assert firings == sections
    assert most_at_once > 1


async def test_at_the_limit_the_last_text_stands_with_a_warning(tmp_path: Path) -> None:
    golden = GOLDENS[0]
    result = await Flow.load(DOCUMENT).run(path=str(golden.path), to=str(tmp_path / "to"), target=1)
    assert result.status == "completed"
    assert problems_of(result["digest"], golden.source, 1, ended_by_limit=True) == []
    assert [path for path in result.states if path.endswith("/grade")] == [
        f"refine[{round_}]/grade" for round_ in range(LIMIT)
    ]
    [warning] = result.warnings
    assert warning.startswith("DF0834 refine: ended at its limit of 5 rounds")


def called(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, encoding="utf-8", check=False)


def test_a_missing_file_is_reported_by_command_line_and_script(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.txt")
    done = called("-m", "dataflow.cli", "run", str(DOCUMENT), "--input", f"path={nowhere}")
    assert done.returncode == 1
    assert "failed: page: FileNotFoundError" in done.stderr
    assert "nowhere.txt" in done.stderr
    assert "Traceback" not in done.stderr
    done = called(str(SCRIPT), nowhere)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "nowhere.txt" in done.stderr


@pytest.mark.timeout(900)  # of which each is read and cut whole
@pytest.mark.parametrize("shape", ["markdown", "prose", "one section"])
def test_twenty_megabytes_take_less_than_a_gigabyte(shape: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(_large(shape), encoding="utf-8")
    command = [sys.executable, "-c", MEASURE, str(DOCUMENT), str(page), str(tmp_path / "to")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    peak, size, status = done.stdout.split()
    assert status == "completed"
    assert int(size) > 0
    assert int(peak) < 1000


def _large(shape: str) -> str:
    sentence = "The {0} tide of März rises over the старый harbour wall {0} times. "
    sentences = [sentence.format(number) for number in range(20_000_000 // len(sentence.encode()))]
    size = {"markdown": 100, "prose": 20, "one section": len(sentences)}[shape]
    parts = ["".join(sentences[start : start + size]) for start in range(0, len(sentences), size)]
    if shape == "markdown":
        parts = [f"## Part {number}\n\n{part}" for number, part in enumerate(parts)]
    return "\n\n".join(parts)


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
