"""The agent pack: node types for conversations with models.

Each name is imported when it is first used; the stub beside this file tells type checkers where they are.
"""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    __name__,
    submod_attrs={
        "agent_configs": ["AgentConfig", "Subagent"],
        "agent_steps": ["Reply"],
        "agents": ["Agent", "agent"],
        "answering": ["answered_by"],
        "chatting": ["Chat", "chat"],
        "approving": ["Decision"],
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
        "mcp_servers": ["mcp"],
        "model_errors": [
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
        "policies": ["Policy"],
        "prior": ["Prior", "PriorStep", "prior_outputs"],
        "prompts": ["Prompt", "fill_prompt"],
        "requests": ["Emit", "ModelAnswer", "ModelRequest", "Options", "Provider", "ToolSpec", "Usage"],
        "routing": ["Router", "intent_router"],
        "script_errors": ["ScriptEnded", "ScriptFailed"],
        "scripts": [
            "AnswerFunction",
            "Given",
            "Script",
            "ScriptedAnswer",
            "ScriptedCall",
            "scripted",
        ],
        "server_errors": ["ServerDied", "ServerFailed", "ToolFailed"],
        "server_sessions": ["listed", "sessions"],
        "tool_nodes": ["CallTool", "call_tool"],
        "toolboxes": ["Toolbox", "tools"],
    },
)

__stored_as__ = "agent"
