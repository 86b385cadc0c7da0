"""`clickweave.app_call`: a call of a tool for an app, which a model finds among those that run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, NamedTuple

from pydantic import Field

from dataflow import SKIP, ExecutionContext, Flow, Maybe, Tools, flow, merge, node
from dataflow.authoring import InstalledNode, choices, shortened
from dataflow_formats.clickweave.nodes.action import Action, Arguments, Noted, call_tool, noted
from dataflow_formats.clickweave.nodes.answers import object_in
from dataflow_formats.clickweave.nodes.errors import MOST_CHARACTERS, AppNotFound
from dataflow_formats.clickweave.nodes.evidence import watched
from dataflow_formats.clickweave.nodes.resolved import App
from dataflow_formats.clickweave.nodes.results import value_of
from dataflow_formats.clickweave.nodes.state import is_repeated, lookups_of, with_lookups

__all__ = ["AppCall", "app_call"]


class AppCall(Action):
    """Config of `clickweave.app_call`."""

    tool: str = Field(min_length=1, description="the name of the tool")
    arguments: Arguments = Field(default={}, description="what it is given besides the app")
    app: str = Field(description="what the app is called")
    argument: Literal["pid", "app_name"] = Field(description="what the tool is told of the app")
    focuses: bool = Field(default=False, description="whether the app has the focus afterwards")


class LookedUp(NamedTuple):
    """An app that is known, or the arguments of the calls that tell which there are; the walk with these."""

    known: Maybe[App]
    walk: Maybe[ExecutionContext]
    apps: Maybe[dict[str, Any]]
    windows: Maybe[dict[str, Any]]


@flow
def app_call(f: Flow, walk: ExecutionContext, tools: Tools, *, config: AppCall) -> Noted:
    """Find the app, call the tool for it, and set variables of its result.

    An app that was found before is remembered, but not where the node is tried once more.
    """
    looked = f.add(look_up, walk=walk, config=config).out
    apps = call_tool(f, "apps", "list_apps", looked.apps, tools)
    windows = call_tool(f, "windows", "list_windows", looked.windows, tools)
    prompt = f.add(ask_for_app, apps=apps.text, windows=windows.text, config=config).out
    chat = InstalledNode("agent.chat").with_(name="model")
    answer = f.add(chat, prompt=prompt, context=looked.walk).out.text
    chosen = f.add(choose_app, answer=answer, apps=apps.text, config=config).out
    app = merge(looked.known, chosen)
    asked = f.add(address, app=app, config=config).out
    called = call_tool(f, "call", config.tool, asked, tools)
    done = f.add(note_app, walk=walk, text=called.text, app=app, config=config).out
    return watched(f, done, tools, config, called.text)


@node(name="look_up")
async def look_up(walk: ExecutionContext, config: AppCall) -> LookedUp:
    """Look for the app among those that were found before."""
    known = None if is_repeated() else lookups_of(walk).apps.get(config.app)
    if known is not None:
        return LookedUp(known, SKIP, SKIP, SKIP)
    return LookedUp(SKIP, walk, {"user_apps_only": True}, {})


@node(name="ask_for_app")
async def ask_for_app(apps: str, windows: str, config: AppCall) -> str:
    """Ask which of the running apps is meant; raises AppNotFound where there are none."""
    if not _names_in(apps):
        raise AppNotFound(config.app, "no apps are running")
    return _question(apps, windows, config.app)


def _question(apps: str, windows: str, app: str) -> str:
    return (
        f"Which of the running apps does the user mean by {app!r}?\n\n"
        f"Running apps:\n{apps}\n\nOpen windows:\n{windows}\n\n"
        'Answer with JSON alone, {"name": ..., "pid": ...} as in the list, or null if it is none of them.'
    )


def _names_in(apps: str) -> list[str]:
    listed = value_of(apps)
    entries = listed if isinstance(listed, list) else []
    names = [entry.get("name", entry.get("app_name")) for entry in entries if isinstance(entry, dict)]
    return [name for name in names if isinstance(name, str)]


@node(name="choose_app")
async def choose_app(answer: str, apps: str, config: AppCall) -> App:
    """Read which app the model has chosen; raises AppNotFound for none, and for one that is not listed."""
    running = _names_in(apps)
    chosen = object_in(answer)
    if chosen is None and "null" not in answer:
        told = f"the model has answered {shortened(answer, MOST_CHARACTERS)!r}; expected JSON"
        raise AppNotFound(config.app, f'{told}, {{"name": ..., "pid": ...}} or null')
    chosen = chosen or {}
    name, pid = chosen.get("name"), chosen.get("pid")
    if name is None:
        raise AppNotFound(config.app, f"it is not among the running apps; {choices(running)}")
    if name not in running:
        told = f"{name!r}, which the model has chosen, is not among the running apps; {choices(running)}"
        raise AppNotFound(config.app, told)
    if not isinstance(pid, int) or isinstance(pid, bool):
        raise AppNotFound(config.app, f"the model has given no process of {name!r}")
    return App(name, pid)


@node(name="address")
async def address(app: App, config: AppCall) -> dict[str, Any]:
    """Give the arguments of the call, with the app in them."""
    return {**config.arguments, config.argument: app.pid if config.argument == "pid" else app.name}


@node(name="note_app")
async def note_app(walk: ExecutionContext, text: str, app: App, config: AppCall) -> Noted:
    """Remember the app, set variables, and go on."""
    lookups = lookups_of(walk).with_app(config.app, app)
    if config.focuses:
        lookups = replace(lookups, focused=app.name)
    return await noted(with_lookups(walk, lookups), value_of(text), config)
