"""What a run costs, beside what it could cost: `python -m benchmarks` prints the table."""

from __future__ import annotations
