"""Runs in the store: listed, shown, deleted, cancelled, and why their ports are what they are."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dataflow import SKIP, Flow, Maybe
from dataflow.cli.targets import load
from dataflow.inspection.stored_reasons import StoredReasons
from dataflow.inspection.stored_run import read_run
from dataflow.stores import Store
from dataflow.stores.sqlite import SqliteStore
from tests.cli.conftest import Cli
from tests.support.quick_nodes import add
from tests.support.source import home_of


def run_of(cli: Cli, flow: str, *arguments: str) -> str:
    found: str = cli("run", flow, "--json", *arguments).json["run"]
    return found


def nodes_of(cli: Cli, run: str) -> dict[str, Any]:
    return {node["path"]: node for node in cli("runs", "show", run, "--json").json["nodes"]}


def test_a_run_is_kept_with_the_whole_path_of_its_flow(cli: Cli, folder: Path) -> None:
    run = run_of(cli, ":greet", "Ada")
    assert [(found.id, found.status) for found in Store.sqlite(folder / ".dataflow/runs.db").runs()] == [
        (run, "completed")
    ]
    (listed,) = cli("runs", "--json").json["runs"]
    assert (listed["flow"], listed["asks"]) == ("greet", 0)
    assert Path(listed["target"].removesuffix(":greet")).is_absolute()


def test_a_run_without_a_store_leaves_nothing(cli: Cli, folder: Path) -> None:
    assert cli("run", ":greet", "Ada", "--no-store").code == 0
    assert not list(folder.iterdir())
    for command in ("runs", "asks"):
        done = cli(command)
        assert (done.code, done.out) == (0, "")
        assert str(folder / ".dataflow/runs.db") in done.err


def test_a_store_may_be_anywhere(cli: Cli, folder: Path) -> None:
    run = run_of(cli, ":greet", "Ada", "--store", "there/kept.db")
    assert not Path(".dataflow").exists()
    assert run in cli("runs", "--store", "there/kept.db").out
    assert cli("runs", "show", run, "--store", "there/kept.db").code == 0
    done = cli("run", ":greet", "Ada", "--store", "x.db", "--no-store")
    assert (done.code, done.codes) == (2, ["DF1409"])


KEPT = """
from dataflow import Flow, Store

with Flow("asking") as plain:
    plain.output("answer", plain.ask(str, "?", name="a").out)
inner = Store.sqlite("foreign.db")
Foreign = type("Foreign", (Store,), {n: getattr(inner, n) for n in dir(Store) if not n.startswith("_")})
kept = plain.using(store=Store.sqlite("own.db"))
foreign = plain.using(store=Foreign())
passing = plain.using(store=Store.memory())
"""


def test_a_run_is_kept_in_the_store_of_its_flow_unless_another_is_given(cli: Cli, folder: Path) -> None:
    (folder / "kept.py").write_text(KEPT)
    own = f"--store {folder / 'own.db'}"
    for name, file, named in (
        ("kept", "own.db", own),
        ("foreign", "foreign.db", "--flow kept.py:foreign"),
        ("passing", ".dataflow/runs.db", ""),
    ):
        paused = cli("run", f"kept.py:{name}")
        [run] = Store.sqlite(file).runs()
        assert f"resume {' '.join(filter(None, (run.id, named)))} a=" in paused.err
        assert "ask 'a' waits" in cli("why", run.id, "answer", "--flow", f"kept.py:{name}").out
        assert cli("fork", run.id, "--flow", f"kept.py:{name}", "--change", "a=x").out == "answer: x\n"
        assert cli("resume", run.id, "--flow", f"kept.py:{name}", "a=y").out == "answer: y\n"
        assert cli("resume", "nothing", "--flow", f"kept.py:{name}").codes == ["DF1403"]
        assert cli("run", f"kept.py:{name}", "--no-store").code == 3
        assert len(Store.sqlite(file).runs()) == 2
    assert cli("run", "kept.py:kept", "--store", "given.db").code == 3
    assert len(Store.sqlite("given.db").runs()) == 1


def test_runs_are_listed_with_flow_status_and_open_asks(cli: Cli) -> None:
    first, second = run_of(cli, ":review"), run_of(cli, ":several")
    head, *lines = [line.split() for line in cli("runs").out.splitlines()]
    assert head == ["RUN", "FLOW", "STATUS", "BEGAN", "LASTED", "ASKS"]
    assert {(line[0], line[1], line[2]) for line in lines} == {
        (first, "review", "paused"),
        (second, "several", "failed"),
    }
    assert [line[-2:] for line in lines if line[0] == first] == [["2", "open"]]


def test_an_unknown_or_ambiguous_run_is_wrong_usage(cli: Cli) -> None:
    run_of(cli, ":greet", "Ada")
    run_of(cli, ":greet", "Ada")
    for part, code in {"nowhere": "DF1403", "2": "DF1404", "": "DF1403"}.items():
        for command in (("runs", "show"), ("runs", "delete"), ("resume",), ("answer",), ("cancel",)):
            done = cli(*command, part)
            assert (done.code, done.codes) == (2, [code])


def test_a_store_that_is_named_and_missing_is_wrong_usage(cli: Cli, folder: Path) -> None:
    commands = (
        "runs",
        "runs prune --older-than 1d",
        "asks",
        "memo stats",
        "memo clear",
        "memo clear numbers:double",
    )
    for command in commands:
        for form in ([], ["--json"]):
            done = cli(*command.split(), "--store", "x.db", *form)
            assert (done.code, done.out, done.codes) == (2, "", ["DF1402"])
            assert str(folder / "x.db") in done.err
    done = cli("resume", "x", "--store", "x.db")
    assert (done.code, done.codes) == (2, ["DF1402"])
    assert not list(folder.iterdir())


def test_a_run_is_shown_as_a_tree_without_its_flow(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(cli, ":rounds")
    monkeypatch.setattr(home_of(load), "load", None)  # nothing loads it
    shown = cli("runs", "show", run)
    assert shown.code == 0
    nodes = shown.out[shown.out.index("nodes\n") :].splitlines()[1:]
    names = [(len(line) - len(line.lstrip()), line.split()[0]) for line in nodes]
    assert (2, "split") in names
    assert (2, "refine") in names
    assert (4, "[0]") in names
    assert (6, "shout") in names
    assert (8, "[3]") in names
    states = {line.split()[1] for line in nodes if len(line.split()) > 1}
    assert states == {"done"}


def test_of_many_items_those_are_shown_that_are_not_done(cli: Cli, folder: Path) -> None:
    (folder / "items.py").write_text(
        "from dataflow import Flow, collect, each\n"
        "async def check(number: int) -> int:\n"
        "    if number == 70: raise ValueError('seventy')\n"
        "    return number\n"
        "with Flow('items') as items:\n"
        "    found = items.add(check, number=each(list(range(100)), on_error='skip'))\n"
        "    items.output('all', collect(found.out))\n"
    )
    run = run_of(cli, "items.py")
    shown = cli("runs", "show", run).out
    assert "[70]" in shown
    assert "check[70] failed: ValueError: seventy" in shown
    assert "and 89 done" in shown  # which those are goes by when they ran


def test_a_firing_is_shown_with_what_it_gave_and_how_it_failed(cli: Cli) -> None:
    run = run_of(cli, ":several")
    failed = cli("runs", "show", run, "fail").out
    assert "state   failed" in failed
    assert "ValueError: left" in failed
    assert "raise ValueError(x or" in failed
    found = cli("runs", "show", run, "fail", "--json").json
    assert (found["failure"]["type"], found["inputs"]) == ("ValueError", None)
    traced = run_of(cli, ":greet", "Ada", "--trace")
    assert cli("runs", "show", traced, "hello", "--json").json["inputs"] == {"name": "Ada", "times": 1}
    other = run_of(cli, ":rounds")
    assert cli("runs", "show", other, "refine[1]/shout[3]", "--json").json["outputs"] == {
        "out": {"value": "FOX"}
    }


def test_a_node_that_is_not_there_is_wrong_usage(cli: Cli) -> None:
    run = run_of(cli, ":review")
    done = cli("runs", "show", run, "helo")
    assert done.code == 2
    assert done.err.startswith(f"error: DF1121 run {run}: ")
    done = cli("runs", "show", run, "shout")
    assert done.err.startswith(f"error: DF1122 run {run}: node 'shout' ")


def test_a_run_is_deleted(cli: Cli) -> None:
    run, other = run_of(cli, ":greet", "Ada"), run_of(cli, ":greet", "Ada")
    done = cli("runs", "delete", run)
    assert (done.code, done.out, done.err) == (0, f"{run}\n", "deleted 1 run\n")
    assert [found["run"] for found in cli("runs", "--json").json["runs"]] == [other]
    assert cli("runs", "delete", other, "--json").json == {"deleted": [other]}


def test_runs_that_have_ended_are_pruned_and_others_if_they_are_named(cli: Cli) -> None:
    paused, failed, done = run_of(cli, ":review"), run_of(cli, ":several"), run_of(cli, ":greet", "Ada")
    assert cli("runs", "prune", "--older-than", "1h", "--json").json == {"deleted": []}
    pruned = cli("runs", "prune", "--older-than", "0s", "--status", "failed", "--json").json
    assert pruned == {"deleted": [failed]}
    assert cli("runs", "prune", "--older-than", "0s").out == f"{done}\n"
    assert cli("runs", "prune", "--older-than", "0d", "--status", "paused").out == f"{paused}\n"
    assert cli("runs", "prune", "--older-than", "soon").codes == ["DF1405"]
    assert cli("runs", "prune", "--older-than", "1d", "--status", "old").codes == ["DF1406"]


def test_a_paused_run_is_cancelled_and_may_be_resumed(cli: Cli) -> None:
    run = run_of(cli, ":review")
    done = cli("cancel", run[-8:])
    assert (done.code, done.err) == (0, f"cancelled {run}; it can go on with: dataflow resume {run}\n")
    assert cli("runs", "show", run, "--json").json["status"] == "cancelled"
    assert "(cancelled)" in cli("runs", "show", run).out
    assert nodes_of(cli, run)["publish"]["state"] == "cancelled"
    assert cli("asks", "--json").json == {"asks": []}
    refused = cli("answer", run, "title=x")
    assert (refused.code, refused.codes) == (2, ["DF1119"])
    cli("resume", run)
    assert "(cancelled)" not in cli("runs", "show", run).out
    assert cli("cancel", run, "--json").json == {"run": run, "status": "cancelled"}
    assert cli("resume", run, "publish=true", "title=x").code == 0


def test_a_run_that_has_ended_is_not_cancelled(cli: Cli) -> None:
    run = run_of(cli, ":greet", "Ada")
    done = cli("cancel", run)
    assert done.code == 1
    assert f"run {run}" in done.err


def test_why_goes_back_to_the_failure(cli: Cli) -> None:
    run = run_of(cli, ":several")
    assert cli("why", run, "fail").out == "fail is failed\n  because fail failed: ValueError: left\nside\n"
    told = cli("why", run, "left", "--json").json["why"]
    assert told[0] == "output 'left' has no value"


def test_why_goes_on_to_the_asks_that_hold_a_run_up(cli: Cli) -> None:
    run = run_of(cli, ":review")
    head, *causes, last = cli("why", run, "shout").out.splitlines()
    assert (head, causes) == (
        "shout is waiting",
        ["  because it waits for title.out", "  because title is paused"],
    )
    assert re.fullmatch(
        r"  because ask 'title' waits for an answer since \S+ \S+Z, until \S+ \S+Z: Under which title\?", last
    )
    assert cli("why", run, "shout.out").out == cli("why", run, "shout").out
    told = cli("why", run, "shout", "--json").json
    assert told["why"] == [head, *causes, last]
    assert [(one["kind"], one["place"], one["causes"]) for one in told["reasons"]] == [
        ("waiting", "shout", [1]), ("waiting", "title.out", [2]), ("waiting", "title", [3]),
        ("ask", "title", []),
    ]  # fmt: skip
    cli("cancel", run)
    assert cli("why", run, "shout").out == ("shout is not_run: the run was cancelled before it could begin\n")


def test_why_without_the_flow_tells_as_much_as_the_journal(cli: Cli, folder: Path) -> None:
    flow = folder / "skipping.py"
    flow.write_text(
        "from dataflow import Flow, Maybe, SKIP\n"
        "async def skip() -> Maybe[int]: return SKIP\n"
        "async def same(x: int) -> int: return x\n"
        "with Flow('skipping') as flow:\n"
        "    flow.output('end', flow.add(same, x=flow.add(skip).out).out)\n"
    )
    run = run_of(cli, "skipping.py")
    whole = "same is skipped\n  because same: port 'x' has no value\n  because skip: port 'out' not emitted\n"
    assert cli("why", run, "same").out == whole
    Path("elsewhere").mkdir()
    flow.rename("elsewhere/skipping.py")
    done = cli("why", run, "same")
    assert (done.code, done.out) == (0, whole)
    assert done.err.startswith("note: this is as far as the journal tells, for lack of its flow: ")
    assert cli("why", run, "end").out.splitlines()[0] == "output 'end' has no value"
    assert cli("why", run, "ends").code == 2
    assert cli("why", run, "same", "--flow", "elsewhere/skipping.py").out == whole


def test_a_flow_that_was_edited_or_has_no_file_is_reported(cli: Cli, folder: Path) -> None:
    made = "from dataflow import Flow\nwith Flow('f') as f: f.output('out', f.ask(int, '?', name='{}').out)\n"
    (folder / "own.py").write_text(made.format("n"))
    run = run_of(cli, "own.py")
    (folder / "edited.py").write_text(made.format("another"))
    assert cli("why", run, "unknown", "--flow", "edited.py").codes == ["DF1434", "DF1425"]
    with Flow("unnamed") as flow:
        flow.output("out", flow.ask(int, "?", name="n").out)
    paused = flow.using(store=Store.sqlite(folder / ".dataflow/runs.db")).run_sync()
    assert cli("resume", paused.run_id, "n=1").codes == ["DF1423"]


def test_ports_that_cannot_be_stored_are_told_before_the_run(cli: Cli, folder: Path) -> None:
    done = cli("run", ":opaques")
    assert (done.code, done.out) == (1, "")
    assert "opaque.out" in done.err
    assert "there is no store " in cli("runs").err
    assert cli("run", ":opaques", "--no-store").code == 0


def test_a_value_that_cannot_be_stored_fails_its_node_and_says_what_to_do(cli: Cli) -> None:
    done = cli("run", ":hides")
    assert done.code == 1
    assert "what cannot be stored can be run without keeping it: --no-store" in done.err.splitlines()
    assert done.last.startswith("failed: hidden: ValueRefused: DF0620 hidden.out: ")
    assert cli("run", ":hides", "--no-store").code == 0


def test_a_store_that_cannot_be_read_is_told_on_one_line(cli: Cli, folder: Path) -> None:
    (folder / "text.db").write_text("no database, but long enough to be taken for one " * 20)
    for command in (["runs"], ["asks"], ["run", ":greet", "Ada"], ["resume", "x"]):
        done = cli(*command, "--store", "text.db")
        assert (done.code, len(done.err.splitlines()), done.codes) == (1, 1, ["DF1107"])


if TYPE_CHECKING:
    from pathlib import Path


async def up(x: int) -> int:
    return x + 1


def of_blocks() -> Flow:
    with Flow("blocks") as flow:
        with flow.loop(name="before", limit=2) as loop:
            carried = loop.carry(0)
            carried.next(flow.add(up, x=carried.out).out)
            done = loop.result(carried.out)
        asked = flow.ask(int, "Go on?", name="asked", show=done)
        with flow.loop(name="after", limit=2) as loop:
            carried = loop.carry(asked.out)
            carried.next(flow.add(add, x=carried.out, y=done).out)
            last = loop.result(carried.out)
        flow.output("end", flow.add(up, x=last).out)
    return flow


async def small(x: int) -> Maybe[int]:
    return x if x < 3 else SKIP


def of_feedback() -> Flow:
    flow = Flow("feedback")
    flow.input("x", int, default=0)
    counted = flow.add(up)  # type: ignore[call-arg]  # `connect` wires the port
    passed = flow.add(small, x=counted.out)
    flow.connect("$in.x", "up.x")
    flow.connect("small", "up.x", feedback=True, limit=None)
    asked = flow.ask(int, "Go on?", name="asked", show=counted.out)
    flow.output("end", flow.add(add, x=passed.out, y=asked.out).out)
    flow.output("count", passed.out)
    return flow


async def test_the_journal_tells_what_the_run_tells(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db")
    for flow, names in ((of_blocks(), ("end", "up_2")), (of_feedback(), ("end", "count", "add"))):
        result = await flow.using(store=store).run()
        assert result.status == "paused"
        reasons = StoredReasons(read_run(store, store.find(result.run_id)))
        for name in names:
            told = re.sub(r" since \S+ \S+Z", "", str(reasons.explain(name)))
            told = told.replace("has no value so far", "did not settle: the run was paused")
            assert told == result.why(name)
