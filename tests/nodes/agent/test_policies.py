"""Which calls of tools a policy allows, asks about and denies (S10.6)."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dataflow_agent import tools
from dataflow_agent.toolkit.policies import Policy, Verdict, exactly, is_hidden, verdict
from tests.nodes.agent import agent_tools

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY

#: Globs, from few letters so that they often fit.
GLOBS: Final = st.text(st.sampled_from('ab*?,()" ='), max_size=5)
NAMES: Final = st.text(st.sampled_from("ab*?"), min_size=1, max_size=3)
TEXTS: Final = st.text(st.sampled_from('ab,()" ='), max_size=4)
ARGUMENTS: Final = st.dictionaries(st.sampled_from(["to", "a b", "x=y"]), TEXTS, max_size=2)


def written(name: str, globs: dict[str, str]) -> str:
    if not globs:
        return name
    return f"{name}({', '.join(f'{json.dumps(key)}={json.dumps(glob)}' for key, glob in globs.items())})"


@st.composite
def patterns(draw: st.DrawFn) -> str:
    return written(
        draw(NAMES), draw(st.dictionaries(st.sampled_from(["to", "a b", "x=y"]), GLOBS, max_size=2))
    )


LISTS: Final = st.lists(patterns(), max_size=3).map(tuple)
POLICIES: Final = st.builds(Policy, st.none() | LISTS, LISTS, LISTS)


@given(NAMES, st.dictionaries(st.sampled_from(["to", "a b", "x=y"]), GLOBS, max_size=2), NAMES, ARGUMENTS)
def test_a_pattern_means_what_its_globs_mean(
    name: str, globs: dict[str, str], called: str, arguments: dict[str, str]
) -> None:
    fits = fnmatchcase(called, name) and all(
        key in arguments and fnmatchcase(arguments[key], glob) for key, glob in globs.items()
    )
    policy = Policy(deny=(written(name, globs),))
    assert verdict(policy, called, arguments) is (DENY if fits else ALLOW)


@given(POLICIES, NAMES, ARGUMENTS)
def test_deny_counts_first_then_ask_then_allow(policy: Policy, name: str, arguments: dict[str, str]) -> None:
    def means(patterns: tuple[str, ...]) -> bool:
        return verdict(Policy(deny=patterns), name, arguments) is DENY

    found = verdict(policy, name, arguments)
    if means(policy.deny):
        assert found is DENY
    elif means(policy.ask):
        assert found is ASK
    elif policy.allow is None and not policy.ask:
        assert found is ALLOW
    else:
        assert found is (ALLOW if means(policy.allow or ()) else DENY)


@given(POLICIES, NAMES, ARGUMENTS)
def test_no_call_of_a_hidden_tool_is_made(policy: Policy, name: str, arguments: dict[str, str]) -> None:
    if is_hidden(policy, name):
        assert verdict(policy, name, arguments) is DENY


def test_what_a_pattern_means() -> None:
    cases: list[Any] = [
        ("go", {}, True),
        (" go ", {"to": 1}, True),
        ("g[a-o]", {}, True),
        ("GO", {}, False),
        ('"go"', {}, True),
        (' "g*" (to=a)', {"to": "a"}, True),
        ('"g o"', {}, False),
        ("go(to=a*)", {"to": "abc"}, True),
        ("go(to=a*)", {}, False),
        ("go( to = a b , at=* )", {"to": "a b", "at": None}, True),
        ("go(to=)", {"to": ""}, True),
        ("go(to=*)", {"to": "a\nb"}, True),
        ('go(to="a,(b)")', {"to": "a,(b)"}, True),
        (r'go(to="\"é\n")', {"to": '"é\n'}, True),
        ("go(to=true)", {"to": True}, True),
        ("go(to=true)", {"to": "true"}, True),
        ("go(to=1.*)", {"to": 1.5}, True),
        ('go(to="[[]1,{\\"a\\":2,\\"b\\":null}]")', {"to": [1, {"b": None, "a": 2}]}, True),
        ("go(to=a=b)", {"to": "a=b"}, True),
        ("go(to=1e2)", {"to": 100}, True),
        ("go(to=100.0)", {"to": 1e2}, True),
        ("go(to=1e400)", {"to": float("inf")}, True),
        ("go(to=0)", {"to": -0.0}, True),
        ("go(to=007)", {"to": 7}, False),
        ("go(to=1e2)", {"to": "100"}, False),
        ("go(to=1e2)", {"to": True}, False),
        ("go(to=100.*)", {"to": 100.0}, False),
        ('go(to="[[]100,{\\"a\\":-2}]")', {"to": [1e2, {"a": -2.0}]}, True),
    ]
    for pattern, arguments, fits in cases:
        assert verdict(Policy(deny=(pattern,)), "go", arguments) is (DENY if fits else ALLOW)


@given(st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False), st.booleans())
def test_a_number_is_meant_by_its_value_however_it_is_written(number: float, is_glob_whole: bool) -> None:
    whole = int(number) if float(number).is_integer() else number
    glob, value = (whole, float(number)) if is_glob_whole else (float(number), whole)
    policy = Policy(deny=(f"go(to={glob!r})",))
    assert verdict(policy, "go", {"to": value}) is DENY
    assert verdict(policy, "go", {"to": value + 1 + abs(value)}) is ALLOW


@given(st.text(max_size=5), st.text(max_size=5))
@example("find file", "find_file")
@example("find(file", "find_file")
@example('find"file', "find_file")
@example("find*", "finds")
@example("[ab]", "a")
@example("\n", "")
def test_a_name_can_be_meant_alone_whatever_it_is(name: str, other: str) -> None:
    policy = Policy(deny=(exactly(name),))
    assert is_hidden(policy, name)
    assert is_hidden(policy, other) is (other == name)
    assert not is_hidden(policy, f"{name}?")
    assert is_hidden(Policy(allow=(exactly(name),)), other) is (other != name)


def test_a_pattern_that_cannot_be_read_is_told_when_the_policy_is_made() -> None:
    cases: list[Any] = [
        "", " ", "()", "go(", "go)", "go()", "go(to)", "go(=a)", "go(to=a,)", "go(to=a) b", "go(to=(a))",
        'go(to="a)', 'go(to=a"b")', '"go', '"go" (', '"go" on', '"go"on',
    ]  # fmt: skip
    for pattern in cases:
        with pytest.raises(ValueError, match="DF2208"):
            Policy(ask=(pattern,))


def test_an_empty_list_of_what_is_allowed_allows_nothing() -> None:
    assert verdict(Policy(allow=()), "go", {}) is DENY
    assert is_hidden(Policy(allow=()), "go")
    assert verdict(Policy(), "go", {}) is ALLOW
    assert not is_hidden(Policy(), "go")
    assert not is_hidden(Policy(deny=("go(to=a)",)), "go")


def test_a_pattern_of_many_names_needs_one_function_with_its_arguments() -> None:
    box = tools(agent_tools.add, agent_tools.blocking, deny=["*(text=x)", "add(b=2)"])
    assert box.names == ("add", "blocking")
