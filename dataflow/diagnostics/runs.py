"""Problems of runs: what nodes do, limits, and asks with their answers (DF08)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

RUN_FAILED: Final = Kind(
    "DF0801",
    "failed: {failures}",
    meaning="A run ended as failed, because a node failed and nothing in the flow handled the failure.",
    example="async def load(url: str) -> str: raise OSError  # and the flow neither retries nor skips",
    cure="Look at `failures` of the exception; retry, skip or collect errors where failures are expected.",
)
TOOK_TOO_LONG: Final = Kind(
    "DF0802",
    "the {what} took longer than its {bound} of {seconds} s",
    meaning="A node took longer than its `timeout`, or the run took longer than the `deadline` of its flow.",
    example="flow.add(node(fetch).with_(timeout=1), url=url)",
    cure="Raise the limit, or let the node retry.",
)
LOOP_LIMIT: Final = Kind(
    "DF0803",
    "reached its limit of {rounds}, and {asks} still asks for another",
    meaning='A loop with `on_limit="fail"` reached its limit of iterations.',
    example='with flow.loop(limit=10, on_limit="fail") as it: ...',
    cure="Raise `limit`, correct the condition, or let the loop end at its limit.",
)
RUN_PAUSED: Final = Kind(
    "DF0804",
    "has paused and waits for answers: {asks}",
    meaning="The value of a run was requested, and the run has paused to wait for answers.",
    example="flow.pull(report)   # a node before it asks a person",
    cure="Resume the run with `answers`.",
)
