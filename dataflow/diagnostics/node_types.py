"""Problems of node functions, configs, ports and policies (DF04)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind
