"""The agent pack: node types for conversations with models.

Names are imported on first use; the stub beside this file declares them for type checkers.
"""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={
        "agents": ["Agent", "agent"],
        "approvals": ["Decision"],
        "chats": ["Chat", "Router", "chat", "intent_router"],
        "config": ["AgentConfig", "Subagent"],
        "conversations": [
            "Conversation",
            "Inject",
            "Merge",
            "Trim",
            "context",
            "inject_messages",
            "merge_conversations",
            "trim_context",
        ],
        "listing": ["pack"],
        "models.errors": [
            "AnswerCut",
            "AnswerEmpty",
            "ModelRefused",
            "AnswerUnfit",
            "ContextWindowExceeded",
            "KeyRefused",
            "MissingKey",
            "ModelFailed",
            "ModelTimeout",
            "ModelUnavailable",
            "ModelUnknown",
            "OptionUnsupported",
            "RateLimited",
            "RequestRefused",
            "StreamInterrupted",
        ],
        "models.providers.scripted": [
            "AnswerFunction",
            "Given",
            "Script",
            "ScriptEnded",
            "ScriptFailed",
            "ScriptedAnswer",
            "ScriptedCall",
            "answered_by",
            "scripted",
        ],
        "models.request": ["Emit", "ModelAnswer", "ModelRequest", "Options", "Provider", "ToolSpec", "Usage"],
        "prompts": ["Prior", "PriorStep", "Prompt", "fill_prompt", "prior_outputs"],
        "servers.offers": ["mcp"],
        "servers.results": ["ServerDied", "ServerFailed", "ToolFailed"],
        "servers.sessions": ["listed", "sessions"],
        "steps": ["Reply"],
        "tool_calls": ["CallTool", "ToolOutput", "call_server_tool", "call_tool"],
        "toolkit.policies": ["Policy"],
        "toolkit.toolboxes": ["Toolbox", "tools"],
    },
)

__stored_as__ = "agent"
