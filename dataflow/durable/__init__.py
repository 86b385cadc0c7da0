"""Durable execution: the journal of a run, resume, cancellation in a store, and forks."""

from __future__ import annotations
