# The public names, and where each of them is; imported when it is first used.

from .agents import Agent, agent
from .approvals import Decision
from .chats import Chat, Router, chat, intent_router
from .config import AgentConfig, Subagent
from .conversations import (
    Conversation,
    Inject,
    Merge,
    Trim,
    context,
    inject_messages,
    merge_conversations,
    trim_context,
)
from .listing import pack
from .models.errors import (
    AnswerCut,
    AnswerEmpty,
    AnswerUnfit,
    ContextWindowExceeded,
    KeyRefused,
    MissingKey,
    ModelFailed,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    ModelUnknown,
    OptionUnsupported,
    RateLimited,
    RequestRefused,
    StreamInterrupted,
)
from .models.providers.scripted import (
    AnswerFunction,
    Given,
    Script,
    ScriptedAnswer,
    ScriptedCall,
    ScriptEnded,
    ScriptFailed,
    answered_by,
    scripted,
)
from .models.request import Emit, ModelAnswer, ModelRequest, Options, Provider, ToolSpec, Usage
from .prompts import Prior, PriorStep, Prompt, fill_prompt, prior_outputs
from .servers.offers import mcp
from .servers.results import ServerDied, ServerFailed, ToolFailed
from .servers.sessions import listed, sessions
from .steps import Reply
from .tool_calls import CallTool, ToolOutput, call_server_tool, call_tool
from .toolkit.policies import Policy
from .toolkit.toolboxes import Toolbox, tools

__all__ = [
    "Agent",
    "AgentConfig",
    "AnswerCut",
    "AnswerEmpty",
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
    "ModelRefused",
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
    "ToolOutput",
    "ToolSpec",
    "Toolbox",
    "Trim",
    "Usage",
    "agent",
    "answered_by",
    "call_server_tool",
    "call_tool",
    "chat",
    "context",
    "fill_prompt",
    "inject_messages",
    "intent_router",
    "listed",
    "mcp",
    "merge_conversations",
    "pack",
    "prior_outputs",
    "scripted",
    "sessions",
    "tools",
    "trim_context",
]
