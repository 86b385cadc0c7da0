"""Functions as fields of configs: named as in documents, or given as they are (S1.2)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, PlainSerializer

from dataflow.core.functions import check_function, is_function_name, name_of_function

__all__ = ["FunctionReference"]


def _check(value: object) -> object:
    check_function(value, "value")
    if callable(value) or (isinstance(value, str) and is_function_name(value)):
        return value
    raise ValueError(f"expected a function, written module:qualname, found {value!r}")


FunctionReference = Annotated[
    Any,
    AfterValidator(_check),
    PlainSerializer(lambda value: value if isinstance(value, str) else name_of_function(value)),
]
