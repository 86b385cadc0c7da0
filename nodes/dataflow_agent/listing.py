"""The list of the node types, which imports none of them."""

from __future__ import annotations

from dataflow import Pack

__all__ = ["pack"]

pack = Pack(
    "agent",
    version="0.1.0",
    api=1,
    nodes={
        "chat": "dataflow_agent.chatting:chat",
    },
)
