"""The list of the node types, which imports none of them."""

from __future__ import annotations

from dataflow import Pack

__all__ = ["pack"]

pack = Pack(
    "agent",
    version="0.1.0",
    api=1,
    nodes={
        "context": "dataflow_agent.conversations:context",
        "inject_messages": "dataflow_agent.conversations:inject_messages",
        "merge_contexts": "dataflow_agent.conversations:merge_contexts",
        "trim_context": "dataflow_agent.conversations:trim_context",
        "agent": "dataflow_agent.agents:agent",
        "tools": "dataflow_agent.offering:tools",
        "call_tool": "dataflow_agent.tool_nodes:call_tool",
        "chat": "dataflow_agent.chatting:chat",
        "intent_router": "dataflow_agent.routing:intent_router",
        "prior_outputs": "dataflow_agent.prior:prior_outputs",
        "fill_prompt": "dataflow_agent.prompts:fill_prompt",
    },
)
