"""Secrets by value: which ones the process knows, and their masking in text and values."""

from __future__ import annotations
