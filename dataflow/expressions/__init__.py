"""Expressions and templates: text that computes a value or a text, and can do nothing else (S16)."""

from __future__ import annotations

from dataflow.expressions.expression import Expression, ExpressionOf, Template, written_function

__all__ = ["Expression", "ExpressionOf", "Template", "written_function"]
