"""Model providers: litellm, and scripted answers for tests."""

from __future__ import annotations
