"""The configs of HiFide nodes, the options of the format, and the tools that a node offers."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from dataflow.authoring import foreign, is_function_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.authoring import FormatOptions, JsonDict, Notes

__all__ = [
    "CONFIGS",
    "OPTIONS",
    "Available",
    "Model",
    "Router",
    "Selected",
    "available",
    "offered",
    "selected",
]
OPTIONS: Final = frozenset({"tools", "servers"})
#: The prefix of the names of tools of a plugin.
_PLUGIN: Final = re.compile(r"mcp_([^_]+)_")
_PART: Final = re.compile(r":(\w)")


class _Given(BaseModel):
    """Fields that the file spells in camel case."""

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
    """Messages that are inserted into a conversation."""

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


@dataclass(frozen=True, slots=True)
class Available:
    """The available tools: functions as `module:qualname`, and servers, each with a name or an empty one."""

    functions: tuple[str, ...] = ()
    servers: tuple[tuple[str, str], ...] = ()


def available(options: FormatOptions, notes: Notes) -> Available:
    """Read the options: `tools` separated by commas, `servers` by semicolons."""
    functions = [one.strip() for one in options.get("tools", "").split(",") if one.strip()]
    for name in functions:
        if not is_function_name(name):
            wrong = foreign.FOREIGN_OPTION_INVALID(
                "option tools", expected="functions, each as module:name", found=repr(name)
            )
            notes.problem((), wrong)
    servers = []
    for written in options.get("servers", "").split(";"):
        if not written.strip():
            continue
        name, named, rest = written.strip().partition("=")
        is_name = bool(named) and name.isidentifier()
        servers.append((name if is_name else "", rest if is_name else written.strip()))
        try:
            shlex.split(servers[-1][1])
        except ValueError as error:
            found = f"{servers[-1][1]!r}: {error}"
            notes.problem((), foreign.FOREIGN_OPTION_INVALID("option servers", found=found))
    return Available(tuple(functions), tuple(servers))


def selected(config: Selected, names: Iterable[str]) -> list[str]:
    """Return the names of the tools that a node offers: those on its list, and those of plugins."""
    if config.tools == "auto":
        wanted = None
    else:
        listed = config.tools if isinstance(config.tools, list) else []
        wanted = {_plain(name) for name in listed if isinstance(name, str)}
    found = []
    for name in dict.fromkeys(names):
        plugin = _PLUGIN.match(name)
        if plugin is not None and not _is_on(config, plugin[1]):
            continue
        if wanted is None or name in wanted or (plugin is not None and wanted):
            found.append(name)
    return found


def offered(config: Selected, tools: Available) -> JsonDict:
    """Return the config of the node that offers the selected tools."""
    by_name = {reference.rpartition(":")[2].rpartition(".")[2]: reference for reference in tools.functions}
    functions = [by_name[name] for name in selected(config, by_name)]
    servers = [one for name, start in tools.servers if (one := _server(config, name, start)) is not None]
    return {**({"functions": functions} if functions else {}), **({"servers": servers} if servers else {})}


def _server(config: Selected, name: str, start: str) -> JsonDict | None:
    if name and not _is_on(config, name):
        return None
    place: dict[str, Any] = {"url": start} if "://" in start else {"command": shlex.split(start)}
    server = {**place, **({"name": name} if name else {})}
    if name or config.tools == "auto":
        return server
    listed = config.tools if isinstance(config.tools, list) else []
    allowed = [_plain(tool) for tool in listed if isinstance(tool, str)]
    return {**server, "allow": allowed} if allowed else None


def _is_on(config: Selected, plugin: str) -> bool:
    switch = (config.mcp_plugins or {}).get(plugin)
    return config.mcp_enabled is not False if switch is None else switch


def _plain(name: str) -> str:
    """Return the name of a tool: `kanbanGetBoard` for `kanban:getBoard`."""
    return _PART.sub(lambda found: found[1].upper(), name)
