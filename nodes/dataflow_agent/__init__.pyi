# The public names, and where each of them is; imported when it is first used.

from .chatting import Chat, chat
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

__all__ = [
    "AnswerCut",
    "AnswerUnfit",
    "Chat",
    "ContextWindowExceeded",
    "KeyRefused",
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
    "RequestRefused",
    "Script",
    "ScriptEnded",
    "ScriptedAnswer",
    "ScriptedCall",
    "StreamInterrupted",
    "ToolSpec",
    "Usage",
    "answered_by",
    "chat",
    "pack",
    "scripted",
]
