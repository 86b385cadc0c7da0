"""What an agent is told: the text block of its turn, and its instructions with the parameters filled in."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow_formats.agentron.walks import Turn, Walk

__all__ = ["filled", "told"]

#: What stands alone where there is nothing to tell.
NOTHING: Final = "Do your task."
FIRST: Final = "This is the first turn."
_PLACEHOLDER: Final = re.compile(r"\{\{\s*(\$input|(?:(?:input|context)\.)?(\w+))\s*\}\}")


def told(walk: Walk, instruction: str, own: Mapping[str, Any]) -> str:
    """Return the text for a node: instruction, the turns before it, and the last output or its parameters."""
    turns = walk.shared
    recent = ["Recent turns:", *(f"{turn.speaker}: {turn.text}" for turn in turns)] if turns else []
    before = _partner(turns[-1]) if turns else _given(walk, own)
    parts = [[instruction] if instruction else [], recent, before]
    return "\n\n".join("\n".join(part) for part in parts if part) or NOTHING


def filled(instructions: str, parameters: Mapping[str, Any], prompt: str) -> str:
    """Fill `{{ name }}`, `{{ input.name }}`, `{{ context.name }}`, `{{ $input }}`; what is unknown stays."""

    def fill(match: re.Match[str]) -> str:
        if match[1] == "$input":
            return prompt
        return _written(parameters[match[2]]) if match[2] in parameters else match[0]

    return _PLACEHOLDER.sub(fill, instructions)


def _partner(turn: Turn) -> list[str]:
    return ["Reply of the user:" if turn.is_reply else f"Output from {turn.speaker}:", turn.text]


def _given(walk: Walk, own: Mapping[str, Any]) -> list[str]:
    lines = [f"{name}: {_written(value)}" for name, value in walk.parameters(own).items()]
    return [FIRST, *lines] if lines and not walk.count else lines


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
