# The public names, and where each of them is; imported when it is first used.

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

__all__ = [
    "Conversation",
    "Inject",
    "Merge",
    "Trim",
    "context",
    "inject_messages",
    "merge_contexts",
    "pack",
    "trim_context",
]
