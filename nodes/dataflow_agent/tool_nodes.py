"""The node type `agent.call_tool`: one call of a tool that the flow has decided on, and no model."""

from __future__ import annotations

from typing import Any, NamedTuple

from pydantic import Field

from dataflow import FlowInvalid, Image, Tools, node
from dataflow_agent.configs import StrictConfig
from dataflow_agent.policies import Verdict
from dataflow_agent.server_errors import ToolFailed
from dataflow_agent.server_sessions import listed
from dataflow_agent.tool_calls import content_of_call
from dataflow_agent.toolboxes import Toolbox

__all__ = ["CallTool", "Called", "call_tool"]


class CallTool(StrictConfig):
    """Config of `agent.call_tool`."""

    tool: str = Field(min_length=1, description="the name of the tool")


class Called(NamedTuple):
    """What a tool has answered."""

    text: str
    images: list[Image]


@node(effect=True)
async def call_tool(arguments: dict[str, Any], tools: Tools, config: CallTool) -> Called:
    """Call a tool by its name, and give what it says: its texts, joined, and its images.

    Raises FlowInvalid for a tool that is not there, and for arguments that its policy does not simply allow;
    ToolFailed for an answer that is an error, ServerFailed, SecretMissing, and what a function raises.
    """
    if not isinstance(tools, Toolbox):
        raise FlowInvalid("tools", [f"expected a Toolbox, found {type(tools).__name__}"], "input")
    toolbox = await listed(tools)
    found = toolbox.tool(config.tool)
    if found is None:
        known = ", ".join(toolbox.names) or "none"
        raise FlowInvalid(
            "tools", [f"there is no tool {config.tool!r}; those that there are: {known}"], "input"
        )
    read = found.read(arguments)
    if found.verdict(arguments) is not Verdict.ALLOW:
        server = found.at_server.server.label if found.at_server is not None else "functions"
        raise ToolFailed(server, config.tool, "was not called: its policy does not allow this call")
    content = await content_of_call(found, read)
    parts = [content] if isinstance(content, str) else [*content]
    texts = [part for part in parts if isinstance(part, str)]
    return Called("\n".join(texts), [part for part in parts if isinstance(part, Image)])
