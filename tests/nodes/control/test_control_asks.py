"""`control.ask`, `control.user_input` and `control.approval` in documents, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from dataflow import ExecutionContext, Flow, FlowInvalid
from dataflow_control import Approval, approval

ASKING: Final = """
dataflow: 1
inputs: {text: {type: string}}
nodes:
  day:
    type: control.ask
    config: {prompt: When?, type: {type: string, format: date}}
    inputs: {show: $in.text}
  many:
    type: control.ask
    config: {prompt: How many?, type: {type: array, items: {type: integer}}, expires: 60, default: [1, 2]}
  any: {type: control.ask, config: {prompt: What?}}
  said: {type: control.user_input}
  way: {type: control.approval, config: {prompt: Go?, expires: 9.5, default: reject}, inputs: {value: many}}
outputs: {day: day, many: many, any: any, said: said, yes: way.approve, note: way.note}
"""


def loaded(text: str, folder: Path) -> Flow:
    file = folder / "flow.yaml"
    file.write_text(text, encoding="utf-8")
    return Flow.load(file)


async def test_a_document_asks_what_it_says_and_comes_back_as_it_was(tmp_path: Path) -> None:
    flow = loaded(ASKING, tmp_path)
    assert loaded(json.dumps(flow.to_dict()), tmp_path).to_dict() == flow.to_dict()
    paused = await flow.run(text="Hello")
    told = {ask.id: (ask.prompt, ask.show, ask.schema, ask.expires is None) for ask in paused.asks}
    assert told == {
        "day": ("When?", "Hello", {"type": "string", "format": "date"}, True),
        "many": ("How many?", None, {"type": "array", "items": {"type": "integer"}}, False),
        "any": ("What?", None, {}, True),
        "said": ("", None, {"type": "string"}, True),
    }
    answers = {"day": "2031-05-06", "many": [3], "any": {"x": None}, "said": ""}
    paused = await flow.resume(paused, answers)
    assert [(ask.id, ask.prompt, ask.show) for ask in paused.asks] == [("way/ask", "Go?", [3])]
    result = await flow.resume(paused, {"way/ask": True})
    values = {name: result[name] for name in ("many", "any", "said", "yes", "note")}
    assert values == {"many": [3], "any": {"x": None}, "said": "", "yes": [3], "note": ""}
    assert result["day"].isoformat() == "2031-05-06"


#: What a document says of a node `a`, and the field at fault.
MISTAKES: Final = (
    ("control.ask, config: {}", "prompt"),
    ("control.ask, config: {prompt: p, type: int}", "type"),
    ("control.ask, config: {prompt: p, type: integer, expires: 1, default: x}", "default"),
    ("control.ask, config: {prompt: p, default: 1}", "default"),
    ("control.ask, config: {prompt: p, expires: 0}", "expires"),
    ("control.user_input, config: {kind: string}", "kind"),
    ("control.approval, config: {expires: 1.0e+12}, inputs: {value: {value: 1}}", "expires"),
    ("control.approval, values: {value: 1}, config: {expires: 1, default: perhaps}", "default"),
    ("control.approval, values: {value: 1}, config: {default: true}", "default"),
    ("control.approval", "a.value"),
)


def test_a_mistake_in_an_ask_is_reported_where_it_is(tmp_path: Path) -> None:
    for node, field in MISTAKES:
        with pytest.raises(FlowInvalid) as caught:
            loaded(f"dataflow: 1\nnodes:\n  a: {{type: {node}}}\n", tmp_path)
        [problem] = caught.value.problems
        written = f"  a: {{type: {node}}}"
        start = max(written.find("config"), 2)
        column = max(written.find(f"{field}:", start), start) + 1
        assert (problem.location.line, problem.location.column) == (3, column)
        assert field in str(problem)


async def test_user_input_passes_the_conversation_on_as_it_is(tmp_path: Path) -> None:
    flow = loaded(
        """
dataflow: 1
nodes:
  talk: {type: control.context, config: {system: be short}}
  said: {type: control.user_input, config: {prompt: You}, inputs: {context: talk}}
  other: {type: control.user_input, config: {type: integer}}
outputs:
  context: said.context
  said: said
  number: other
  none: {fallback: [other.context, {value: nothing}]}
""",
        tmp_path,
    )
    paused = await flow.run()
    assert sorted((ask.id, ask.prompt) for ask in paused.asks) == [("other", ""), ("said", "You")]
    result = await flow.resume(paused, {"said": "hello", "other": 0})
    context: ExecutionContext = result["context"]
    assert (context.system_instructions, list(context.message_history)) == ("be short", [])
    assert (result["said"], result["number"], result["none"]) == ("hello", 0, "nothing")


async def test_the_prompt_of_an_approval_may_come_from_a_port() -> None:
    with Flow() as f:
        f.add(approval, value=1, prompt=f.input("prompt", str), show="this", config=Approval(prompt="Else?"))
    assert [(a.prompt, a.show) for a in (await f.run(prompt="Well?")).asks] == [("Well?", "this")]
    assert [(a.prompt, a.show) for a in (await f.run(prompt="")).asks] == [("Else?", "this")]
