"""The command line, `dataflow`: run, check, draw, resume and inspect flows."""

from __future__ import annotations

from dataflow.cli.app import main

__all__ = ["main"]
