"""The nodes of the digest example: split a text, summarise its sections, join them, grade the result.

The summary is extractive. A *sentence* is an exact slice of the text, inner line breaks included, so that
whatever stands in a digest stands in the text it was made from. Text is read as Markdown or as plain text:

- A sentence ends at its mark, or else with its paragraph; list items are paragraphs. What would go on over
  many lines, as in a log, is read as one sentence a line.
- Headings (`# …` and underlined ones) part a text into sections. Without any beside the title, paragraphs
  are grouped into sections instead.
- A heading is no sentence and does not count for `keep`. It stays as long as a sentence below it does.
- Fenced code and tables hold no sentences and never get into a digest.

A digest reads as a text of the same sections in the same order, so the next round can work on it. Wherever
two sentences meet that were not neighbours, splitting it again parts them again: no round ever makes one
sentence out of two. Every function takes time linear in the text and little more memory than its result.
"""

from __future__ import annotations

import re
from collections import Counter
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from anyio.lowlevel import checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Grade", "Parts", "grade", "join", "split", "summarise"]

MOST_SECTIONS = 2_000  # of a huge text; beyond it, short neighbours share a section
PLAIN_SECTION = 800  # characters after which a text without headings begins its next section
SLICE = 500_000  # characters counted, and SENTENCES ranked, between two chances for other nodes to run
SENTENCES = 2_000
VOCABULARY = 100_000  # different words counted for one section; beyond it the rarest are forgotten
LINES = 8  # line ends within a sentence, from which on each line is read as one
SCORED = 2_000  # characters of a sentence that count for its score

MARK = re.compile(
    r"""^(?:
      (?P<blank>  \s*\n )                                              # blank lines, taken together
    | (?P<atx>    [ ]{0,3} \#{1,6} (?: [ \t\r] [^\n]*+ )?+ $ )         # a heading
    | (?P<fence>  [ \t]*+ (?: `{3,}+ (?= [^`\n]*+ $ ) | ~{3,}+ ) [^\n]*+ )
    | (?P<rule>   [ ]{0,3} (?: =++ | -++ ) [ \t\r]*+ $ )               # a line, or the underline of a heading
    | (?P<table>  [ ]{0,3} \| [^\n]*+ )
    | (?P<item>   [ \t]*+ (?: [-*+] | \d{1,3}+ [.)] ) [ \t] )          # begins a block and belongs to it
    )""",
    re.MULTILINE | re.VERBOSE,
)
STOP = re.compile(
    r"""(?P<stop>
      (?<! [.!?…؟۔।॥։።] ) (?P<mark> [.!?…؟۔।॥։።]++ ) [\])}"'”’»›*_]*+ (?= \s )
    | [。！？｡]++ [\])}"'”’»›*_」』）】》〉]*+
    ) \s*+""",
    re.VERBOSE,
)
ABBREVIATION = re.compile(
    r"(?:\w\.)*\w|\d\d|abb|approx|bspw|bzgl|bzw|ca|cf|dr|etc|evtl|fig|ggf|inkl|mr|mrs|ms|nr|prof|sog|st|usw|vgl|vs",
    re.IGNORECASE,
)
MARKUP = re.compile(r"#{1,6}\s|`{3}|~{3}|\|")  # would not be read as a sentence at the start of a line
WORD = re.compile(
    r"[\u3400-\u9fff]{1,2}|[\u30a1-\u30ff]{2,}|[\uac00-\ud7a3]{2,}"  # a Han pair, a katakana or Hangul word
    r"|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{4,}"  # elsewhere short words say little of the subject
)
LETTER = re.compile(r"[^\W_]")
LINE = re.compile(r"\S(?:[^\n]*\S)?")
SPACE = re.compile(r"\s*")
NEWLINES = re.compile(r"[\r\n]*\n")


class Parts(NamedTuple):
    """A text taken apart."""

    title: str
    chunks: list[str]


class Grade(NamedTuple):
    """Whether a digest is short enough, and how many sentences a section may keep in the next round."""

    short: bool
    keep: int


class Block(NamedTuple):
    """A heading, with its level from 1, or a piece of running text, with level 0."""

    start: int
    end: int
    level: int


class Sentence(NamedTuple):
    """The slice that a sentence is, the start of its paragraph, and the heading above it."""

    start: int
    end: int
    block: int
    heading: Block | None


async def split(doc: str) -> Parts:
    """Take a text apart into its title and its sections, each with its heading.

    The title is the first top-level heading with a word in it, which is in no section; without one it is "".
    A byte order mark at the start is dropped. Blank sections are left out, so a blank text has none.
    """
    text = doc.removeprefix("\ufeff")
    title, headed = outline(text)
    least = max(len(text) // MOST_SECTIONS, 1 if headed else PLAIN_SECTION)
    spans = [(0, len(text))] if title is None else [(0, title.start), (title.end, len(text))]
    cut = (section for begin, end in spans for section in sections(text, begin, end, headed, least))
    chunks = [section for section in cut if section.strip()]
    return Parts("" if title is None else heading_text(text, title), chunks)


async def summarise(text: str, keep: int) -> str:
    """Keep the `keep` sentences whose words are the most frequent in the text, in their order.

    Raises ValueError for a `keep` below 1.
    """
    if keep < 1:
        raise ValueError(f"keep must be at least 1, found {keep}")
    counts: Counter[str] = Counter()
    for start in range(0, len(text), SLICE):
        await checkpoint()
        counts.update(WORD.findall(text[start : start + SLICE].casefold()))
        if len(counts) > VOCABULARY:
            counts = Counter(dict(counts.most_common(VOCABULARY // 2)))
    ranked = ((score(text, sentence, counts), -sentence.start, sentence) for sentence in sentences(text))
    best: list[tuple[float, int, Sentence]] = []
    while batch := list(islice(ranked, SENTENCES)):
        best = nlargest(keep, best + batch)
        if len(batch) == SENTENCES:
            batch.clear()  # a thousand sections may be waiting here
            await checkpoint()
    return excerpt(text, sorted(sentence for _, _, sentence in best))


async def join(title: str, parts: list[str]) -> str:
    """Put the title, as a heading, and the parts that are not empty under one another."""
    pieces = [f"# {title}"] if title else []
    pieces += [part for part in parts if part.strip()]
    return (newline_of(*pieces) * 2).join(pieces)


async def grade(text: str, target: int, keep: int) -> Grade:
    """Say whether the text has at most `target` characters, and halve `keep`, but not below 1."""
    return Grade(len(text) <= target, max(1, keep // 2))


def blocks(text: str, begin: int, end: int) -> Iterator[Block]:
    """Yield the headings and the pieces of running text between begin and end, without code and tables.

    Sentences do not cross blocks. An unclosed fence reaches to the end, as in CommonMark.
    """
    fence = ""
    start = begin
    for mark in MARK.finditer(text, begin, end):
        kind = mark.lastgroup
        if fence:
            run = mark.group().strip()
            if kind == "fence" and run.startswith(fence) and not run.strip(fence[0]):
                fence, start = "", mark.end()
            continue
        level = underlined(text, start, mark) if kind == "rule" else 0
        if level:
            yield Block(start, mark.end(), level)
        elif start < mark.start():
            yield Block(start, mark.start(), 0)
        start = mark.start() if kind == "item" else mark.end()
        if kind == "atx":
            yield Block(*mark.span(), len(leading_run(mark.group())))
        elif kind == "fence":
            fence = leading_run(mark.group())
    if start < end and not fence:
        yield Block(start, end, 0)


def leading_run(line: str) -> str:
    """Give the character that a line begins with as often as it stands there: `##` of `## Title`."""
    line = line.lstrip()
    return line[: len(line) - len(line.lstrip(line[0]))]


def underlined(text: str, start: int, rule: re.Match[str]) -> int:
    """Give the level of the heading that a rule underlines, or 0: a heading is one plain line of text."""
    line = text[start : rule.start()].strip("\r\n")
    if "\n" in line or not line.strip() or line.startswith(("    ", "\t", "> ", "- ", "* ", "+ ")):
        return 0
    return 1 if "=" in rule.group() else 2


def heading_text(text: str, heading: Block) -> str:
    line, underline, _ = text[heading.start : heading.end].strip().partition("\n")
    if underline:
        return line.strip()
    inner = line.lstrip("#").strip()
    bare = inner.rstrip("#")
    return inner if bare and not bare[-1].isspace() else bare.rstrip()


def outline(text: str) -> tuple[Block | None, bool]:
    """Find the title, and whether there is any other heading."""
    title, headed = None, False
    for block in blocks(text, 0, len(text)):
        if title is None and block.level == 1 and LETTER.search(heading_text(text, block)):
            title = block
        elif block.level:
            headed = True
        if title and headed:
            break
    return title, headed


def sections(text: str, begin: int, end: int, headed: bool, least: int) -> Iterator[str]:
    """Cut before each heading, or before each paragraph, as soon as a section has `least` characters."""
    start = skip(NEWLINES, text, begin, end)
    for block in blocks(text, begin, end):
        if (block.level or not headed) and block.start - start >= least:
            yield text[start : block.start].rstrip("\r\n")
            start = skip(NEWLINES, text, block.start, end)
    yield text[start:end].rstrip("\r\n")


def sentences(text: str) -> Iterator[Sentence]:
    heading: Block | None = None
    for block in blocks(text, 0, len(text)):
        if block.level:
            heading = block
            continue
        for sentence in read(text, block, heading):
            if LETTER.search(text, sentence.start, sentence.end) and not MARKUP.match(text, sentence.start):
                yield sentence


def read(text: str, block: Block, heading: Block | None) -> Iterator[Sentence]:
    first = start = skip(SPACE, text, block.start, block.end)
    for stop in STOP.finditer(text, start, block.end):
        if ends_sentence(text, start, stop, block.end):
            yield from lines(text, Sentence(start, stop.end("stop"), first, heading))
            start = stop.end()
    if start < block.end:
        end = start + len(text[start : block.end].rstrip())
        yield from lines(text, Sentence(start, end, first, heading))


def lines(text: str, sentence: Sentence) -> Iterator[Sentence]:
    """Yield the sentence, or, if it has too many lines to be one, each line as a paragraph."""
    if text.count("\n", sentence.start, sentence.end) < LINES:
        yield sentence
        return
    for line in LINE.finditer(text, sentence.start, sentence.end):
        yield Sentence(*line.span(), line.start(), sentence.heading)


def ends_sentence(text: str, start: int, stop: re.Match[str], end: int) -> bool:
    """Tell a sentence's end from an abbreviation's, by the word before it and the letter after it.

    `excerpt` relies on nothing else being looked at.
    """
    if stop["mark"] is None:
        return True
    if stop.end() < end and text[stop.end()].islower():
        return False
    if stop["mark"] != ".":
        return True
    words = text[max(start, stop.start() - 10) : stop.start()].split()
    return not words or ABBREVIATION.fullmatch(words[-1].lstrip("([{\"'„“‘«*_")) is None


def score(text: str, sentence: Sentence, counts: Mapping[str, int]) -> float:
    """Average how often the words of a sentence occur; longer and more varied sentences gain."""
    words = WORD.findall(text[sentence.start : sentence.end][:SCORED].casefold())
    return sum(counts.get(word, 0) for word in set(words)) / (len(words) + 8)


def excerpt(text: str, chosen: list[Sentence]) -> str:
    """Put sentences of a text under their headings, parted so that splitting finds each of them again."""
    blank_line = newline_of(text) * 2
    pieces: list[str] = []
    before: Sentence | None = None
    for sentence in chosen:
        if before is not None:
            pieces.append(gap(text, before, sentence, blank_line))
        heading = sentence.heading
        if heading is not None and (before is None or before.heading != heading):
            pieces += [text[heading.start : heading.end].strip(), blank_line]
        pieces.append(text[sentence.start : sentence.end])
        before = sentence
    return "".join(pieces)


def gap(text: str, before: Sentence, after: Sentence, blank_line: str) -> str:
    """Give the white space that followed a sentence, or a blank line where both could be read as one."""
    follows = skip(SPACE, text, before.end, after.start)
    opening = text[after.start]
    neighbours = before.block == after.block and follows == after.start
    safe = before.block == after.block and opening.isalnum() and not opening.islower()
    return text[before.end : follows] if neighbours or safe else blank_line


def skip(what: re.Pattern[str], text: str, start: int, end: int) -> int:
    found = what.match(text, start, end)
    return found.end() if found else start


def newline_of(*texts: str) -> str:
    return "\r\n" if any("\r\n" in text for text in texts) else "\n"
