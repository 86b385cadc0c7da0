"""Read-only views of flows and runs: drawings, differences of runs, stored runs."""

from __future__ import annotations
