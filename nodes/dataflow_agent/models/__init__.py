"""Calls of language models: requests, answers, errors, schemas, spans."""

from __future__ import annotations
