"""Problems of calls of the library: arguments of functions and of runs (DF05)."""

from __future__ import annotations
