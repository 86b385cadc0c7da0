"""Calls of language models: requests, answers, errors, schemas and spans."""

from __future__ import annotations
