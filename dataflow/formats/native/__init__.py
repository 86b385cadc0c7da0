"""The native document format: its models, and the conversion between documents and graph definitions."""

from __future__ import annotations
