"""What is kept of a node with checks until they are judged: its calls, and the screen afterwards."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from dataflow import ExecutionContext, Flow, gather, node
from dataflow_formats.clickweave.nodes.action import Action, Noted, call_tool
from dataflow_formats.clickweave.nodes.state import lookups_of

__all__ = ["Evidence", "watched"]

#: How many lines are kept.
MOST_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a node has done the last time: a line for each answer, and an image in Base64 if there is one."""

    name: str
    lines: list[str]
    image: str = ""
    media_type: str = ""


def watched(f: Flow, done: Noted, tools: Any, config: Action, *answers: Any) -> Noted:
    """Keep the answers of a node with checks, and an image of the screen, if there is to be one."""
    if not config.checked:
        return Noted(done.walk, done.variables, done.seen)
    where = f.add(ask_for_picture, walk=done.walk).out
    picture = call_tool(f, "check_screenshot", "take_screenshot", where, tools, on_error="skip")
    kept = f.add(witness, walk=done.walk, answers=gather(*answers), images=picture.images, config=config).out
    return Noted(kept.walk, done.variables, kept.seen)


class Witnessed(NamedTuple):
    """The walk, which goes on when the screen has been seen, and what was seen."""

    walk: ExecutionContext
    seen: dict[str, Any]


@node(name="ask_for_picture")
async def ask_for_picture(walk: ExecutionContext) -> dict[str, Any]:
    """Give the arguments of the image, of the app that has the focus if it is known."""
    focused = lookups_of(walk).focused
    return {"format": "png", **({"app_name": focused} if focused else {})}


@node(name="witness")
async def witness(
    walk: ExecutionContext, answers: list[str], config: Action, images: list[Any] | None = None
) -> Witnessed:
    """Keep what was seen."""
    lines = [json.dumps({"tool_result": answer}, ensure_ascii=False) for answer in answers][-MOST_LINES:]
    shown = (b64encode(images[0].data).decode(), images[0].media_type) if images else ()
    return Witnessed(walk, asdict(Evidence(config.name, lines, *shown)))
