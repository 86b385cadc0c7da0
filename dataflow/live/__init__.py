"""Live sessions: a flow kept up to date while its inputs and its code change."""

from __future__ import annotations
