"""The compiler: from a graph definition to an immutable plan, or to one error with every problem."""

from __future__ import annotations
