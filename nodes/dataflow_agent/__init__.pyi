# The public names, and where each of them is; imported when it is first used.

from .agent_turns import AgentConfig
from .agents import Agent, Reply, agent
from .chatting import Chat, chat
from .conversations import (
    Conversation,
    Inject,
    Merge,
    Trim,
    context,
    inject_messages,
    merge_contexts,
    trim_context,
)
from .listing import pack
from .model_errors import (
    AnswerCut,
    AnswerUnfit,
    ContextWindowExceeded,
    KeyRefused,
    MissingKey,
    ModelFailed,
    ModelTimeout,
    ModelUnavailable,
    ModelUnknown,
    OptionUnsupported,
    RateLimited,
    RequestRefused,
    StreamInterrupted,
)
from .providers import answered_by
from .requests import ModelAnswer, ModelRequest, Options, Provider, ToolSpec, Usage
from .scripts import Script, ScriptedAnswer, ScriptedCall, ScriptEnded, scripted
from .toolboxes import Toolbox, tools

__all__ = [
    "Agent",
    "AgentConfig",
    "AnswerCut",
    "AnswerUnfit",
    "Chat",
    "ContextWindowExceeded",
    "Conversation",
    "Inject",
    "KeyRefused",
    "Merge",
    "MissingKey",
    "ModelAnswer",
    "ModelFailed",
    "ModelRequest",
    "ModelTimeout",
    "ModelUnavailable",
    "ModelUnknown",
    "OptionUnsupported",
    "Options",
    "Provider",
    "RateLimited",
    "Reply",
    "RequestRefused",
    "Script",
    "ScriptEnded",
    "ScriptedAnswer",
    "ScriptedCall",
    "StreamInterrupted",
    "ToolSpec",
    "Toolbox",
    "Trim",
    "Usage",
    "agent",
    "answered_by",
    "chat",
    "context",
    "inject_messages",
    "merge_contexts",
    "pack",
    "scripted",
    "tools",
    "trim_context",
]
