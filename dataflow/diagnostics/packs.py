"""Problems of packs and formats, and how they are found (DF13)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind
