"""Chats with a memo: which answers are remembered, and whose conversation each hit begins (S13.1)."""

from __future__ import annotations

from dataflow import Flow, ProcessMemo, node
from dataflow_agent import Chat, Emit, ModelAnswer, ModelRequest, answered_by, chat, scripted


async def test_what_a_script_has_answered_is_not_remembered() -> None:
    with Flow("dry") as flow:
        step = flow.add(node(chat).with_(memo="process"), prompt="hi", config=Chat(model="a/b"))
        flow.output("text", step.out.text)
    flow = flow.using(memo=ProcessMemo())
    for text in ("one", "two"):
        with scripted(text):
            result = await flow.run()
        assert result["text"] == text
    assert "not memoized (process): the node says" in result.why("chat")


class Calling:
    """A provider that counts its calls, and is no script."""

    def __init__(self) -> None:
        self.calls = 0

    async def answer(self, request: ModelRequest, emit: Emit) -> ModelAnswer:
        self.calls += 1
        emit("hello")
        return ModelAnswer("hello", model=request.model)


async def test_a_remembered_answer_begins_a_conversation_of_its_own() -> None:
    remembered, provider = node(chat).with_(memo="process"), Calling()
    with Flow("twice") as flow:
        for name in ("left", "right"):
            step = flow.add(remembered.with_(name=name), prompt="hi", config=Chat(model="a/b"))
            flow.output(name, step.out.context)
    flow = flow.using(memo=ProcessMemo())
    with answered_by(provider):
        results = [await flow.run() for _ in range(2)]
    assert provider.calls == 1
    for result in results:
        assert [one.context_id for one in result.outputs.values()] == [
            f"{result.run_id}/left", f"{result.run_id}/right",
        ]  # fmt: skip
