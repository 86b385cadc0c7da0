"""Problems of the whole graph: types, scopes, loops, maps and contexts (DF03)."""

from __future__ import annotations
