"""The runtime executes what the scheduler decides: tasks, calls of node functions, results, spans."""

from __future__ import annotations
