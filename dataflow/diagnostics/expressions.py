"""Problems of expressions and templates (DF07)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind
