"""F-I01, F-I03: a stored run shows the outputs of its result, and `why` goes back to the answer."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from dataflow import Flow, RunFailed, Secret, Store, collect, each, fallback, gather, merge, race
from dataflow.cli import main
from dataflow.inspection.diff import DifferenceKind, diff
from dataflow.inspection.stored_reasons import StoredReasons
from dataflow.inspection.stored_run import PastRun, read_run

FLOW: Final = """
dataflow: 1
inputs: {t: {type: string}}
nodes: {greeting: {type: control.template, config: {template: "Hello {{ who }}"}, inputs: {who: $in.t}}}
outputs: {greeting: greeting, whole: greeting, given: $in.t}
"""


#: The outputs without a value, by flow.
WITHOUT_VALUE: Final = {
    "joined": {"skipped": "skip", "nothing": "skip"},
    "failing": {"failed": "error"},
}


async def same(x: Any) -> Any:
    return x


async def never(x: Any) -> Any:
    await anyio.sleep(60)
    return x


async def bad(x: Any) -> Any:
    raise ValueError(x)


def joined(f: Flow) -> None:
    way = f.when(f.add(same, x=1).out, lambda x: x > 1)
    for name, source in {
        "constant": fallback(way.yes, 5),
        "first": fallback(way.no, 5),
        "long": fallback(way.yes, "x" * 5_000),
        "merged": merge(f.add(same, x=way.yes).out, f.add(same, x=way.no).out),
        "gathered": gather(way.yes, 0, way.no),
        "nothing": gather(way.yes, f.add(same, x=way.yes).out),
        "skipped": way.yes,
        "won": race(f.add(never, x=1).out, f.add(same, x=2).out),
    }.items():
        f.output(name, source)


def blocks(f: Flow) -> None:
    with f.loop(limit=3) as loop:
        number = loop.carry(0)
        more = f.add(same, x=number.out)
        number.next(more.out)
    f.output("final", number.final)
    f.output("all", loop.all(more.out))
    f.output("items", collect(f.add(same, x=each([1, 2])).out))
    with Flow("inner") as inner:
        inner.output("o", inner.add(same, x=inner.input("x", int, 3)).out)
    f.output("inner", f.add(inner).out.o)
    f.output("given", f.input("given", int, 4))


def fed_back(f: Flow) -> None:
    grown = f.add(lengthened, text=f.input("text", str, "a"))
    way = f.when(grown.out, lambda text: len(text) < 3)
    f.connect("when.yes", "lengthened.text", feedback=True, limit=9)
    f.output("text", way.no)
    f.output("last", grown.out)
    f.output("before", way.yes)


async def lengthened(text: str) -> str:
    return text + text[0]


def failing(f: Flow) -> None:
    f.output("so_far", f.add(same, x=1).out)
    f.output("failed", f.add(bad, x=2).out)


def asking(f: Flow) -> None:
    f.output("so_far", f.add(same, x=1).out)
    f.output("answer", f.ask(int, "?", name="answer").out)
    f.output("decided", fallback(f.add(same, x=7).out, 8))


async def played(make: Any) -> tuple[PastRun, Any]:
    flow = Flow(make.__name__)
    make(flow)
    store = Store.memory()
    try:
        result = await flow.using(store=store, errors="continue").run()
    except RunFailed as failed:
        result = failed.result
    [run] = store.runs()
    return read_run(store, run), result


@pytest.mark.parametrize("make", [joined, blocks, fed_back, failing, asking])
async def test_outputs_are_those_of_the_result(make: Any) -> None:
    found, result = await played(make)
    values = {name: token["value"] for name, token in found.outputs.items() if "value" in token}
    assert values == dict(result.outputs)
    others = {name: next(iter(token)) for name, token in found.outputs.items() if "value" not in token}
    assert others == WITHOUT_VALUE.get(make.__name__, {})


async def test_a_constant_that_is_a_secret_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUTPUT_KEY", "much-hidden")

    def secret(f: Flow) -> None:
        f.output("o", fallback(f.when(f.add(same, x=1).out, lambda x: x > 1).yes, Secret("OUTPUT_KEY")))

    found, _ = await played(secret)
    assert found.outputs == {"o": {"value": "OUTPUT_KEY"}}


async def test_two_runs_differ_in_the_constant_of_a_fallback() -> None:
    def of(given: int) -> Flow:
        with Flow("f") as flow:
            way = flow.when(flow.input("x", int), lambda x: x > 1)
            flow.output("o", fallback(way.yes, given))
        return flow.using(store=store)

    store = Store.memory()
    runs = [(await of(given).run(x=x)).run_id for given, x in ((5, 2), (5, 1), (6, 1), (6, 1))]
    outputs = []
    for one, other in pairwise(runs):
        found = [each for each in await diff(store, one, other) if each.kind is DifferenceKind.OUTPUT]
        outputs.append([(each.first, each.second) for each in found])
    assert outputs == [[(2, 5)], [(5, 6)], []]


def lines_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(list(arguments)))
    assert not ended.value.code
    return capsys.readouterr().out


def test_runs_show_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.yaml").write_text(FLOW)
    lines_of(capsys, "run", "f.yaml", "--input", "t=you")
    [run] = Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs()
    assert "whole: Hello you" in lines_of(capsys, "runs", "show", run.id)
    shown = json.loads(lines_of(capsys, "runs", "show", run.id, "--json"))
    assert shown["outputs"] == {"greeting": "Hello you", "whole": "Hello you", "given": "you"}
    assert lines_of(capsys, "runs", "show", run.id, "whole") == "whole: Hello you\n"
    assert json.loads(lines_of(capsys, "runs", "show", run.id, "whole", "--json"))["value"] == "Hello you"
    assert "type    control.template" in lines_of(capsys, "runs", "show", run.id, "greeting")  # of the node
    lines_of(capsys, "fork", run.id, "--change", "$in.t=me")
    forked = Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs()[0]
    assert "whole: Hello me" in lines_of(capsys, "runs", "show", forked.id)


APPROVAL: Final = """
dataflow: 1
nodes:
  may: {type: control.approval, config: {prompt: Publish?}, values: {value: text}}
  no: {type: control.template, config: {template: 'refused {{ r }}'}, inputs: {r: may.reject}}
outputs: {o: may.approve, n: no}
"""


def asked(f: Flow) -> Any:
    return f.ask(str, "Which?", name="which").out


def branch(f: Flow) -> None:
    f.output("o", f.add(same, x=f.when(asked(f), lambda x: x == "a").no).out)


def router(f: Flow) -> None:
    f.output("o", f.switch(asked(f), lambda x: x, ["a", "b"])["b"])


def with_a_merge(f: Flow) -> None:
    f.output("o", f.when(merge(asked(f), "b"), lambda x: x == "a").no)


def within(f: Flow) -> None:
    with Flow("inner") as inner:
        way = inner.when(inner.input("x", str), lambda x: x == "a")
        inner.output("yes", way.yes)
        inner.output("no", way.no)
    f.output("o", f.add(inner, x=asked(f)).out.no)


@pytest.mark.parametrize("make", [branch, router, with_a_merge, within])
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
        if make is not with_a_merge:  # the journal does not know what joins read
            assert (told.reasons[-1].place, "'a'" in told.reasons[-1].text) == ("which", True)


def said_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit):
        raise SystemExit(main(list(arguments)))
    return capsys.readouterr().out


def test_the_command_goes_back_to_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.yaml").write_text(APPROVAL)
    said_by(capsys, "run", "f.yaml")
    [run] = Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs()
    said_by(capsys, "answer", run.id, "may/ask=approve")
    said_by(capsys, "resume", run.id)
    for port in ("no", "n", "may.reject"):
        reasons = json.loads(said_by(capsys, "why", run.id, port, "--json"))["reasons"]
        assert reasons[-1]["place"] == "may/ask"
        assert "'approve'" in reasons[-1]["text"]
