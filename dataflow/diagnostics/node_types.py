"""Problems of node functions, configs, ports and policies (DF04)."""

from __future__ import annotations
