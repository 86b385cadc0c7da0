"""Files of scripted answers, named by a model or by the environment."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import anyio
import pytest

from dataflow import Flow, FormatError, RunFailed, Store, gather
from dataflow_agent import Chat, chat
from dataflow_agent.models.providers import scripted
from dataflow_agent.models.providers.scripted import read_script

ANSWERS = """
- hello
- {pieces: [good, bye], to: bye}
- text: again
  repeat: true
"""


def talk(model: str, *prompts: str) -> Flow:
    with Flow("talk") as flow:
        context = flow.context("main")
        for number, prompt in enumerate(prompts):
            step = flow.add(chat, prompt=prompt, context=context, config=Chat(model=model))
            context = step.out.context
            flow.output(f"text{number}", step.out.text)
    return flow


async def test_each_run_has_all_answers_of_the_file_of_its_model_and_none_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text(ANSWERS, encoding="utf-8")
    flow = talk(f"scripted/{file}", "hi", "good", "bye", "more")
    results: list[list[object]] = []

    async def run() -> None:
        results.append([*(await flow.run()).outputs.values()])

    async with anyio.create_task_group() as group:
        for _ in range(300):
            group.start_soon(run)
    assert results == [["hello", "again", "goodbye", "again"]] * 300
    with anyio.fail_after(20):  # a worker thread may still hold what it was called with, until it is idle
        while any(str(file) in opened for opened in [*scripted._scripts.values()]):
            gc.collect()
            await anyio.sleep(0.01)


async def test_a_run_that_goes_on_has_all_the_answers_again(tmp_path: Path) -> None:
    file = tmp_path / "answers.yaml"
    file.write_text("[one, two]", encoding="utf-8")
    failed: list[str] = []

    async def fail_once(text: str) -> str:
        if not failed:
            failed.append(text)
            raise ValueError("not yet")
        return text

    config = Chat(model=f"scripted/{file}")
    with Flow("talk") as flow:
        first = flow.add(chat, prompt="hi", config=config)
        second = flow.add(chat, prompt=flow.add(fail_once, text=first.out.text).out, config=config)
        flow.output("texts", gather(first.out.text, second.out.text))
    stored = flow.using(store=Store.memory())
    with pytest.raises(RunFailed) as caught:
        await stored.run()
    result = await stored.resume(caught.value.result.run_id)
    assert result["texts"] == ["one", "one"]


async def test_the_environment_names_it_for_every_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "answers.json"
    file.write_text('["hello", {"error": "rate_limited", "retry_after": 2}]', encoding="utf-8")
    monkeypatch.setenv("DATAFLOW_SCRIPTED", str(file))
    with pytest.raises(RunFailed) as caught:
        await talk("openai/gpt", "hi", "again").run()
    assert [*caught.value.result.outputs] == ["text0"]
    assert (caught.value.failures[0].node, caught.value.failures[0].type) == ("chat_2", "RateLimited")


def test_a_file_that_is_no_script_is_told(tmp_path: Path) -> None:
    cases: list[Any] = [
        ("- !!python/name:os.system", "1:3: "),
        ("- hello\n- 3", " DF2131 scripted answer 2:"),
        ("- {text: true}", " DF2131 scripted answer 1.text:"),
        ("- {error: rate_limited, retry_after: -1}", " DF2131 scripted answer 1.retry_after:"),
        ("- {error: rate_limited, retry_after: .nan}", " DF2131 scripted answer 1.retry_after:"),
    ]
    for text, told in cases:
        file = tmp_path / "answers.yaml"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError) as caught:
            read_script(str(file))
        assert str(caught.value).startswith(f"{file}:{told}")
