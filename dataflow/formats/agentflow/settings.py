"""Reading what a node is made of, which stands under `data`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.formats.agentflow.conditions import OPERATORS
from dataflow.formats.agentflow.parts import AGENT, APPROVAL, IF, START
from dataflow.formats.models import with_provider
from dataflow.formats.problems import described
from dataflow.wording import choices

if TYPE_CHECKING:
    from dataflow.formats.foreign import JsonDict, Notes
    from dataflow.formats.tree import Path

__all__ = ["SYSTEM", "Reading"]

#: What an agent is told that has no system prompt of its own.
SYSTEM: Final = "You are a helpful assistant."
MODEL: Final = "gpt-5"
EFFORT: Final = "low"
EFFORTS: Final = ("none", "minimal", "low", "medium", "high")
QUESTION: Final = "Approve?"


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads the part of a file that stands at a place; `of` says whose it is."""

    notes: Notes
    path: Path
    of: str

    def settings(self, kind: str, data: JsonDict) -> JsonDict:
        """Read what a node of a type is made of."""
        if kind == START:
            return {"initial_input": data.get("initialInput") or ""}  # also for false and 0
        if kind == AGENT:
            return self._agent(data)
        if kind == IF:
            return {"conditions": self._conditions(data)}
        return {"prompt": self.text(data, "prompt") or QUESTION} if kind == APPROVAL else {}

    def text(self, part: JsonDict, key: str) -> str:
        """Return the text under a key, an empty one where there is none."""
        given: Any = part.get(key)
        if given is None:
            return ""
        if not isinstance(given, str):
            self._expected((key,), "a text", given)
            return ""
        return given

    def _agent(self, data: JsonDict) -> JsonDict:
        tools = data.get("tools")
        if tools is not None and not isinstance(tools, dict):
            self._expected(("tools",), "a mapping with `web_search` and `subagents`", tools)
        tools = tools if isinstance(tools, dict) else {}
        written = self.text(data, "model").strip() or MODEL
        model = with_provider(written)
        if model is None:
            self._expected(("model",), "a model as provider/name", written)
        effort = self.text(data, "reasoningEffort") or EFFORT
        if effort not in EFFORTS:
            told = f"{self.of} has the unknown effort {effort!r}; {choices(EFFORTS)}"
            self.notes.problem((*self.path, "reasoningEffort"), told)
        return {
            "name": self.text(data, "agentName").strip() or "Agent",
            "system": self.text(data, "systemPrompt") or SYSTEM,
            "user_prompt": self.text(data, "userPrompt"),
            "model": model or "",
            "reasoning_effort": effort,
            "web_search": self._flag(tools, "web_search"),
            "subagents": self._flag(tools, "subagents"),
        }

    def _flag(self, tools: JsonDict, key: str) -> bool:
        given = tools.get(key)
        if given is not None and not isinstance(given, bool):
            self._expected(("tools", key), "true or false", given)
        return given is True

    def _conditions(self, data: JsonDict) -> list[JsonDict]:
        """Read the conditions; an older file has one text in their place, which is to be contained."""
        given = data.get("conditions")
        if given is not None and not isinstance(given, list):
            self._expected(("conditions",), "a list", given)
            return []
        if not given:
            old = self.text(data, "condition")
            return [{"operator": "contains", "value": old}] if old else []
        return [self._condition(number, entry) for number, entry in enumerate(given)]

    def _condition(self, number: int, entry: Any) -> JsonDict:
        place = ("conditions", number)
        if not isinstance(entry, dict):
            self._expected(place, "a mapping with `operator` and `value`", entry)
            return {}
        reading = Reading(self.notes, (*self.path, *place), self.of)
        operator = reading.text(entry, "operator") or OPERATORS[0]
        if operator not in OPERATORS:
            told = f"{self.of} has the unknown operator {operator!r}; {choices(OPERATORS)}"
            self.notes.problem((*self.path, *place, "operator"), told)
        return {"operator": operator, "value": reading.text(entry, "value")}

    def _expected(self, place: Path, what: str, found: object) -> None:
        told = f"{self.of}: expected {what}, found {described(found)}"
        self.notes.problem((*self.path, *place), told)
