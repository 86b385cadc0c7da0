"""Log records without secrets: what every logger of the process writes, once a secret is known (S12.4)."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from dataflow.redaction import redacted

__all__ = ["redact_logs"]


def redact_logs() -> None:
    """Redact message, arguments and exception of every log record that is made from now on."""
    make = logging.getLogRecordFactory()

    def make_redacted(*args: Any, **keywords: Any) -> logging.LogRecord:
        record = make(*args, **keywords)
        _redact(record)
        return record

    logging.setLogRecordFactory(make_redacted)


def _redact(record: logging.LogRecord) -> None:
    record.stack_info = redacted(record.stack_info)
    _redact_exception(record)
    try:
        message = record.getMessage()
    except Exception:  # noqa: BLE001 - logging tells it of its own when the record is written
        record.msg, record.args = redacted(record.msg), redacted(record.args)
        return
    clean, arguments = redacted(message), redacted(record.args)
    if clean != message or redacted(record.msg) is not record.msg or _are_told(arguments, record.args):
        record.msg, record.args = clean, None  # so it reads as before, but for the secrets
    else:
        record.args = arguments


def _are_told(arguments: Any, given: Any) -> bool:
    """Tell whether arguments have become others than copies of their class, such as the texts of errors."""
    if arguments is given or type(arguments) is not type(given):
        return arguments is not given
    if isinstance(given, dict):
        arguments, given = arguments.values(), given.values()
    return any(type(one) is not type(before) for one, before in zip(arguments, given, strict=False))


def _redact_exception(record: logging.LogRecord) -> None:
    """Put the clean text in the place of an exception that has a secret; others stay as they are."""
    if not record.exc_info or record.exc_info[0] is None:
        return
    text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    clean = redacted(text)
    if clean != text:
        record.exc_info, record.exc_text = None, clean
