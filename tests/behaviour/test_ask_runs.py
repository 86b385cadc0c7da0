"""A run that asks in many processes: a new one for each answer (B22)."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dataflow import Store
from tests.behaviour.asks import in_a_process

DRAFTS: Final = """
import sys
import anyio
from dataflow import Store
from tests.behaviour.asking_flows import approved_drafts
from tests.behaviour.nodes import tallying

async def main(run, *answer):
    flow = approved_drafts().using(store=Store.sqlite("runs.db"))
    with tallying() as tally:
        if run:
            decision, note = answer
            given = {"decision": decision, "note": note} if note else decision
            [ask] = [one.id for one in (await flow.resume(run)).asks]
            result = await flow.resume(run, {ask: given})
        else:
            result = await flow.run()
    print(result.run_id, result.status, *(ask.show for ask in result.asks))
    print(dict(result.outputs), *tally.paths, sep="|")

anyio.run(main, *sys.argv[1:])
"""


def test_a_pause_in_a_loop_asks_in_each_round_with_a_process_for_each_answer(tmp_path: Path) -> None:
    told, ran = in_a_process(DRAFTS, tmp_path, "")
    run, *rest = told.split()
    assert (rest, ran) == (["paused", "d1"], "{}|drafts[0]/draft")
    told, ran = in_a_process(DRAFTS, tmp_path, run, "reject", "r1")
    assert told.split() == [run, "paused", "d2"]
    assert ran == "{}|drafts[0]/no|drafts[0]/over|drafts[0]/both|drafts[1]/draft"
    told, ran = in_a_process(DRAFTS, tmp_path, run, "reject", "r2")
    assert told.split() == [run, "paused", "d3"]
    told, ran = in_a_process(DRAFTS, tmp_path, run, "approve", "")
    assert told.split() == [run, "completed"]
    log = [["d1", "reject", "r1"], ["d2", "reject", "r2"], ["d3", "approve", ""]]
    assert ran.partition("|")[0] == str({"log": log})
    journal = Store.sqlite(tmp_path / "runs.db").records(run)
    exits = [record.data for record in journal if record.kind == "loop_exited"]
    assert ['"iterations":3' in data and '"reason":"condition"' in data for data in exits] == [True]
