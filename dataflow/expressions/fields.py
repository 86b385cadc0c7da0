"""Expressions and templates as fields of a config: written as text, compiled when it is read (S1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic_core import core_schema

from dataflow.errors import ExpressionError

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

    from dataflow.expressions.expression import Expression, Template

__all__ = ["schema_of_source"]

S = TypeVar("S", "Expression", "Template")


def schema_of_source(kind: type[S]) -> CoreSchema:
    """Make the schema of a field that is written as its source and held compiled."""

    def read(given: object) -> S:
        if isinstance(given, kind):
            return given
        if not isinstance(given, str):
            raise ValueError(f"expected the source as text, found {type(given).__name__}")
        try:
            return kind(given)
        except ExpressionError as error:
            raise ValueError(str(error)) from error

    written = core_schema.plain_serializer_function_ser_schema(
        _source_of, return_schema=core_schema.str_schema()
    )
    return core_schema.no_info_plain_validator_function(read, serialization=written)


def _source_of(compiled: Expression | Template) -> str:
    return compiled.source
