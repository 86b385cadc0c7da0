"""Notebooks show flows, steps and results: by MIME type, escaped, shortened and with secrets masked."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from dataflow import Flow, RunFailed, Secret


async def join(title: str, parts: list[int]) -> str:
    return f"<b>{title}</b>"


class Table:
    """Stands for a data frame."""

    def __repr__(self) -> str:
        return "   a\n0  1"


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.data = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append(tag)

    def handle_data(self, data: str) -> None:
        self.data += data


def made() -> tuple[Flow, Any]:
    with Flow("a <script> flow") as built:
        step = built.add(join, title=built.input("title", str), parts=[1, 2])
        built.output("<i>out</i>", step.out)
        built.output("ask", built.ask(str, "<u>Which?</u>", name="which").out)
    return built, step


def test_a_flow_is_its_drawing() -> None:
    built, _ = made()
    shown: Any = built._repr_mimebundle_(include=None, exclude=None)
    assert shown["text/plain"] == repr(built)
    assert shown["text/vnd.mermaid"] == built.to_mermaid()
    tags = Tags(shown["text/html"])
    assert tags.found == ["div", "pre"]
    assert "flowchart TD" in tags.data


def test_a_step_is_its_ports() -> None:
    _, step = made()
    tags = Tags(step._repr_mimebundle_()["text/html"])
    assert {"script", "i", "u"} & {*tags.found} == set()
    for word in ("title", "str", "parts", "list[int]", "out"):
        assert word in tags.data


async def test_a_result_is_its_outputs_and_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGE_KEY", "much-hidden")
    built, _ = made()
    result = await built.run(title=Secret("PAGE_KEY").reveal() + "x" * 100_000)
    shown = result._repr_mimebundle_()
    tags = Tags(shown["text/html"])
    assert shown["text/plain"] == repr(result)
    assert {"script", "i", "b", "u"} & {*tags.found} <= {"b"}  # captions
    assert tags.found.count("b") == 1
    for word in ("<i>out</i>", "<b>", "Which?", "join", "paused", "done"):
        assert word in tags.data
    assert "much-hidden" not in str(shown)
    assert len(str(shown)) < 10_000


async def test_a_failed_result_has_its_reasons_a_flow_its_problems_and_a_session_its_state() -> None:
    async def lines() -> Table:
        return Table()

    async def refuse(text: str) -> str:
        raise ValueError(f"<i>{text}</i>")

    with Flow("failing") as failing:
        failing.output("lines", failing.add(lines).out)
        failing.output("refused", failing.add(refuse, text=failing.input("text", str)).out)
    with pytest.raises(RunFailed) as failed:
        await failing.using(errors="continue").run(text="no")
    shown = Tags(failed.value.result._repr_mimebundle_()["text/html"])
    assert ("pre" in shown.found, "i" in shown.found) == (True, False)
    assert "ValueError: <i>no</i>" in shown.data
    faulty = Flow("faulty")
    faulty.add(refuse)  # type: ignore[call-arg]  # what is tested
    assert "DF0301" in faulty._repr_mimebundle_()["text/html"]
    async with failing.live(text="no") as session:
        assert repr(session) == "<live failing: revision 1, 2 stale nodes>"
