"""The `Pack`, which lists the node types without importing them."""

from __future__ import annotations

from typing import Final

from dataflow import Pack
from dataflow.authoring import kinds_of, moved_names
from dataflow_agent.diagnostics import chats, models, servers, tools

__all__ = ["pack"]

#: Former names in stores and documents, by the modules that they contain.
FORMER: Final = {
    "dataflow_agent.agent_configs": "AgentConfig Subagent",
    "dataflow_agent.agent_steps": "Reply ask begin finish go_on make",
    "dataflow_agent.agent_turns": "Grant ToolResult Turn",
    "dataflow_agent.agent_wiring": "_is_empty",
    "dataflow_agent.agents": "agent",
    "dataflow_agent.approving": "Decided Decision Unfit approve",
    "dataflow_agent.chatting": "Chat chat",
    "dataflow_agent.configs": "ModelConfig StrictConfig",
    "dataflow_agent.conversations": (
        "Conversation Inject Merge Trim context inject_messages merge_contexts trim_context"
    ),
    "dataflow_agent.describing": "describe",
    "dataflow_agent.model_names": "ModelName",
    "dataflow_agent.offering": "Offer Offered OfferedServer tools",
    "dataflow_agent.policies": "Pattern Policy Verdict",
    "dataflow_agent.prior": "Prior PriorStep prior_outputs",
    "dataflow_agent.prompts": "Placeholder Prompt fill_prompt",
    "dataflow_agent.requests": "ModelAnswer ModelRequest Options ToolSpec Usage",
    "dataflow_agent.routing": "Router _asked intent_router",
    "dataflow_agent.server_headers": "Header",
    "dataflow_agent.servers": "Server ServerTool",
    "dataflow_agent.subagents": "Begun SubagentTask begin_below report told",
    "dataflow_agent.tool_nodes": "CallTool _found call_tool",
    "dataflow_agent.toolboxes": "Functions Listed SubagentTool Task Tool Toolbox",
    "dataflow_agent.typed_answers": "AnswerType",
}
#: Functions and node types that were renamed.
RENAMED: Final = {
    "agent:merge_contexts": "agent:merge_conversations",
    "agent.merge_contexts": "agent.merge_conversations",
}

pack = Pack(
    "agent",
    version="0.1.0",
    api=1,
    nodes={
        "context": "dataflow_agent.conversations:context",
        "inject_messages": "dataflow_agent.conversations:inject_messages",
        "merge_conversations": "dataflow_agent.conversations:merge_conversations",
        "trim_context": "dataflow_agent.conversations:trim_context",
        "agent": "dataflow_agent.agents:agent",
        "tools": "dataflow_agent.servers.offers:tools",
        "call_tool": "dataflow_agent.tool_calls:call_tool",
        "chat": "dataflow_agent.chats:chat",
        "intent_router": "dataflow_agent.chats:intent_router",
        "prior_outputs": "dataflow_agent.prompts:prior_outputs",
        "fill_prompt": "dataflow_agent.prompts:fill_prompt",
    },
    former={**moved_names("agent", FORMER), **RENAMED},
    diagnostics=[kind for table in (chats, models, tools, servers) for kind in kinds_of(table)],
)
