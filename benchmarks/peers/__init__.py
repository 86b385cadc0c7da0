"""Other engines on the same workloads, each in an environment of its own, without this engine."""

from __future__ import annotations
