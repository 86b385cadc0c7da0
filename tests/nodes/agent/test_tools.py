"""Functions as tools: how they are described, named, stored and called (S10.6)."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, Final

import pytest

from dataflow import FlowInvalid, ToolCall
from dataflow_agent import Toolbox, tools
from dataflow_agent.servers import offers
from dataflow_agent.servers.offers import Offer
from dataflow_agent.servers.results import Content
from dataflow_agent.toolkit import toolboxes
from dataflow_agent.toolkit.policies import Policy, Verdict
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


def test_descriptions_are_joined_and_say_each_tool_once() -> None:
    box = tools(add, tools(weather, add), blocking)
    assert box == Toolbox((Functions((f"{MODULE}:add", f"{MODULE}:weather", f"{MODULE}:blocking")),))
    assert box.names == ("add", "weather", "blocking")
    assert tools() == Toolbox()


def decisions(tool: Tool | None) -> list[Verdict]:
    """Return what is decided on two calls of a tool."""
    assert tool is not None
    return [tool.verdict({"a": number}) for number in (1, 2)]


def test_functions_have_the_policy_that_they_were_given_with() -> None:
    box = tools(tools(add, deny=["add(a=1)"]), weather, ask=["w*"])
    assert [source.policy for source in box.sources if isinstance(source, Functions)] == [
        Policy(deny=("add(a=1)",)),
        Policy(ask=("w*",)),
    ]
    assert decisions(box.tool("add")) == [Verdict.DENY, Verdict.ALLOW]
    assert decisions(box.tool("weather")) == [Verdict.ASK] * 2
    stricter = tools(tools(add), tools(add, ask=["add"]), tools(add, deny=["add(a=1)"]))
    assert decisions(stricter.tool("add")) == [Verdict.DENY, Verdict.ASK]


def test_a_tool_of_which_each_call_is_denied_is_not_offered() -> None:
    box = tools(add, weather, Kit.add, allow=["*"], deny=["weather"])
    assert [spec.name for spec in box.specs()] == ["agent_tools_add", "Kit_add"]
    assert tools(add, weather, allow=["add"]).names == ("add",)
    assert tools(add, allow=[]).names == ()


def test_functions_of_one_name_are_told_apart_by_what_they_are_in() -> None:
    assert tools(Kit.add, add, weather).names == ("Kit_add", "agent_tools_add", "weather")
    assert names_of(["a.b:go", "a.c:go", "d:stop"]) == {"a.b:go": "b_go", "a.c:go": "c_go", "d:stop": "stop"}


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


def test_no_tool_takes_the_name_of_another_with_its_digest() -> None:
    parts = {"lib:größe": ("lib", "größe")}
    [own] = names_of_parts(parts).values()
    for number in range(12):  # each is called like the one before it, so all of them but one give way
        parts[f"evil {number}:x"] = ("evil", names_of_parts(parts)[[*parts][-1]])
        found = names_of_parts(parts)
        assert (found["lib:größe"], len({*found.values()})) == (own, len(parts))
    assert all(LEGAL.fullmatch(name) for name in found.values())


def test_names_with_one_digest_have_more_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def alike(given: bytes) -> Any:
        return SimpleNamespace(hexdigest=lambda: "0" * 8 + given.hex()[-8:])

    monkeypatch.setattr(toolboxes, "sha256", alike)
    assert names_of(["lib:ö", "lib:ü"]) == {"lib:ö": f"__{'0' * 8}623ac3b6", "lib:ü": f"__{'0' * 8}623ac3bc"}


def test_a_tool_without_a_name_of_its_own_has_one() -> None:
    found = names_of_parts({"s 1:": ("s", ""), "t 1:": ("t", "")})
    assert len({*found.values()}) == 2
    [alone] = names_of_parts({"s 1:": ("s", "")}).values()
    assert all(LEGAL.fullmatch(name) for name in (alone, *found.values()))


async def test_arguments_that_are_nested_too_deep_are_told() -> None:
    cases: list[Any] = ['{"count": ' + "[" * 100 + "]" * 100 + "}", '{"a":' * 101 + "1" + "}" * 101]
    for arguments in cases:
        assert await called(lines, arguments) == (
            "error: the arguments are nested too deep; at most 100 levels are taken; lines was not called"
        )


async def test_a_call_gives_text_as_it_is_and_else_json() -> None:
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


async def test_images_stay_images_and_a_function_that_blocks_is_called_in_a_thread() -> None:
    assert await called(agent_tools.picture) == (PIXEL,)
    assert await called(agent_tools.pictures, '{"count": 2}') == ("some", '{"count":2}', PIXEL, PIXEL)
    assert await called(agent_tools.pictures, '{"count": 0}') == '["some",{"count":0}]'
    ENTERED.clear()
    assert await called(blocking, '{"text": "hi"}') == "HI"
    assert ENTERED == ["thread"]


async def test_what_goes_wrong_is_told_and_nothing_is_guessed() -> None:
    cases: list[Any] = [
        (add, '{"a": 1, ', "error: the arguments are not valid JSON: "),
        (add, "[1, 2]", "error: the arguments do not fit: expected an object, found list"),
        (add, '{"a": "1", "b": 2}', "error: the arguments do not fit: .a: expected a valid integer, found"),
        (add, '{"a": 1}', "error: the arguments do not fit: .b: expected a value, found nothing; add was"),
        (add, '{"a": 1, "b": 2, "c": 3}', "error: the arguments do not fit: .c: expected no such field"),
        (agent_tools.fails, '{"why": "no disk"}', "error: OSError: no disk"),
        (agent_tools.fails_silently, "{}", "error: LookupError"),
        (agent_tools.odd, "{}", "error: the tool gave a value of type lock, which JSON cannot carry"),
    ]  # fmt: skip
    for function, arguments, text in cases:
        ENTERED.clear()
        assert str(await called(function, arguments)).startswith(text)
        assert ENTERED == []


async def test_a_node_offers_functions_by_their_names() -> None:
    given = await offers.tools(Offer(functions=[f"{MODULE}:add", f"{MODULE}:add"]))
    assert (given.tools, given.tool_names) == (tools(add), ["add"])
    for name in ("no_such_module:add", f"{MODULE}:no_such_function"):
        with pytest.raises(FlowInvalid, match="DF2204"):
            await offers.tools(Offer(functions=[name]))
