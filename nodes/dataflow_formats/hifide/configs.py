"""What the configs of nodes in a file of HiFide may say; what else stands there is let be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from dataflow.authoring import PartReader

if TYPE_CHECKING:
    from dataflow.authoring import Notes
    from dataflow_formats.hifide.parts import Node

__all__ = [
    "CONFIGS",
    "Cached",
    "Injected",
    "Manual",
    "Model",
    "Portal",
    "ReadFile",
    "Router",
    "Selected",
    "read_config",
]

B = TypeVar("B", bound=BaseModel)


class _Given(BaseModel):
    """Fields that the file spells with capitals inside."""

    model_config = ConfigDict(strict=True, extra="ignore", alias_generator=to_camel)


class Model(_Given):
    """Which model answers, and how."""

    provider: str | None = None
    model: str | None = None
    system_instructions: str | None = None
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high"] | None = None


class Router(Model):
    """The routes of a router, each with a description."""

    routes: dict[str, str] = Field(min_length=1)


class Selected(_Given):
    """Which tools are offered."""

    tools: Any = "auto"
    mcp_enabled: bool | None = None
    mcp_plugins: dict[str, bool] | None = None


class Manual(_Given):
    """A message of the file."""

    message: str | None = None


class Injected(_Given):
    """Messages that are put into a conversation."""

    id: str | None = None
    static_user_message: str | None = None
    static_assistant_message: str | None = None
    injection_mode: Literal["prepend", "append"] | None = None


class Cached(_Given):
    """How long a value is kept."""

    ttl: float = Field(default=300, ge=0, allow_inf_nan=False)
    invalidate: float | None = None


class Portal(_Given):
    """The name that portals share."""

    id: str = ""


class ReadFile(_Given):
    """A file of the workspace."""

    path: str = Field(min_length=1)


CONFIGS: Final[dict[str, type[BaseModel]]] = {
    "defaultContextStart": Model,
    "llmRequest": Model,
    "newContext": Model,
    "intentRouter": Router,
    "tools": Selected,
    "manualInput": Manual,
    "injectMessages": Injected,
    "cache": Cached,
    "portalInput": Portal,
    "portalOutput": Portal,
    "readFile": ReadFile,
}


def read_config(node: Node, model: type[B], notes: Notes) -> B | None:
    """Read the config of a node; every problem is noted, and None returned if there is one."""
    return PartReader(notes, node.config, node.config_path, f"node {node.id!r}").checked(model)
