"""The memo: a cache of node outcomes by cache key, in memory and in stores."""

from __future__ import annotations
