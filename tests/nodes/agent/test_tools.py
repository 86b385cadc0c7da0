"""Functions as tools: how they are described, named and called, and which calls a policy allows (S10.6)."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ToolCall
from dataflow_agent import Toolbox, mcp, tools
from dataflow_agent.servers.results import Content
from dataflow_agent.toolkit.policies import Policy, Verdict, verdict
from dataflow_agent.toolkit.toolboxes import Functions, Tool, parts_of
from dataflow_agent.toolkit.toolboxes import names_of as names_of_parts
from tests.nodes.agent import agent_tools
from tests.nodes.agent.agent_tools import ENTERED, PIXEL, Kit, add, blocking, lines, told_of, weather


def names_of(references: list[str]) -> dict[str, str]:
    return names_of_parts({one: parts_of(one) for one in references})


MODULE: Final = "tests.nodes.agent.agent_tools"
LEGAL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


async def called(function: Any, arguments: str = "{}") -> Content:
    box = tools(function)
    return await told_of(ToolCall("c", box.names[0], arguments), box, None)


def test_a_tool_is_described_by_its_docstring_and_annotations() -> None:
    [first, second] = tools(add, weather).specs()
    assert (first.name, first.description) == ("add", "Add two numbers.")
    assert first.parameters["required"] == ["a", "b"]
    assert first.parameters["additionalProperties"] is False
    assert second.description == "Tell the weather.\n\nIt is mostly rain."
    days = second.parameters["properties"]["days"]
    assert (days["description"], days["minimum"], days["default"]) == ("how many days ahead", 0, 1)
    assert second.parameters["properties"]["place"] == {"$ref": "#/$defs/Place"}
    assert second.parameters["$defs"]["Place"]["required"] == ["city"]
    [spec] = tools(agent_tools.where).specs()  # without parameters
    assert spec.parameters == {"type": "object", "properties": {}, "additionalProperties": False}


def test_functions_have_the_policy_that_they_were_given_with_and_what_is_denied_is_not_offered() -> None:
    box = tools(tools(add, deny=["add(a=1)"]), weather, ask=["w*"])
    assert [source.policy for source in box.sources if isinstance(source, Functions)] == [
        Policy(deny=("add(a=1)",)),
        Policy(ask=("w*",)),
    ]
    assert decisions(box.tool("add")) == [Verdict.DENY, Verdict.ALLOW]
    assert decisions(box.tool("weather")) == [Verdict.ASK] * 2
    stricter = tools(tools(add), tools(add, ask=["add"]), tools(add, deny=["add(a=1)"]))
    assert decisions(stricter.tool("add")) == [Verdict.DENY, Verdict.ASK]
    box = tools(add, weather, Kit.add, allow=["*"], deny=["weather"])
    assert [spec.name for spec in box.specs()] == ["agent_tools_add", "Kit_add"]
    assert tools(add, weather, allow=["add"]).names == ("add",)
    assert tools(add, allow=[]).names == ()
    box = tools(add, tools(weather, add), blocking)
    assert box == Toolbox((Functions((f"{MODULE}:add", f"{MODULE}:weather", f"{MODULE}:blocking")),))
    assert box.names == ("add", "weather", "blocking")
    assert tools() == Toolbox()
    served = tools(mcp("npx", "-y", "@org/server-files", "."), add)
    assert (served.names, served.servers[0].label) == (("add",), "server-files")


def decisions(tool: Tool | None) -> list[Verdict]:
    assert tool is not None
    return [tool.verdict({"a": number}) for number in (1, 2)]


def test_names_are_legal_and_differ_whatever_the_functions_are_called() -> None:
    long = "x" * 70
    references = [
        "m:größe", "m:gr__e", f"m:{long}a", f"m:{long}b", "a:b_c", "a.b:c", "z.b:c", "q.a:b_c", "a_b:c",
        "m:-",
    ]  # fmt: skip
    found = names_of(references)
    assert len({*found.values()}) == len(references)
    assert all(LEGAL.fullmatch(name) for name in found.values())
    assert found == {reference: names_of(references[::-1])[reference] for reference in references}


async def test_a_call_gives_text_json_or_images() -> None:
    cases: list[Any] = [
        (add, '{"a": 1, "b": 2}', "3"),
        (weather, '{"place": {"city": "Delft"}}', '{"city":"Delft","days":1,"rain":true}'),
        (lines, '{"count": 2}', '["line 0","line 1"]'),
        (agent_tools.where, "", ""),
        (agent_tools.json, '{"copy": 1}', "3"),
        (agent_tools.json, '{"copy": 1, "model_dump": 5}', "6"),
    ]
    for function, arguments, text in cases:
        assert await called(function, arguments) == text
    assert await called(agent_tools.picture) == (PIXEL,)
    assert await called(agent_tools.pictures, '{"count": 2}') == ("some", '{"count":2}', PIXEL, PIXEL)
    assert await called(agent_tools.pictures, '{"count": 0}') == '["some",{"count":0}]'
    ENTERED.clear()
    assert await called(blocking, '{"text": "hi"}') == "HI"
    assert ENTERED == ["thread"]


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


def test_what_a_pattern_means_and_which_cannot_be_read() -> None:
    cases: list[Any] = [
        ("go", {}, True), (" go ", {"to": 1}, True), ("GO", {}, False), ('"go"', {}, True),
        ("go(to=a*)", {"to": "abc"}, True), ("go(to=a*)", {}, False), ("go(to=*)", {"to": "a\nb"}, True),
        ('go(to="a,(b)")', {"to": "a,(b)"}, True),
        (r'go(to="\"é\n")', {"to": '"é\n'}, True),
        ("go(to=true)", {"to": True}, True),
        ('go(to="[[]1,{\\"a\\":2,\\"b\\":null}]")', {"to": [1, {"b": None, "a": 2}]}, True),
        ("go(to=1e2)", {"to": 100}, True),
        ("go(to=1e400)", {"to": float("inf")}, True),
        ("go(to=007)", {"to": 7}, False),
        ("go(to=1e2)", {"to": "100"}, False),
        ('go(to="[[]100,{\\"a\\":-2}]")', {"to": [1e2, {"a": -2.0}]}, True),
    ]  # fmt: skip
    for pattern, arguments, fits in cases:
        assert verdict(Policy(deny=(pattern,)), "go", arguments) is (DENY if fits else ALLOW)
    unread: list[Any] = [
        "", " ", "()", "go(", "go)", "go()", "go(to)", "go(=a)", "go(to=a,)", "go(to=a) b", "go(to=(a))",
        'go(to="a)', 'go(to=a"b")', '"go', '"go" (', '"go" on', '"go"on',
    ]  # fmt: skip
    for pattern in unread:
        with pytest.raises(ValueError, match="DF2208"):
            Policy(ask=(pattern,))
