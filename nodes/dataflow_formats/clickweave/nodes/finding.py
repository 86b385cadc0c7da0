"""`clickweave.find_text` and `clickweave.click`: text on the screen, or what a model says is meant by it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from pydantic import Field

from dataflow import SKIP, ExecutionContext, Flow, Maybe, Tools, flow, merge, node
from dataflow.authoring import InstalledNode
from dataflow_formats.clickweave.nodes.action import Action, Noted, call_tool, noted
from dataflow_formats.clickweave.nodes.answers import object_in
from dataflow_formats.clickweave.nodes.errors import ElementNotFound
from dataflow_formats.clickweave.nodes.evidence import watched
from dataflow_formats.clickweave.nodes.resolved import Element, Target
from dataflow_formats.clickweave.nodes.results import matches_in, value_of
from dataflow_formats.clickweave.nodes.state import is_repeated, lookups_of, with_lookups

__all__ = ["Click", "FindText", "click", "find_text"]


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
    """What a model may choose from: the answer that names the elements, and what was asked for it."""

    answer: str
    asked: dict[str, Any]


class Searched(NamedTuple):
    """What a search has come to: an answer that stands, or a question which of the elements is meant.

    The walk and the choice go with the question, so that without one nothing waits for an answer.
    """

    answer: Maybe[str]
    question: Maybe[str]
    walk: Maybe[ExecutionContext]
    choice: Maybe[Choice]


class Chosen(NamedTuple):
    """The arguments of one more search and the name in them, or the first answer where nothing is chosen."""

    again: Maybe[dict[str, Any]]
    element: Maybe[Element]
    answer: Maybe[str]


class Found(NamedTuple):
    """What the searches have come to, and the element that a model has chosen, if one was asked."""

    answer: str
    element: Element


class Aimed(NamedTuple):
    """The arguments of a click, and where it goes."""

    arguments: dict[str, Any]
    target: Target


def wire_search(f: Flow, walk: ExecutionContext, tools: Any, config: FindText) -> Found:
    """Wire a search, and one more under the name that a model has chosen of those that there are."""
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
    """Find text on the screen, and set variables of what was found."""
    found = wire_search(f, walk, tools, config)
    done = f.add(note_search, walk=walk, text=found.answer, element=found.element, config=config).out
    return watched(f, done, tools, config, found.answer)


@flow
def click(f: Flow, walk: ExecutionContext, tools: Tools, *, config: Click) -> Noted:
    """Click on text on the screen, and set variables of what the click has come to.

    Raises ElementNotFound where nothing was found under any name.
    """
    found = wire_search(f, walk, tools, config)
    aimed = f.add(aim, text=found.answer, config=config).out
    clicked = call_tool(f, "click", "click", aimed.arguments, tools)
    done = f.add(note_click, walk=walk, text=clicked.text, element=found.element, config=config).out
    return watched(f, done, tools, config, found.answer, clicked.text)


@node(name="look_up")
async def look_for(walk: ExecutionContext, config: FindText) -> dict[str, Any]:
    """Give the arguments of the first search: a name that was chosen before counts, unless it is repeated."""
    lookups = lookups_of(walk)
    name = None if is_repeated() else lookups.element(config.text)
    scope = {"app_name": lookups.focused} if config.in_focused and lookups.focused else {}
    return {"text": name or config.text, **scope}


@node(name="read_search")
async def read_search(walk: ExecutionContext, text: str, asked: dict[str, Any], config: FindText) -> Searched:
    """Tell whether the first search has found something, or what else there is."""
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
    """Read which element the model has chosen; one that is not listed is none."""
    name = (object_in(answer) or {}).get("name")
    if name in matches_in(choice.answer).available:
        return Chosen({**choice.asked, "text": name}, Element(name), SKIP)
    return Chosen(SKIP, SKIP, choice.answer)


@node(name="aim")
async def aim(text: str, config: Click) -> Aimed:
    """Aim at the first match; raises ElementNotFound."""
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
    """Remember the element that was chosen, set variables, and go on."""
    whole = value_of(text)
    value = whole if isinstance(whole, dict) and "available_elements" not in whole else matches_in(text).found
    return await noted(_remembering(walk, config, element), value, config)


@node(name="note_click")
async def note_click(
    walk: ExecutionContext, text: str, config: Click, element: Element | None = None
) -> Noted:
    """Remember the element that was chosen, set variables, and go on."""
    return await noted(_remembering(walk, config, element), value_of(text), config)


def _remembering(walk: ExecutionContext, config: FindText, element: Element | None) -> ExecutionContext:
    if element is None:
        return walk
    return with_lookups(walk, lookups_of(walk).with_element(config.text, element.name))
