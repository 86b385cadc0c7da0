"""Runs and documents that were written when stored names were paths of modules, which have moved since.

`tests/golden/stored_names/runs.sql` holds a run of each case that waits to be resumed, `<case>.native.yaml`
the flow as a document. Never write them anew: later releases read what they hold (S20).
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dataflow import Flow, Template, node
from dataflow_agent import (
    Agent,
    Conversation,
    Inject,
    ScriptedAnswer,
    ScriptedCall,
    Toolbox,
    context,
    inject_messages,
    tools,
)
from dataflow_control import Approval, Fill, Given, approval, template, value
from tests.support.stored_runs import asking

__all__ = ["BROKEN", "CASES", "DOCUMENTS", "FOLDER", "Case", "desk_at", "store_at"]

FOLDER: Final = Path(__file__).parent / "golden" / "stored_names"
DESK: Final = Path(__file__).parent / "nodes" / "formats" / "clickweave" / "desk.py"
BROKEN: Final = ScriptedAnswer(error="model_unavailable")
MODEL: Final = "openai/gpt-5"


async def write(path: str) -> str:
    """Write a file."""
    return f"wrote {path}"


async def read(path: str) -> str:
    """Read a file."""
    return f"read {path}"


helper: Final = Agent("helper", model=MODEL, tools=tools(read))
lead: Final = Agent("lead", model=MODEL)


async def offer() -> Toolbox:
    return tools(read, write, ask=["write"])


def calling(name: str, **arguments: Any) -> ScriptedAnswer:
    return ScriptedAnswer(tool_calls=(ScriptedCall(name=name, arguments=arguments),))


def control_flow() -> Flow:
    with Flow("control") as f:
        given = f.add(value, config=Given(value="draft"))
        first = f.add(approval, value=given.out, config=Approval(prompt="Go?"))
        second = f.add(approval, value=first.out.approve, config=Approval(prompt="Sure?"))
        filled = f.add(template, config=Fill(template=Template("{{ text }}!")), text=second.out.approve)
        f.output("o", filled.out)
    return f


def agent_flow() -> Flow:
    with Flow("agent") as f:
        begun = f.add(context, config=Conversation(system="Be brief."))
        pinned = f.add(inject_messages, context=begun.out, user="pin", config=Inject(pin="first"))
        step = f.add(lead, prompt="hi", context=pinned.out, tools=f.add(offer).out)
        f.output("text", step.out.text)
        f.output("context", step.out.context)
    return f


def tools_flow() -> Flow:
    box = tools(tools(read, write, ask=["write"]), helper.as_tool("helps"))
    with Flow("tools") as f:
        f.output("text", f.add(lead, prompt="hi", tools=box).out.text)
    return f


def memo_flow() -> Flow:
    with Flow("memo") as f:
        box = f.add(node(name="offer", memo="store")(offer))
        f.output("text", f.add(lead, prompt="hi", tools=box.out).out.text)
    return f


def desk_flow() -> Flow:
    with Flow("clickweave") as f:
        asked = f.add(asking(int)).out
        f.output("variables", f.add(loaded("clickweave")).out.variables)
        f.output("answer", asked)
    return f


OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "agentron": {"model": MODEL},
    "clickweave": {"server": "desk", "model": MODEL},
}


def loaded(name: str, **options: str) -> Flow:
    [path] = (path for path in FOLDER.glob(f"{name}.*") if path.suffixes in ([".json"], [".yaml"]))
    return Flow.load(path, format=name, **OPTIONS.get(name, {}), **options)


@dataclass(frozen=True)
class Case:
    """A flow; what its models say and what is answered before it is left, and after; what it comes to.

    A model that is broken leaves the run failed, else it is left with an ask that is open.
    """

    flow: Callable[[], Flow]
    says: tuple[Any, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    answered: tuple[Mapping[str, Any], ...] = ()
    answers: Mapping[str, Any] = field(default_factory=dict)
    then_says: tuple[Any, ...] = ()
    outputs: Mapping[str, Any] = field(default_factory=dict)


CASES: Final[Mapping[str, Case]] = {
    "control": Case(control_flow, answered=({"approval/ask": {"decision": "approve", "note": "nice"}},),
        answers={"approval_2/ask": True}, outputs={"o": "draft!"}),
    "agent": Case(agent_flow, says=(calling("read", path="a"), calling("write", path="b")),
        answers={"lead/turn[1]/call[0]/approve": "allow_for_run"},
        then_says=(calling("write", path="c"), "done"), outputs={"text": "done"}),
    "tools": Case(tools_flow,
        says=(calling("helper", prompt="look"), calling("read", path="a"), "it is a",
            calling("write", path="b")), answers={"lead/turn[1]/call[0]/approve": "allow"},
        then_says=("done",), outputs={"text": "done"}),
    "memo": Case(memo_flow, says=(calling("write", path="a"),),
        answers={"lead/turn[0]/call[0]/approve": "allow"}, then_says=(calling("read", path="a"), "done"),
        outputs={"text": "done"}),
    "agentflow": Case(lambda: loaded("agentflow"), answers={"p/ask": "approve"}, then_says=("done",),
        outputs={"a": "done"}),
    "agentron": Case(lambda: loaded("agentron"),
        says=("roses", calling("read", path="a"), calling("request_user_help", question="ok?"), "asked"),
        answers={"b/wait": "go"}, then_says=("so be it",), outputs={"output": "so be it"}),
    "cagent": Case(lambda: loaded("cagent"), inputs={"prompt": "P"}, says=("roses", BROKEN),
        then_says=("red",), outputs={"output": "red"}),
    "talking": Case(lambda: loaded("cagent", agent="x"), inputs={"prompt": "P"}, says=("roses",),
        answers={"x[0]/reply": "more"}, then_says=("red",)),
    "clickweave": Case(desk_flow, answers={"ask": 3}, outputs={"answer": 3}),
    "hifide": Case(lambda: loaded("hifide"), answers={"u": "hi"}, then_says=("hello",),
        outputs={"q": "hello"}),
}  # fmt: skip

#: The flows that have documents, by the name of these.
DOCUMENTS: Final[Mapping[str, Callable[[], Flow]]] = {
    **{
        name: CASES[name].flow
        for name in ("control", "agent", "tools", "agentflow", "agentron", "cagent", "hifide")
    },
    "clickweave": lambda: loaded("clickweave"),
    "talking": CASES["talking"].flow,
}


def desk_at(folder: Path) -> None:
    """Make the command `desk`, which the flow of Clickweave has as its server."""
    command = folder / "desk"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} {DESK} '{{}}' /dev/null\n", encoding="utf-8")
    command.chmod(0o755)


def store_at(path: Path) -> dict[str, str]:
    """Make the store with the runs of all cases; return the id of each."""
    with closing(sqlite3.connect(path)) as connection:
        # A user's function that moves is another one to a resume, and this helper of the tests has moved.
        script = (
            (FOLDER / "runs.sql")
            .read_text(encoding="utf-8")
            .replace("tests.stored_runs:", f"{asking.__module__}:")
        )
        connection.executescript(script)
        return dict(connection.execute("SELECT target, id FROM runs"))
