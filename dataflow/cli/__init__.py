"""The command line: `dataflow run`, `check`, `show`, `schema`."""

from __future__ import annotations

from dataflow.cli.app import main

__all__ = ["main"]
