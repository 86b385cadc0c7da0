"""Check and prepare the source of an expression for the parser, and reword the parser's errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dataflow.base.wording import shortened
from dataflow.diagnostics.expressions import (
    DOLLAR_MISPLACED,
    ENDS_TOO_EARLY,
    ESCAPE_UNKNOWN,
    NAME_UNDERSCORE,
    NESTED_TOO_DEEP,
    NEVER_CLOSED,
    SOURCE_EMPTY,
    SOURCE_TOO_LONG,
    SYNTAX_INVALID,
    TEMPLATE_TAG_ALONE,
    TEMPLATE_TAG_UNKNOWN,
)
from dataflow.expressions.limits import MOST_QUOTED, Refused, short
from dataflow.maximums import maximum

if TYPE_CHECKING:
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "KEYWORD",
    "MOST_DEPTH",
    "prepared_expression",
    "prepared_template",
    "syntax_error",
    "too_deep",
    "unexpected",
]

MOST_CHARACTERS: Final = maximum("EXPRESSION_CHARACTERS", 10_000)
MOST_DEPTH: Final = maximum("EXPRESSION_LEVELS", 20)
#: The prefix of a keyword that is used as a name, `$in` for example. No author can write such a name.
KEYWORD: Final = "_word_"
_WORDS_OF_THE_LANGUAGE: Final = {
    "and", "else", "false", "False", "if", "in", "is", "none", "None", "not", "or", "true", "True",
}  # fmt: skip
_STATEMENTS: Final = ("if", "elif", "else", "endif")
_STEP: Final = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<word>\$?\w+)"""
    r"""|(?P<dollar>\$)|(?P<end>[%}]})|(?P<open>[(\[{])|(?P<close>[)\]}])""",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"""\\(?:[\\'"abfnrtv\n]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})""")
_OPENING: Final = re.compile(r"\{[{%#]")
_ENDS: Final = {"{{": "}}", "{%": "%}"}
#: jinja2's messages about an unexpected token.
_MET: Final = re.compile(
    r"(?:[Ee]xpected (?:token '(?P<expected>.+)'|an expression), got|[Uu]nexpected(?! char)) "
    r"'?(?P<found>end of [a-z ]+|.+?)'?(?:[,.] .+)?$"
)
_TAG: Final = re.compile("Encountered unknown tag '(.+?)'")
#: jinja2's names of the ends of a source, and what ends there: the whole source, or code in a template.
_ENDINGS: Final = {
    "end of template": "",
    "end of print statement": "{{ }}",
    "end of statement block": "{% %}",
}


def prepared_expression(source: str) -> str:
    """Check an expression and return it in the form that the parser takes."""
    _check_length(source)
    if not source.strip():
        raise Refused(SOURCE_EMPTY())
    code, _ = _Code(source, 0, None).read()
    return code


def prepared_template(source: str) -> str:
    """Check a template and return it in the form that the parser takes."""
    _check_length(source)
    parts: list[str] = []
    position = 0
    while (opening := _OPENING.search(source, position)) is not None:
        kind = opening[0]
        if kind == "{#":
            raise _tag_unknown("{#", source, opening.start())
        code, end = _Code(source, opening.end(), _ENDS[kind]).read()
        if kind == "{%":
            _check_statement(code, source, opening.start())
        parts += [source[position : opening.end()], code]
        position = end
    return "".join([*parts, source[position:]])


def _check_length(source: str) -> None:
    if len(source) > MOST_CHARACTERS:
        most, found = f"at most {MOST_CHARACTERS:,} characters", f"{len(source):,}"
        raise Refused(SOURCE_TOO_LONG(expected=most, found=found))


def _check_statement(code: str, source: str, position: int) -> None:
    word = re.match(r"[-+]?\s*(\w*)", code)
    name = word[1] if word is not None else ""
    if name not in _STATEMENTS:
        raise _tag_unknown(f"{{% {shortened(name, MOST_QUOTED)} %}}", source, position)


def _tag_unknown(tag: str, source: str, position: int) -> Refused:
    known = ["{{ }}", *(f"{{% {name} %}}" for name in _STATEMENTS)]
    return Refused(TEMPLATE_TAG_UNKNOWN(_place(source, position), tag=tag, available=known))


def _place(source: str, position: int) -> str:
    """Describe a position by line and column."""
    line = source.count("\n", 0, position) + 1
    column = position - (source.rfind("\n", 0, position) + 1) + 1
    return f"column {column}" if "\n" not in source else f"line {line}, column {column}"


class _Code:
    """One piece of code: the whole source, or the part up to a closing delimiter."""

    def __init__(self, source: str, begin: int, end: str | None) -> None:
        self.source = source
        self.begin = begin
        self.end = end
        self.open: list[int] = []  # the positions of unclosed brackets

    def read(self) -> tuple[str, int]:
        """Return the code, and the position of its end."""
        parts: list[str] = []
        position = self.begin
        while (step := _STEP.search(self.source, position)) is not None:
            parts.append(self.source[position : step.start()])
            if step.lastgroup == "end" and not self.open and step[0] == self.end:
                return "".join(parts), step.start()
            if step.lastgroup == "end":
                position = step.start() + 1
                parts.append(step[0][0])
                if step[0] == "}}":
                    self.bracket("close", step.start())
                continue
            parts.append(self.step(step))
            position = step.end()
        if self.open or self.end is not None:
            start = self.open[-1] if self.open else self.begin - 2
            what = self.source[start] if self.open else self.source[start : self.begin]
            raise Refused(NEVER_CLOSED(_place(self.source, start), opening=what))
        return "".join([*parts, self.source[position:]]), len(self.source)

    def step(self, step: re.Match[str]) -> str:
        """Check one string, word or bracket, and return its replacement."""
        found = step[0]
        match step.lastgroup:
            case "text":
                self.check_escapes(found, step.start())
            case "word":
                return self.word(found, step.start())
            case "dollar":
                self.refuse_dollar(step.start())
            case kind:
                self.bracket(kind, step.start())
        return found

    def word(self, word: str, position: int) -> str:
        """Check a word, and remove the `$` in front of a name."""
        name = word.removeprefix("$")
        if name.startswith("_"):
            raise Refused(NAME_UNDERSCORE(_place(self.source, position), found=short(name)))
        if name == word:
            return word
        before = self.source[position - 1] if position > self.begin else ""
        if name[0].isdigit() or before == "." or before.isalnum() or before in ("_", "$"):
            self.refuse_dollar(position)
        return KEYWORD + name if name in _WORDS_OF_THE_LANGUAGE else name

    def refuse_dollar(self, position: int) -> None:
        raise Refused(DOLLAR_MISPLACED(_place(self.source, position)))

    def check_escapes(self, text: str, position: int) -> None:
        rest = _ESCAPE.sub("", text)
        if "\\" in rest:
            escape = rest[rest.index("\\") :][:2]
            raise Refused(ESCAPE_UNKNOWN(_place(self.source, position), escape=escape))

    def bracket(self, kind: str | None, position: int) -> None:
        if kind == "open":
            self.open.append(position)
        elif self.open:
            self.open.pop()
        else:
            raise unexpected(repr(self.source[position]), _place(self.source, position))
        if len(self.open) > MOST_DEPTH:
            raise too_deep(_place(self.source, position))


def too_deep(place: str = "") -> Refused:
    """Return the error for a source with too many levels of brackets or operators."""
    return Refused(NESTED_TOO_DEEP(place, expected=f"at most {MOST_DEPTH} levels"))


def unexpected(found: str, place: str = "", expected: str = "") -> Refused:
    """Return the error for a part of the source that cannot be where it is."""
    return Refused(SYNTAX_INVALID(place, error="syntax error", expected=expected, found=found))


def syntax_error(message: str, place: str) -> Diagnostic:
    """Return the problem for a message of jinja2, which mentions tokens and blocks."""
    if met := _MET.match(message):
        expected, found = met["expected"], met["found"]
        if found in _ENDINGS:
            within = ": ".join(part for part in (place, _ENDINGS[found]) if part)
            return ENDS_TOO_EARLY(within, expected="{% endif %}" if "endif" in message else "")
        known = expected is not None and expected not in _ENDINGS
        return unexpected(repr(found), place, repr(expected) if known else "").problem
    if tag := _TAG.match(message):  # unknown ones were refused before
        return TEMPLATE_TAG_ALONE(place, tag=f"{{% {tag[1]} %}}")
    if message == "expected name or number":
        return SYNTAX_INVALID(place, error="syntax error", expected="a name after '.'")
    if message.startswith("unexpected char "):
        return unexpected(message.split()[2], place).problem  # its position is one in the prepared source
    return SYNTAX_INVALID(place, error=message[:200])
