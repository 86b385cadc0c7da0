"""Mask secrets in what Python itself writes to standard error: warnings, log records, uncaught exceptions."""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dataflow.base.failure import traceback_of
from dataflow.base.logs import SecretFilter
from dataflow.base.wording import conceal, visible
from dataflow.cli.output import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["masking_python_output"]


@contextmanager
def masking_python_output() -> Iterator[None]:
    """Mask secrets in warnings, in the log records of all loggers, and in exceptions of threads.

    Handlers of logs may be added at any time, as by the first call of `logging.error`; a record is masked
    when it is made. What a node or a library sets in their place while the block runs remains.
    """
    with (
        _replaced(warnings, "formatwarning", _format_warning(warnings.formatwarning)),
        _masked_records(),
        _replaced(threading, "excepthook", _tell_of_thread),
        _replaced(sys, "unraisablehook", _tell_unraisable),
    ):
        yield


@contextmanager
def _replaced(module: Any, name: str, replacement: Any) -> Iterator[None]:
    original = getattr(module, name)
    setattr(module, name, replacement)
    try:
        yield
    finally:
        if getattr(module, name) is replacement:
            setattr(module, name, original)


def _format_warning(original: Any) -> Any:
    def formatwarning(*args: Any, **options: Any) -> str:
        return conceal(original(*args, **options))

    return formatwarning


@contextmanager
def _masked_records() -> Iterator[None]:
    original, mask = logging.getLogRecordFactory(), SecretFilter().filter

    def make(*args: Any, **options: Any) -> logging.LogRecord:
        record = original(*args, **options)
        mask(record)
        return record

    logging.setLogRecordFactory(make)
    try:
        yield
    finally:
        if logging.getLogRecordFactory() is make:
            logging.setLogRecordFactory(original)


def _tell_of_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_type is SystemExit or args.exc_value is None:
        return
    name = "a thread" if args.thread is None else f"thread {args.thread.name}"
    tell(visible(f"Exception in {name}:\n{traceback_of(args.exc_value, args.exc_traceback).rstrip()}"))


def _tell_unraisable(args: sys.UnraisableHookArgs) -> None:
    what = f"{args.err_msg or 'Exception ignored in'}: {args.object!r}"
    trace = "" if args.exc_value is None else f"\n{traceback_of(args.exc_value, args.exc_traceback).rstrip()}"
    tell(visible(f"{what}{trace}"))
