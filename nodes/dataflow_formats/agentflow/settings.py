"""Reading what a node is made of, which stands under `data`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.authoring import qualified_model
from dataflow_formats.agentflow.conditions import OPERATORS
from dataflow_formats.agentflow.parts import AGENT, APPROVAL, IF, START

if TYPE_CHECKING:
    from dataflow.authoring import JsonDict, PartReader

__all__ = ["SYSTEM", "read_settings"]

#: What an agent is told that has no system prompt of its own.
SYSTEM: Final = "You are a helpful assistant."
MODEL: Final = "gpt-5"
EFFORT: Final = "low"
EFFORTS: Final = ("none", "minimal", "low", "medium", "high")
QUESTION: Final = "Approve?"


def read_settings(kind: str, data: PartReader) -> JsonDict:
    """Read what a node of a type is made of."""
    if kind == START:
        return {"initial_input": data.part.get("initialInput") or ""}  # also for false and 0
    if kind == AGENT:
        return _agent(data)
    if kind == IF:
        return {"conditions": _conditions(data)}
    return {"prompt": data.text("prompt") or QUESTION} if kind == APPROVAL else {}


def _agent(data: PartReader) -> JsonDict:
    tools = data.mapping("tools", "a mapping with `web_search` and `subagents`")
    written = data.text("model").strip() or MODEL
    model = qualified_model(written)
    if model is None:
        data.expected("a model as provider/name", written, "model")
    return {
        "name": data.text("agentName").strip() or "Agent",
        "system": data.text("systemPrompt") or SYSTEM,
        "user_prompt": data.text("userPrompt"),
        "model": model or "",
        "reasoning_effort": data.word("reasoningEffort", EFFORTS, EFFORT),
        "web_search": _flag(tools, "web_search"),
        "subagents": _flag(tools, "subagents"),
    }


def _flag(tools: PartReader, key: str) -> bool:
    given = tools.part.get(key)
    if not isinstance(given, bool | None):
        tools.expected("true or false", given, key)
    return given is True


def _conditions(data: PartReader) -> list[JsonDict]:
    """Read the conditions; an older file has one text in their place, which is to be contained."""
    given = data.entries("conditions", what="a mapping with `operator` and `value`")
    if not data.part.get("conditions"):
        old = data.text("condition")
        return [{"operator": "contains", "value": old}] if old else []
    return [
        {"operator": one.word("operator", OPERATORS, OPERATORS[0]), "value": one.text("value")}
        for one in given
    ]
