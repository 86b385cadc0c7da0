"""What is kept of a node with checks until they are judged: its calls, and the screen afterwards."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import asdict, dataclass
from typing import Any, Final

from dataflow.context import ExecutionContext
from dataflow.declare import node
from dataflow.flows import Flow
from dataflow.formats.clickweave.nodes.action import Action, Noted, call_tool
from dataflow.formats.clickweave.nodes.state import lookups_of, with_variables
from dataflow.joins import gather

__all__ = ["Evidence", "evidence_of", "watched"]

#: Where it stands among the variables; a variable of a node has a dot in its name.
KEY: Final = "clickweave checks"
#: How many lines are kept.
MOST_LINES: Final = 20


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a node has done the last time: a line for each answer, and an image in Base64 if there is one."""

    lines: list[str]
    image: str = ""
    media_type: str = ""


def evidence_of(walk: ExecutionContext, name: str) -> Evidence | None:
    """Return what is kept of a node, None if it has not run."""
    kept = walk.variables.get(KEY, {}).get(name)
    return None if kept is None else Evidence(**kept)


def watched(f: Flow, done: Noted, tools: Any, config: Action, *answers: Any) -> Noted:
    """Keep the answers of a node with checks, and an image of the screen, if there is to be one."""
    if not config.checked:
        return Noted(done.walk, done.variables)
    where = f.add(ask_for_picture, walk=done.walk).out
    picture = call_tool(f, "check_screenshot", "take_screenshot", where, tools, on_error="skip")
    kept = f.add(witness, walk=done.walk, answers=gather(*answers), images=picture.images, config=config).out
    return Noted(kept, done.variables)


@node(name="ask_for_picture")
async def ask_for_picture(walk: ExecutionContext) -> dict[str, Any]:
    """Give the arguments of the image, of the app that has the focus if it is known."""
    focused = lookups_of(walk).focused
    return {"format": "png", **({"app_name": focused} if focused else {})}


@node(name="witness")
async def witness(
    walk: ExecutionContext, answers: list[str], config: Action, images: list[Any] | None = None
) -> ExecutionContext:
    """Keep what was seen."""
    lines = [json.dumps({"tool_result": answer}, ensure_ascii=False) for answer in answers][-MOST_LINES:]
    image = images[0] if images else None
    seen = (
        Evidence(lines)
        if image is None
        else Evidence(lines, b64encode(image.data).decode(), image.media_type)
    )
    return with_variables(walk, {KEY: {**walk.variables.get(KEY, {}), config.name: asdict(seen)}})
