"""Problems of changes to a flow that has runs: resuming, forks and live sessions (DF12)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

FLOW_EDITED: Final = Kind(
    "DF1201",
    "the flow was edited after parts of it were settled: {edits}",
    hint="pass edited='keep' to keep what was settled, or edited='recompute' to run it again",
    meaning="A run is resumed with a flow that has changed in parts that the run has already settled.",
    example="dataflow resume RUN   # after a node that had ended was edited",
    cure="Say with `edited` whether settled values are kept or computed again.",
)
