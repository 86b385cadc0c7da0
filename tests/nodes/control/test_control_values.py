"""The types of the control pack that give a value, choose where it goes, ask, read and write files (S16)."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataflow import ExecutionContext, Expression, Flow, FlowInvalid, Result, Template
from dataflow.core.functions import import_function
from dataflow.formats.native.reader import load
from dataflow.packs.registry import find_type
from dataflow_control import Approval, Compute, Fill, approval, expression, read_text, template, write_text
from tests.formats.nesting import nest
from tests.nodes.control.values import json_values, typed
from tests.nodes.playing import played

names = st.sampled_from(["a", "name", "value", "rest", "item", "context", "inputs"])
plain = st.text(st.characters(exclude_characters="{}\r", exclude_categories=["Cs"]))


@given(st.dictionaries(names, plain, max_size=4))
async def test_a_template_has_an_input_for_each_of_its_names(values: dict[str, str]) -> None:
    config = Fill(template=Template("".join(f"[{{{{ {name} }}}}]" for name in values)))
    assert list(template.type.configured(config).inputs) == sorted(values)
    assert await played(template, config, **values) == "".join(f"[{text}]" for text in values.values())


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
async def test_an_expression_computes_over_its_inputs(a: int, b: int) -> None:
    config = Compute(expression=Expression("[a + b, a < b, a]"))
    assert await played(expression, config, a=a, b=b) == [a + b, a < b, a]


numbers = st.integers(-5, 5)


async def play(nodes: dict[str, Any], outputs: dict[str, str]) -> Result:
    document = {"dataflow": 1, "nodes": nodes, "outputs": outputs}
    flow = Flow.from_wiring(load(json.dumps(document), "f.json", nest), find_type, import_function)
    return await flow.run()


@given(json_values, st.sampled_from(["yes", "no"]))
async def test_an_if_passes_any_value_to_the_exit_that_its_condition_says(value: object, taken: str) -> None:
    config = {"condition": str(taken == "yes").lower()}
    nodes = {"it": {"type": "control.if", "config": config, "values": {"value": value}}}
    found = (await play(nodes, {"yes": "it.yes", "no": "it.no"})).outputs
    assert list(found) == [taken]
    assert typed(found[taken]) == typed(value)


@given(numbers, st.lists(numbers, min_size=1, max_size=5), st.booleans())
async def test_a_switch_takes_the_first_case_that_holds_else_the_default(
    value: int, bounds: list[int], has_default: bool
) -> None:
    cases = {f"case{place}": f"value == {bound}" for place, bound in enumerate(bounds)}
    if has_default:
        cases["default"] = "true"
    nodes = {"it": {"type": "control.switch", "config": {"cases": cases}, "values": {"value": value}}}
    taken = next((f"case{place}" for place, bound in enumerate(bounds) if bound == value), None)
    if taken is None and has_default:
        taken = "default"
    result = await play(nodes, {case: f"it.{case}" for case in cases})
    assert result.outputs == ({} if taken is None else {taken: value})


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


TEXT = "Zeile\r\n日本\n\n\re\u0301 🙂\x0c\u2028 no line end at the end"


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_text_is_written_and_read_as_it_is_in_the_encoding_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.txt"
    assert await write_text(path=str(path), text=TEXT) == str(path)
    assert path.read_bytes() == TEXT.encode()
    assert await read_text(path=str(path)) == TEXT
    monkeypatch.chdir(tmp_path)
    assert await write_text(path="out.txt", text="") == "out.txt"
    assert await read_text(path=str(path)) == ""
    path.write_bytes(b"\xef\xbb\xbf" + "\ufeffText".encode())  # a byte order mark is dropped
    for encoding in ("utf-8", "UTF8", "utf_8"):
        assert await read_text(path=str(path), encoding=encoding) == "\ufeffText"
    path = tmp_path / "in.txt"
    await write_text(path=str(path), text="Größe", encoding="latin-1")
    assert path.read_bytes() == "Größe".encode("latin-1")
    assert await read_text(path=str(path), encoding="latin-1") == "Größe"
    with pytest.raises(UnicodeDecodeError):
        await read_text(path=str(path))
    with pytest.raises(LookupError, match="klingon"):
        await read_text(path=str(path), encoding="klingon")


async def test_what_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cases: tuple[tuple[str, type[OSError]], ...] = (
        ("missing/out.txt", FileNotFoundError), ("", IsADirectoryError), ("file/out.txt", NotADirectoryError),
    )  # fmt: skip
    for name, error in cases:
        path = str(tmp_path / name)
        for work in (write_text(path=path, text="Text"), read_text(path=path)):
            with pytest.raises(error) as caught:
                await work
            assert caught.value.filename == path
    assert not (tmp_path / "missing").exists()


async def test_a_file_keeps_its_mode_a_new_one_has_the_usual_and_a_link_stays_one(tmp_path: Path) -> None:
    path, new, usual, link = (tmp_path / f"{name}.txt" for name in ("out", "new", "usual", "link"))
    path.write_text("old")
    path.chmod(0o640)
    usual.touch()
    link.symlink_to("out.txt")
    for written in (new, link):
        await write_text(path=str(written), text="new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o640)
    assert link.is_symlink()
    assert new.stat().st_mode == usual.stat().st_mode


async def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    await write_text(path=str(pipe), text="Text")
    reader.join()
    assert read == ["Text"]
    assert pipe.is_fifo()


async def test_a_text_that_cannot_be_encoded_or_written_leaves_the_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out.txt").write_text("old")
    cases: tuple[tuple[str, str, type[Exception]], ...] = (
        ("日本", "ascii", UnicodeEncodeError),
        ("\ud800", "utf-8", UnicodeEncodeError),
        ("", "klingon", LookupError),
    )
    for text, encoding, error in cases:
        with pytest.raises(error):
            await write_text(path=str(tmp_path / "out.txt"), text=text, encoding=encoding)
        assert names_in(tmp_path) == ["out.txt"]
        assert (tmp_path / "out.txt").read_text() == "old"

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "out.txt").write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        await write_text(path=str(tmp_path / "out.txt"), text="new")
    assert caught.value.filename == str(tmp_path / "out.txt")
    assert names_in(tmp_path) == ["out.txt"]
    assert (tmp_path / "out.txt").read_text() == "old"
