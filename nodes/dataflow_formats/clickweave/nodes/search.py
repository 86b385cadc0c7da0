"""`clickweave.find_text`, `clickweave.click` and `clickweave.app_call`: find targets with a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

from pydantic import Field

from dataflow import SKIP, ExecutionContext, Flow, Maybe, Tools, flow, merge, node
from dataflow.authoring import InstalledNode, describe_value, shortened
from dataflow_formats.clickweave.diagnostics import ANSWER_INVALID, APP_NOT_FOUND
from dataflow_formats.clickweave.nodes.action import (
    MOST_CHARACTERS,
    Action,
    App,
    AppNotFound,
    Arguments,
    Element,
    ElementNotFound,
    Noted,
    Target,
    call_tool,
    is_repeated,
    lookups_of,
    matches_in,
    noted,
    object_in,
    value_of,
    with_lookups,
)
from dataflow_formats.clickweave.nodes.calls import watched

__all__ = ["app_call", "click", "find_text"]


class FindText(Action):
    """Config of `clickweave.find_text`."""

    text: str = Field(description="what is looked for")
    in_focused: bool = Field(default=False, description="whether only in the app that has the focus")


class Click(FindText):
    """Config of `clickweave.click`."""

    button: Literal["left", "right", "center"] = Field(default="left", description="the button of the mouse")
    click_count: int = Field(default=1, ge=0, description="how often it is pressed")


@dataclass(frozen=True, slots=True)
class Choice:
    """The elements that a model chooses from: the answer that names them, and the arguments of the search."""

    answer: str
    asked: dict[str, Any]


class Searched(NamedTuple):
    """The outcome of a search: a final answer, or a question which of the elements is meant.

    The walk and the choice are skipped without a question, so that no model is called.
    """

    answer: Maybe[str]
    question: Maybe[str]
    walk: Maybe[ExecutionContext]
    choice: Maybe[Choice]


class Chosen(NamedTuple):
    """The arguments of a second search and the name in them, or the first answer without a choice."""

    again: Maybe[dict[str, Any]]
    element: Maybe[Element]
    answer: Maybe[str]


class Found(NamedTuple):
    """The answer of the last search, and the element that a model has chosen, if one was asked."""

    answer: str
    element: Element


class Aimed(NamedTuple):
    """The arguments of a click, and its coordinates."""

    arguments: dict[str, Any]
    target: Target


def wire_search(f: Flow, walk: ExecutionContext, tools: Any, config: FindText) -> Found:
    """Wire a search, and a second one for the name that a model chooses among the available ones."""
    asked = f.add(look_for, walk=walk, config=config).out
    first = call_tool(f, "find", "find_text", asked, tools)
    searched = f.add(read_search, walk=walk, text=first.text, asked=asked, config=config).out
    chat = InstalledNode("agent.chat").with_(name="model")
    answer = f.add(chat, prompt=searched.question, context=searched.walk).out.text
    chosen = f.add(choose, answer=answer, choice=searched.choice).out
    second = call_tool(f, "find_again", "find_text", chosen.again, tools)
    return Found(merge(searched.answer, second.text, chosen.answer), chosen.element)


@flow
def find_text(f: Flow, walk: ExecutionContext, tools: Tools, *, config: FindText) -> Noted:
    """Find text on the screen, and set variables of the matches."""
    found = wire_search(f, walk, tools, config)
    done = f.add(note_search, walk=walk, text=found.answer, element=found.element, config=config).out
    return watched(f, done, tools, config, found.answer)


@flow
def click(f: Flow, walk: ExecutionContext, tools: Tools, *, config: Click) -> Noted:
    """Click on text on the screen, and set variables of the result.

    Raises ElementNotFound if neither search has a match.
    """
    found = wire_search(f, walk, tools, config)
    aimed = f.add(aim, text=found.answer, config=config).out
    clicked = call_tool(f, "click", "click", aimed.arguments, tools)
    done = f.add(note_click, walk=walk, text=clicked.text, element=found.element, config=config).out
    return watched(f, done, tools, config, found.answer, clicked.text)


@node(name="look_up")
async def look_for(walk: ExecutionContext, config: FindText) -> dict[str, Any]:
    """Return the arguments of the first search, with a name that was chosen before, except in a retry."""
    lookups = lookups_of(walk)
    name = None if is_repeated() else lookups.element(config.text)
    scope = {"app_name": lookups.focused} if config.in_focused and lookups.focused else {}
    return {"text": name or config.text, **scope}


@node(name="read_search")
async def read_search(walk: ExecutionContext, text: str, asked: dict[str, Any], config: FindText) -> Searched:
    """Return the answer of the first search, or a question about the available elements."""
    matches = matches_in(text)
    if matches.found or not matches.available:
        return Searched(text, SKIP, SKIP, SKIP)
    listed = "\n".join(matches.available)
    question = (
        f"Which of these elements does the user mean by {config.text!r}?\n\n{listed}\n\n"
        'Answer with JSON alone, {"name": ...} as in the list, or null if it is none of them.'
    )
    return Searched(SKIP, question, walk, Choice(text, asked))


@node(name="choose")
async def choose(answer: str, choice: Choice) -> Chosen:
    """Read which element the model has chosen; one that is not listed does not count."""
    name = (object_in(answer) or {}).get("name")
    if name in matches_in(choice.answer).available:
        return Chosen({**choice.asked, "text": name}, Element(name), SKIP)
    return Chosen(SKIP, SKIP, choice.answer)


@node(name="aim")
async def aim(text: str, config: Click) -> Aimed:
    """Aim at the first match; raise ElementNotFound."""
    for match in matches_in(text).found:
        if isinstance(match, dict) and "x" in match and "y" in match:
            pressed = {"button": config.button, "click_count": config.click_count}
            target = Target(match["x"], match["y"])
            return Aimed({**asdict(target), **pressed}, target)
    raise ElementNotFound(config.text, text)


@node(name="note_search")
async def note_search(
    walk: ExecutionContext, text: str, config: FindText, element: Element | None = None
) -> Noted:
    """Remember the chosen element, and set variables."""
    whole = value_of(text)
    value = whole if isinstance(whole, dict) and "available_elements" not in whole else matches_in(text).found
    return await noted(_with_element(walk, config, element), value, config)


@node(name="note_click")
async def note_click(
    walk: ExecutionContext, text: str, config: Click, element: Element | None = None
) -> Noted:
    """Remember the chosen element, and set variables."""
    return await noted(_with_element(walk, config, element), value_of(text), config)


def _with_element(walk: ExecutionContext, config: FindText, element: Element | None) -> ExecutionContext:
    if element is None:
        return walk
    return with_lookups(walk, lookups_of(walk).with_element(config.text, element.name))


class AppCall(Action):
    """Config of `clickweave.app_call`."""

    tool: str = Field(min_length=1, description="the name of the tool")
    arguments: Arguments = Field(default={}, description="what it is given besides the app")
    app: str = Field(description="what the app is called")
    argument: Literal["pid", "app_name"] = Field(description="what the tool is told of the app")
    focuses: bool = Field(default=False, description="whether the app has the focus afterwards")


class LookedUp(NamedTuple):
    """A known app, or the walk and the arguments of the calls that list apps and windows."""

    known: Maybe[App]
    walk: Maybe[ExecutionContext]
    apps: Maybe[dict[str, Any]]
    windows: Maybe[dict[str, Any]]


@flow
def app_call(f: Flow, walk: ExecutionContext, tools: Tools, *, config: AppCall) -> Noted:
    """Find the app, call the tool for it, and set variables of its result.

    An app that was found before is reused, except in a retry.
    """
    looked = f.add(look_up_app, walk=walk, config=config).out
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
async def look_up_app(walk: ExecutionContext, config: AppCall) -> LookedUp:
    """Look up the app among those that were found before."""
    known = None if is_repeated() else lookups_of(walk).apps.get(config.app)
    if known is not None:
        return LookedUp(known, SKIP, SKIP, SKIP)
    return LookedUp(SKIP, walk, {"user_apps_only": True}, {})


@node(name="ask_for_app")
async def ask_for_app(apps: str, windows: str, config: AppCall) -> str:
    """Ask which of the running apps is meant; raise AppNotFound if there are none."""
    if not _names_in(apps):
        raise AppNotFound(config.app, APP_NOT_FOUND(available=()))
    return _question(apps, windows, config.app)


@node(name="choose_app")
async def choose_app(answer: str, apps: str, config: AppCall) -> App:
    """Read which app the model has chosen; raise AppNotFound for none and for an unlisted one."""
    running = _names_in(apps)
    chosen = object_in(answer)
    if chosen is None and "null" not in answer:
        found = repr(shortened(answer, MOST_CHARACTERS))
        expected = 'JSON, {"name": ..., "pid": ...} or null'
        raise AppNotFound(config.app, ANSWER_INVALID(expected=expected, found=found))
    chosen = chosen or {}
    name, pid = chosen.get("name"), chosen.get("pid")
    if name is None:
        raise AppNotFound(config.app, APP_NOT_FOUND(available=running))
    if name not in running:
        problem = ANSWER_INVALID(expected="the name of a running app", found=repr(name), available=running)
        raise AppNotFound(config.app, problem)
    if not isinstance(pid, int) or isinstance(pid, bool):
        expected = f"the pid of {name!r}, an integer"
        raise AppNotFound(config.app, ANSWER_INVALID(expected=expected, found=describe_value(pid)))
    return App(name, pid)


def _names_in(apps: str) -> list[str]:
    listed = value_of(apps)
    entries = listed if isinstance(listed, list) else []
    names = [entry.get("name", entry.get("app_name")) for entry in entries if isinstance(entry, dict)]
    return [name for name in names if isinstance(name, str)]


def _question(apps: str, windows: str, app: str) -> str:
    return (
        f"Which of the running apps does the user mean by {app!r}?\n\n"
        f"Running apps:\n{apps}\n\nOpen windows:\n{windows}\n\n"
        'Answer with JSON alone, {"name": ..., "pid": ...} as in the list, or null if it is none of them.'
    )


@node(name="address")
async def address(app: App, config: AppCall) -> dict[str, Any]:
    """Return the arguments of the call, with the app in them."""
    return {**config.arguments, config.argument: app.pid if config.argument == "pid" else app.name}


@node(name="note_app")
async def note_app(walk: ExecutionContext, text: str, app: App, config: AppCall) -> Noted:
    """Remember the app, and set variables."""
    lookups = lookups_of(walk).with_app(config.app, app)
    if config.focuses:
        lookups = replace(lookups, focused=app.name)
    return await noted(with_lookups(walk, lookups), value_of(text), config)
