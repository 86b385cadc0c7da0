"""Problems of values: their types, how they are stored and how they are compared (DF06)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

VALUE_MISMATCH: Final = Kind(
    "DF0601",
    "",
    meaning="A value does not have the type of the port or the config field that it enters.",
    example='flow.run_sync(count="three")   # the input count is an int',
    cure="Pass a value of the expected type, or change the annotation of the port.",
)
