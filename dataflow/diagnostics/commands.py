"""Problems of the command line (DF14)."""

from __future__ import annotations
