# The public names, and where each of them is; imported when it is first used.

from .agent_configs import AgentConfig, Subagent
from .agent_steps import Reply
from .agents import Agent, agent
from .answering import answered_by
from .approving import Decision
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
from .mcp_servers import mcp
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
from .policies import Policy
from .prior import Prior, PriorStep, prior_outputs
from .prompts import Prompt, fill_prompt
from .requests import Emit, ModelAnswer, ModelRequest, Options, Provider, ToolSpec, Usage
from .routing import Router, intent_router
from .script_errors import ScriptEnded, ScriptFailed
from .scripts import AnswerFunction, Given, Script, ScriptedAnswer, ScriptedCall, scripted
from .server_errors import ServerDied, ServerFailed, ToolFailed
from .server_sessions import listed, sessions
from .tool_nodes import CallTool, call_tool
from .toolboxes import Toolbox, tools

__all__ = [
    "Agent",
    "AgentConfig",
    "AnswerCut",
    "AnswerFunction",
    "AnswerUnfit",
    "CallTool",
    "Chat",
    "ContextWindowExceeded",
    "Conversation",
    "Decision",
    "Emit",
    "Given",
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
    "Policy",
    "Prior",
    "PriorStep",
    "Prompt",
    "Provider",
    "RateLimited",
    "Reply",
    "RequestRefused",
    "Router",
    "Script",
    "ScriptEnded",
    "ScriptFailed",
    "ScriptedAnswer",
    "ScriptedCall",
    "ServerDied",
    "ServerFailed",
    "StreamInterrupted",
    "Subagent",
    "ToolFailed",
    "ToolSpec",
    "Toolbox",
    "Trim",
    "Usage",
    "agent",
    "answered_by",
    "call_tool",
    "chat",
    "context",
    "fill_prompt",
    "inject_messages",
    "intent_router",
    "listed",
    "mcp",
    "merge_contexts",
    "pack",
    "prior_outputs",
    "scripted",
    "sessions",
    "tools",
    "trim_context",
]
