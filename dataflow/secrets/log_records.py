"""Log records without secrets: what every logger of the process writes, once a secret is known (S12.4)."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from dataflow.secrets.insides import GUARDED
from dataflow.secrets.redaction import redacted

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
    message = None
    with GUARDED:
        message = record.getMessage()
    msg, args, clean = redacted(record.msg), redacted(record.args), redacted(message)
    if message is None:  # logging tells of its own what is wrong when the record is written
        record.msg, record.args = msg, args
    elif not (msg is record.msg and args is record.args and clean is message):
        record.msg, record.args = clean, None  # copies may read otherwise than what they stand for


def _redact_exception(record: logging.LogRecord) -> None:
    """Put the clean text in the place of an exception that has a secret; others stay as they are."""
    if not record.exc_info or record.exc_info[0] is None:
        return
    text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
    clean = redacted(text)
    if clean != text:
        record.exc_info, record.exc_text = None, clean
