"""The kinds of nodes of HiFide: their ports, and what those are called on the node types that they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CACHE", "CHAT", "KINDS", "MISSING", "NEW", "PORTALS", "ROUTER", "START", "TOOLS", "WAITING", "Kind",
]  # fmt: skip

START: Final = "defaultContextStart"
CHAT: Final = "llmRequest"
NEW: Final = "newContext"
TOOLS: Final = "tools"
ROUTER: Final = "intentRouter"
WAITING: Final = "userInput"
CACHE: Final = "cache"
PORTALS: Final = ("portalInput", "portalOutput")
#: The port of the node type of a cache on which it goes on without a value.
MISSING: Final = "missing"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of nodes.

    type: the node type that it becomes
    inputs, outputs: the ports of that by those of the file
    texts: outputs of the file that are texts for sure
    """

    type: str
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    texts: frozenset[str] = frozenset()


_CONTEXT: Final = {"context": "context"}
#: Those of the node types of this format.
_OWN: Final = {"context": "conversation"}
_BOTH: Final = {"context": "conversation", "data": "data"}

KINDS: Final[Mapping[str, Kind]] = {
    START: Kind("agent.context", {"systemInstructionsIn": "system"}, {"context": "out"}),
    WAITING: Kind(
        "control.user_input",
        _CONTEXT,
        {"context": "context", "data": "out", "message": "out"},
        frozenset({"data", "message"}),
    ),
    CHAT: Kind(
        "agent.agent",
        {"context": "context", "data": "prompt", "message": "prompt", "tools": "tools"},
        {"context": "context", "data": "text", "result": "text", "response": "text"},
        frozenset({"data", "result", "response"}),
    ),
    TOOLS: Kind("agent.tools", {}, {"tools": "tools", "toolNames": "tool_names"}),
    "manualInput": Kind("hifide.manual_input", _BOTH, _BOTH, frozenset({"data"})),
    NEW: Kind("hifide.new_context", {**_BOTH, "systemInstructionsIn": "system"}, _BOTH),
    "injectMessages": Kind(
        "hifide.inject_messages",
        {**_OWN, "userMessage": "user", "assistantMessage": "assistant"},
        _OWN,
    ),
    ROUTER: Kind("agent.intent_router", {"context": "context", "data": "prompt"}, _CONTEXT),
    CACHE: Kind("hifide.cache", _BOTH, _BOTH),
    "portalInput": Kind("", _BOTH, {}),
    "portalOutput": Kind("", {}, _BOTH),
    "readFile": Kind("control.read_text", {}, {"data": "out"}, frozenset({"data"})),
}
