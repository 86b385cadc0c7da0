"""Problems of stores and of the runs in them (DF11)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

RUN_TAKEN: Final = Kind(
    "DF1101",
    "is being executed by another process or task",
    meaning="Only one process or task can execute a run, and another one does.",
    example="dataflow resume RUN   # in two terminals",
    cure="Wait until the other one has ended, or cancel the run.",
)
