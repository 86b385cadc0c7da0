"""F-I03: `why` of what an answer has decided goes back to the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from dataflow import Flow, Store, merge
from dataflow.cli import main
from dataflow.inspection.stored_reasons import StoredReasons
from dataflow.inspection.stored_run import read_run

FLOW: Final = """
dataflow: 1
nodes:
  may: {type: control.approval, config: {prompt: Publish?}, values: {value: text}}
  no: {type: control.template, config: {template: 'refused {{ r }}'}, inputs: {r: may.reject}}
outputs: {o: may.approve, n: no}
"""


async def same(x: Any) -> Any:
    return x


def asked(f: Flow) -> Any:
    return f.ask(str, "Which?", name="which").out


def branch(f: Flow) -> None:
    f.output("o", f.add(same, x=f.when(asked(f), lambda x: x == "a").no).out)


def router(f: Flow) -> None:
    f.output("o", f.switch(asked(f), lambda x: x, ["a", "b"])["b"])


def joined(f: Flow) -> None:
    f.output("o", f.when(merge(asked(f), "b"), lambda x: x == "a").no)


def within(f: Flow) -> None:
    with Flow("inner") as inner:
        way = inner.when(inner.input("x", str), lambda x: x == "a")
        inner.output("yes", way.yes)
        inner.output("no", way.no)
    f.output("o", f.add(inner, x=asked(f)).out.no)


@pytest.mark.parametrize("make", [branch, router, joined, within])
@pytest.mark.parametrize("is_stored", [False, True], ids=["memory", "store"])
async def test_the_chain_ends_with_the_answer(make: Any, is_stored: bool) -> None:
    flow = Flow(make.__name__)
    make(flow)
    store = Store.memory()
    flow = flow.using(store=store) if is_stored else flow
    paused = await flow.run()
    result = await flow.resume(paused.run_id if is_stored else paused, {"which": "a"})
    last = result.explain("o").reasons[-1]
    assert (last.place, "'a'" in last.text) == ("which", True)
    if is_stored:
        [run] = store.runs()
        told = StoredReasons(read_run(store, run)).explain("o")
        assert told is not None
        if make is not joined:  # the journal does not know what joins read
            assert (told.reasons[-1].place, "'a'" in told.reasons[-1].text) == ("which", True)


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        raise SystemExit(main(list(arguments)))
    return capsys.readouterr().out


def test_the_command_goes_back_to_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.yaml").write_text(FLOW)
    lines_of(capsys, "run", "f.yaml")
    [run] = Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs()
    lines_of(capsys, "answer", run.id, "may/ask=approve")
    lines_of(capsys, "resume", run.id)
    for port in ("no", "n", "may.reject"):
        reasons = json.loads(lines_of(capsys, "why", run.id, port, "--json"))["reasons"]
        assert reasons[-1]["place"] == "may/ask"
        assert "'approve'" in reasons[-1]["text"]
