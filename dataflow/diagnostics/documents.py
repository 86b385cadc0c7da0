"""Problems of files and documents (DF01)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind
