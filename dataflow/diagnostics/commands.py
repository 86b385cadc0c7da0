"""Problems of the command line (DF14)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind
