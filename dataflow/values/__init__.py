"""Values as such: the codec that stores them, and the content hashes that identify them."""

from __future__ import annotations
