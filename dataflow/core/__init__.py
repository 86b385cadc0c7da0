"""Flows as frozen data: ports, node types, policies, conversations, states, events, graph definitions."""

from __future__ import annotations
