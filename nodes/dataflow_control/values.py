"""Node types that return a value: a constant, a filled template, an evaluated expression."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Any

from pydantic import AfterValidator, Field, JsonValue

from dataflow import Expression, Ports, Template, node
from dataflow_control.config import StrictConfig, ports_for, without_names

__all__ = ["Compute", "Fill", "Given", "expression", "template", "value"]


class Given(StrictConfig):
    """Config of `control.value`."""

    value: JsonValue = Field(description="the value: anything that JSON can carry")


class Fill(StrictConfig):
    """Config of `control.template`."""

    template: Annotated[Template, AfterValidator(without_names("config"))] = Field(
        description="text with `{{ }}` and `{% if %}`, whose names are the input ports"
    )


class Compute(StrictConfig):
    """Config of `control.expression`."""

    expression: Annotated[Expression, AfterValidator(without_names("config"))] = Field(
        description="an expression, whose names are the input ports"
    )


def _holes(config: Fill) -> Ports:
    return ports_for(config.template.names)


def _operands(config: Compute) -> Ports:
    return ports_for(config.expression.names)


async def value(config: Given) -> Any:
    """Return the value of the config, copied for each firing."""
    return deepcopy(config.value)


@node(ports=_holes)
async def template(config: Fill, **values: Any) -> str:
    """Fill a template with the values of the ports that its names are.

    A string is inserted unchanged, lists and mappings as JSON, numbers, booleans, None, dates, decimals,
    UUIDs and paths as `str` does in Python; nothing else can be written. What comes from a value is
    never read as a template. At most 1,000,000 characters. Raises ExpressionError, also for a key that is
    missing from a value.
    """
    return config.template.fill(values)


@node(ports=_operands)
async def expression(config: Compute, **values: Any) -> Any:
    """Evaluate an expression over the values of the ports that its names are.

    Raises ExpressionError, also for a missing key or a string compared with a number.
    """
    return config.expression.evaluate(values)
