"""The agent pack: node types for conversations with models.

Each name is imported when it is first used; the stub beside this file tells type checkers where they are.
"""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={
        "agents": ["Agent", "agent"],
        "approvals": ["Decision"],
        "chatting": ["Chat", "chat"],
        "config": ["AgentConfig", "Subagent"],
        "conversations": [
            "Conversation",
            "Inject",
            "Merge",
            "Trim",
            "context",
            "inject_messages",
            "merge_contexts",
            "trim_context",
        ],
        "listing": ["pack"],
        "mcp.mcp_servers": ["mcp"],
        "mcp.server_errors": ["ServerDied", "ServerFailed", "ToolFailed"],
        "mcp.server_sessions": ["listed", "sessions"],
        "models.errors": [
            "AnswerCut",
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
        "models.providers.answering": ["answered_by"],
        "models.providers.script_errors": ["ScriptEnded", "ScriptFailed"],
        "models.providers.scripts": [
            "AnswerFunction",
            "Given",
            "Script",
            "ScriptedAnswer",
            "ScriptedCall",
            "scripted",
        ],
        "models.requests": [
            "Emit",
            "ModelAnswer",
            "ModelRequest",
            "Options",
            "Provider",
            "ToolSpec",
            "Usage",
        ],
        "prior": ["Prior", "PriorStep", "prior_outputs"],
        "prompts": ["Prompt", "fill_prompt"],
        "routing": ["Router", "intent_router"],
        "steps": ["Reply"],
        "tool_nodes": ["CallTool", "call_tool"],
        "tools.policies": ["Policy"],
        "tools.toolboxes": ["Toolbox", "tools"],
    },
)

__stored_as__ = "agent"
