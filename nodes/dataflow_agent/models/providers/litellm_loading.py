"""Loading litellm: once, on first use, in a thread, and without what it does besides."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from anyio import to_thread

from dataflow_agent.models.errors import ModelUnknown

__all__ = ["load", "loaded"]

#: What litellm reads while it is imported: it is to fetch no prices, and to read no `.env`.
ENVIRONMENT: Final = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
MISSING: Final = "it is called through litellm, which is not there: pip install 'dataflow-engine[agent]'"
LOGGERS: Final = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")

_loading: Final = threading.Lock()  # of two calls that come at once the first loads it
_loaded: Final[list[Any]] = []


async def loaded(model: str) -> Any:
    """Return litellm, which takes seconds for the first time; raises ModelUnknown where it lacks."""
    if not _loaded:
        await to_thread.run_sync(load, model, abandon_on_cancel=True)
    return _loaded[0]


def load(model: str) -> Any:
    """Import litellm, unless that has been done; raises ModelUnknown where it lacks."""
    with _loading:
        if not _loaded:
            with _environment(), _without_handlers():
                try:
                    import litellm
                except ImportError as error:
                    raise ModelUnknown(model, f"{MISSING} ({error})") from error
            litellm.suppress_debug_info = True  # else it prints to stdout, which may be a protocol
            _loaded.append(litellm)
        return _loaded[0]


@contextmanager
def _environment() -> Iterator[None]:
    """Set what litellm is to read, and put back what was there."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _without_handlers() -> Iterator[None]:
    """Take away the handlers that are added meanwhile: what is logged is for the program to show."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    before = [[*logger.handlers] for logger in loggers]
    try:
        yield
    finally:
        for logger, handlers in zip(loggers, before, strict=True):
            logger.handlers[:] = handlers or [logging.NullHandler()]
