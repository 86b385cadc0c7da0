"""HiFide, a development environment with a visual editor for chat flows, saved as JSON.

Rooms: file -> config -> wires -> order -> writer -> translation -> nodes -> listing.
"""

from __future__ import annotations

__stored_as__ = "hifide"
