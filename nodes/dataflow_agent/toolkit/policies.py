"""Policies of tools: which calls are allowed, need an approval, or are denied (S10.6)."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from glob import escape
from typing import Any, Final, NamedTuple

from dataflow import ArgumentInvalid
from dataflow_agent.diagnostics.tools import PATTERN_INVALID, PATTERNS_NOT_A_LIST

__all__ = [
    "Policy",
    "Verdict",
    "arguments_named",
    "exactly",
    "is_hidden",
    "policy_of",
    "unmet",
    "unmet_arguments",
    "verdict",
]

_NAME: Final = re.compile(
    r"""\s*("(?:[^"\\]|\\.)*"|[^()\s"](?:[^()]*[^()\s])?)\s*(?:\((.*)\)\s*)?""", re.DOTALL
)
_WORD: Final = r"""("(?:[^"\\]|\\.)*"|[^\s,()="](?:[^,()="]*[^\s,()="])?)"""
_GLOB: Final = r"""("(?:[^"\\]|\\.)*"|[^,()"]*)"""
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,299})(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_ARGUMENT: Final = re.compile(rf"\s*{_WORD}\s*=\s*{_GLOB}\s*(,|\Z)", re.DOTALL)


class Verdict(Enum):
    """The decision of a policy on a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Pattern(NamedTuple):
    """A parsed pattern: a glob for the name, and one for each argument that it names."""

    name: str
    arguments: Mapping[str, str]

    def fits(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the pattern matches a call; a missing argument matches no glob."""
        return fnmatchcase(name, self.name) and all(
            argument in arguments and _fits(arguments[argument], glob)
            for argument, glob in self.arguments.items()
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """Which tools may be called: patterns `name` or `name(argument=glob, …)`, in three lists.

    `deny` has precedence, then `ask`, then `allow`. A call that no pattern matches is denied if there is an
    `allow`, even an empty one, or an `ask`, else allowed. A name is a glob too, of the name of the tool at
    its source. Raises ValueError for a malformed pattern.
    """

    allow: tuple[str, ...] | None = None
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pattern in (*(self.allow or ()), *self.ask, *self.deny):
            _read(pattern)

    @property
    def denies_others(self) -> bool:
        """Whether a call that no pattern matches is denied."""
        return self.allow is not None or bool(self.ask)


def policy_of(allow: Sequence[str] | None, ask: Sequence[str], deny: Sequence[str]) -> Policy:
    """Create a policy of lists; raises ValueError for a string instead of a list or a malformed pattern."""
    for name, given in (("allow", allow), ("ask", ask), ("deny", deny)):
        if isinstance(given, str):
            raise ArgumentInvalid(PATTERNS_NOT_A_LIST(name, found=repr(given)))
    return Policy(None if allow is None else (*allow,), (*ask,), (*deny,))


def verdict(policy: Policy, name: str, arguments: Mapping[str, Any]) -> Verdict:
    """Return the decision on a call of a tool with these arguments."""
    for patterns, found in (
        (policy.deny, Verdict.DENY),
        (policy.ask, Verdict.ASK),
        (policy.allow or (), Verdict.ALLOW),
    ):
        if any(_read(pattern).fits(name, arguments) for pattern in patterns):
            return found
    return Verdict.DENY if policy.denies_others else Verdict.ALLOW


def is_hidden(policy: Policy, name: str) -> bool:
    """Return whether every call of a tool is denied, for any arguments; such a tool is not offered."""
    if any(not read.arguments and fnmatchcase(name, read.name) for read in map(_read, policy.deny)):
        return True
    if not policy.denies_others:
        return False
    return not any(fnmatchcase(name, _read(pattern).name) for pattern in (*policy.ask, *(policy.allow or ())))


def arguments_named(policy: Policy) -> frozenset[str]:
    """Return the arguments that patterns name, of any tool."""
    patterns = (*(policy.allow or ()), *policy.ask, *policy.deny)
    return frozenset(argument for one in patterns for argument in _read(one).arguments)


def unmet(policy: Policy, names: Sequence[str]) -> list[str]:
    """List the patterns that match no tool of these names, for any arguments: they may be misspelt."""
    patterns = (*(policy.allow or ()), *policy.ask, *policy.deny)
    return [one for one in patterns if not any(fnmatchcase(name, _read(one).name) for name in names)]


def unmet_arguments(policy: Policy, tools: Sequence[tuple[str, Collection[str]]]) -> list[str]:
    """List the patterns whose arguments no matching tool has; `tools` are names with parameters."""
    patterns = {one: _read(one) for one in (*(policy.allow or ()), *policy.ask, *policy.deny)}
    return [
        pattern
        for pattern, read in patterns.items()
        if not any(fnmatchcase(name, read.name) and {*read.arguments} <= {*known} for name, known in tools)
    ]


@cache
def _read(pattern: str) -> Pattern:
    whole = _NAME.fullmatch(pattern)
    if whole is None:
        raise _unreadable(pattern)
    name, written = whole.groups()
    arguments: dict[str, str] = {}
    place = 0
    while written is not None and (place < len(written) or not arguments):
        one = _ARGUMENT.match(written, place)
        if one is None or (one[3] and not written[one.end() :].strip()):
            raise _unreadable(pattern)
        argument = _unquoted(pattern, one[1])
        if argument in arguments:
            raise _unreadable(pattern, f": it names the argument {argument!r} twice")
        arguments[argument] = _unquoted(pattern, one[2].rstrip())
        place = one.end()
    return Pattern(_unquoted(pattern, name), arguments)


def exactly(name: str) -> str:
    """Return the pattern that matches exactly this name."""
    return json.dumps(escape(name))


def _unquoted(pattern: str, written: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        return str(json.loads(written))
    except ValueError as error:
        raise _unreadable(pattern, f": a string in it is not JSON: {error}") from None


def _unreadable(pattern: str, reason: str = "") -> ArgumentInvalid:
    return ArgumentInvalid(PATTERN_INVALID(pattern=pattern, reason=reason))


def _fits(value: Any, glob: str) -> bool:
    """Match a glob against a string, or another value as JSON; a number matches any equal value."""
    if isinstance(value, str):
        return fnmatchcase(value, glob)
    written = _as_json(json.dumps(value))
    return fnmatchcase(written, glob) or written == _number_in(glob)


def _as_json(written: str) -> str:
    """Return JSON in canonical form, without spaces and with sorted keys."""
    value = json.loads(written, parse_float=_number)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _number(written: str) -> int | float:
    number = float(written)
    return int(number) if number.is_integer() else number


@cache
def _number_in(glob: str) -> str | None:
    """Return a glob that is a number in canonical form; None if it is not a number."""
    return _as_json(glob) if _NUMBER.fullmatch(glob) else None
