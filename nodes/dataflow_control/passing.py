"""Node types that pass their value on, later or noted, or let the flow fail."""

from __future__ import annotations

import logging
from reprlib import Repr
from typing import Annotated, Any, Final, Literal, NoReturn, TypeVar

import anyio
from pydantic import AfterValidator, Field

from dataflow import Template, this_firing
from dataflow_control.settings import Settings, only_names

__all__ = ["Delay", "Fail", "FlowFailed", "Log", "delay", "fail", "log"]

T = TypeVar("T")

LOG: Final = logging.getLogger("dataflow.control")
LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

#: Writes a value that has no message of its own, as far as a line of a log has room.
_shortened: Final = Repr()
_shortened.maxstring = _shortened.maxother = _shortened.maxlong = 200
_shortened.maxlist = _shortened.maxtuple = _shortened.maxset = _shortened.maxdict = 20

Message = Annotated[Template, AfterValidator(only_names("value"))]


class FlowFailed(Exception):
    """Raised by `control.fail`, with the message of its config."""


class Delay(Settings):
    """Config of `control.delay`."""

    seconds: float = Field(ge=0, allow_inf_nan=False, description="how long to wait, in seconds")


class Log(Settings):
    """Config of `control.log`."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="how much the record matters"
    )
    message: Message | None = Field(
        default=None, description="a template over `value`; without one the value itself is logged, shortened"
    )


class Fail(Settings):
    """Config of `control.fail`."""

    message: Message = Field(description="a template over `value`: what is told of the failure")


async def delay(value: T, config: Delay) -> T:
    """Wait, then pass the value on. Cancelling the run ends the wait."""
    await anyio.sleep(config.seconds)
    return value


async def log(value: T, config: Log = Log()) -> T:  # noqa: B008 - frozen
    """Log a value or a message with it, and pass the value on.

    The logger is `dataflow.control`; a record has the path of the firing as `path`. Raises ExpressionError if
    the message cannot be filled, whatever the level.
    """
    if config.message is not None:
        text = config.message.fill({"value": value})
    else:
        text = value if isinstance(value, str) else _shortened.repr(value)
    LOG.log(LEVELS[config.level], "%s", text, extra={"path": this_firing().path})
    return value


async def fail(config: Fail, value: Any = None) -> NoReturn:
    """Fail with the message of the config.

    Wired to an exit of a branch it fails only if that exit is taken. Raises FlowFailed.
    """
    raise FlowFailed(config.message.fill({"value": value}))
