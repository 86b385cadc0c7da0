"""The node type `agent.call_tool`: one call of a tool that the flow has decided on, and no model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import Field

from dataflow import FlowInvalid, Image, NodeOutput, Ports, Tools, node
from dataflow.authoring import choices
from dataflow_agent.mcp.server_errors import ToolFailed
from dataflow_agent.mcp.server_sessions import listed
from dataflow_agent.models.configs import StrictConfig
from dataflow_agent.tool_calls import content_of_call
from dataflow_agent.tools.policies import Verdict
from dataflow_agent.tools.toolboxes import Tool, Toolbox

__all__ = ["CallTool", "call_tool"]

PORTS: Final = Ports({"arguments": dict[str, Any], "tools": Tools}, {"text": str, "images": list[Image]})


class CallTool(StrictConfig):
    """Config of `agent.call_tool`."""

    tool: str = Field(min_length=1, description="the name of the tool")


@node(ports=PORTS, effect=True)
async def call_tool(inputs: Mapping[str, Any], config: CallTool) -> NodeOutput:
    """Call a tool by its name, and give what it says: its texts, joined, and its images.

    The metadata of the firing tell the tool and the arguments. Raises FlowInvalid for a tool that is not
    there; ToolFailed for an answer that is an error, and for a call that its policy does not simply allow;
    ServerFailed, SecretMissing, and what a function raises.
    """
    arguments = inputs["arguments"]
    tool = await _found(inputs["tools"], config.tool)
    _check_allowed(tool, arguments)
    content = await content_of_call(tool, tool.read(arguments))
    parts = [content] if isinstance(content, str) else [*content]
    texts = [part for part in parts if isinstance(part, str)]
    images = [part for part in parts if isinstance(part, Image)]
    told = {"tool": config.tool, "arguments": arguments}
    return NodeOutput({"text": "\n".join(texts), "images": images}, metadata=told)


async def _found(tools: Tools, name: str) -> Tool:
    if not isinstance(tools, Toolbox):
        raise FlowInvalid("tools", [f"expected a Toolbox, found {type(tools).__name__}"], "input")
    toolbox = await listed(tools)
    found = toolbox.tool(name)
    if found is None or found.subagent is not None:
        known = [one for one in toolbox.names if (tool := toolbox.tool(one)) and not tool.subagent]
        raise FlowInvalid("tools", [f"there is no tool {name!r}; {choices(known)}"], "input")
    return found


def _check_allowed(tool: Tool, arguments: Mapping[str, Any]) -> None:
    if tool.verdict(arguments) is not Verdict.ALLOW:
        place = tool.at_server.server.label if tool.at_server is not None else "functions"
        raise ToolFailed(place, tool.own_name, "was not called: its policy does not allow this call")
