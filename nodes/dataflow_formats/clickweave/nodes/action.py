"""What all nodes share that do something: their config, their calls of tools, and what they set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import anyio
from pydantic import AfterValidator, Field, ValidationInfo

from dataflow import SKIP, Config, ExecutionContext, Maybe
from dataflow.authoring import InstalledNode, resolve_path
from dataflow_formats.clickweave.naming import prefix_of
from dataflow_formats.clickweave.nodes.results import variables_of
from dataflow_formats.clickweave.nodes.state import with_variables

if TYPE_CHECKING:
    from dataflow import Flow

__all__ = ["Action", "Arguments", "Noted", "call_tool", "noted"]


#: The arguments of tools that are paths, below the folder of the document.
PATHS: Final = frozenset({"image_path", "imagePath", "path", "file", "template_path"})


def _found(arguments: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """Make paths absolute: a server of tools has a folder of its own."""
    paths = {key: arguments[key] for key in PATHS & arguments.keys()}
    found = {key: resolve_path(path, info) for key, path in paths.items() if isinstance(path, str)}
    return {**arguments, **found}


#: What a tool is given.
Arguments: TypeAlias = Annotated[dict[str, Any], AfterValidator(_found)]


class Action(Config):
    """What all nodes have that do something."""

    name: str = Field(description="what the node is called, which its variables begin with")
    alias: str = Field(default="", description="what a whole list is called besides `result`")
    settle: float = Field(default=0, ge=0, description="how many seconds it waits when it has succeeded")
    checked: bool = Field(default=False, description="whether what it does is judged after the walk")


class Noted(NamedTuple):
    """The walk with what a node has found out, the variables that it has set, and what is to be judged."""

    walk: ExecutionContext
    variables: dict[str, Any]
    seen: Maybe[dict[str, Any]]


def call_tool(f: Flow, placed_as: str, tool: str, arguments: Any, tools: Any, **policy: Any) -> Any:
    """Place a call of a tool; its ports are `text` and `images`."""
    calling = InstalledNode("agent.call_tool").with_(name=placed_as, **policy)
    return f.add(calling, arguments=arguments, tools=tools, config=calling.config(tool=tool)).out


async def noted(walk: ExecutionContext, value: Any, config: Action) -> Noted:
    """Set the variables of a result, and wait for what the node has changed to settle."""
    variables = dict(variables_of(prefix_of(config.name), value, config.alias))
    if config.settle:
        await anyio.sleep(config.settle)
    return Noted(with_variables(walk, variables), variables, SKIP)
