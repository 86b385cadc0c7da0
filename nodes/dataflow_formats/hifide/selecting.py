"""Which tools a node of HiFide offers: functions and servers that are named besides the file. Pure."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dataflow.authoring import is_function_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataflow.authoring import FormatOptions, JsonDict, Notes
    from dataflow_formats.hifide.configs import Selected

__all__ = ["OPTIONS", "Available", "available", "offered", "selected"]

OPTIONS: Final = frozenset({"tools", "servers"})
#: How the tools of a plugin are called.
_PLUGIN: Final = re.compile(r"mcp_([^_]+)_")
_PART: Final = re.compile(r":(\w)")


@dataclass(frozen=True, slots=True)
class Available:
    """The tools that there are: functions, each as `module:qualname`, and servers, which may have a name."""

    functions: tuple[str, ...] = ()
    servers: tuple[tuple[str, str], ...] = ()


def available(options: FormatOptions, notes: Notes) -> Available:
    """Read what was said besides the file: `tools` with commas between, `servers` with semicolons."""
    functions = [one.strip() for one in options.get("tools", "").split(",") if one.strip()]
    for name in functions:
        if not is_function_name(name):
            notes.problem((), f"option tools: expected functions, each as module:name; found {name!r}")
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
            notes.problem((), f"the option servers cannot be read: {error}")
    return Available(tuple(functions), tuple(servers))


def selected(config: Selected, names: Iterable[str]) -> list[str]:
    """Return those of the tools that a node offers: those on its list, and those of plugins."""
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
    """Make the config of the node that offers what was selected."""
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
    said = (config.mcp_plugins or {}).get(plugin)
    return config.mcp_enabled is not False if said is None else said


def _plain(name: str) -> str:
    """Write `kanban:getBoard` as the tool is called, `kanbanGetBoard`."""
    return _PART.sub(lambda found: found[1].upper(), name)
