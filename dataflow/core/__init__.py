"""The language of flows as frozen data: ports, node types, policies, conversations, states, wiring."""

from __future__ import annotations
