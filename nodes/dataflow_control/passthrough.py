"""Node types that pass their value on after a delay or with a log record, or fail."""

from __future__ import annotations

import logging
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

import anyio
from pydantic import AfterValidator, Field

from dataflow import DataflowError, Template, this_firing
from dataflow_control.config import StrictConfig, only_names
from dataflow_control.lines import on_one_line

__all__ = ["Delay", "Fail", "FailedOnPurpose", "Log", "delay", "fail", "log"]

T = TypeVar("T")

LOG: Final = logging.getLogger("dataflow.control")

Message = Annotated[Template, AfterValidator(only_names("value"))]


class FailedOnPurpose(DataflowError):
    """Raised by `control.fail`, with the message of its config."""


class Delay(StrictConfig):
    """Config of `control.delay`."""

    seconds: float = Field(ge=0, allow_inf_nan=False, description="how long to wait, in seconds")


class Log(StrictConfig):
    """Config of `control.log`."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="how much the record matters"
    )
    message: Message | None = Field(
        default=None, description="a template over `value`; without one the value itself is logged"
    )


class Fail(StrictConfig):
    """Config of `control.fail`."""

    message: Message = Field(description="a template over `value`: what is told of the failure")


async def delay(value: T, config: Delay) -> T:
    """Wait, then pass the value on. Cancelling the run ends the wait."""
    await anyio.sleep(config.seconds)
    return value


async def log(value: T, config: Log = Log()) -> T:  # noqa: B008 - frozen
    """Log a value or a message with it, and pass the value on.

    The logger is `dataflow.control`; a record has the path of the firing as `path`, and is one line of at
    most 500 characters. Any value can be logged; raises ExpressionError if the message cannot be filled,
    whatever the level.
    """
    logged = value if config.message is None else config.message.fill({"value": value})
    level = logging.getLevelNamesMapping()[config.level.upper()]
    LOG.log(level, "%s", on_one_line(logged), extra={"path": this_firing().path})
    return value


async def fail(config: Fail, value: Any = None) -> NoReturn:
    """Fail with the message of the config.

    Wired to an exit of a branch it fails only if that exit is taken. Raises FailedOnPurpose.
    """
    raise FailedOnPurpose(config.message.fill({"value": value}))
