"""Mask the known secrets of the process in log records (S12.4)."""

from __future__ import annotations

import logging
import traceback
from typing import Final

from dataflow.base.failure import traceback_of
from dataflow.base.wording import conceal, has_secrets, short_repr

__all__ = ["SecretFilter", "masked_logger"]


class SecretFilter(logging.Filter):
    """A filter for handlers of logs that masks the revealed secrets in what a record writes.

    It passes every record. The message, the traceback and the stack are searched as text; only a record with
    a secret in them is changed, for all handlers. Fields that are given by `extra=` are not searched.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the text of a record."""
        if not has_secrets():
            return True
        message = _message_of(record)
        if (clean := conceal(message)) != message:
            record.msg, record.args = clean, None
        if record.exc_info and record.exc_info[1] is not None:
            text = "".join(traceback.format_exception(*record.exc_info))
            if (clean := traceback_of(*record.exc_info[1:])) != text:
                record.exc_info, record.exc_text = None, clean.rstrip("\n")
        for name in ("exc_text", "stack_info"):
            if text := getattr(record, name):
                setattr(record, name, conceal(text))
        return True


def _message_of(record: logging.LogRecord) -> str:
    """Return the message; of a record whose arguments do not fit both, as logging shows them unmasked."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - the text of an argument is made by foreign code
        record.msg, record.args = f"{record.msg} {short_repr(record.args)}", None
        return str(record.msg)


def masked_logger(name: str) -> logging.Logger:
    """Return the logger of this name, whose own records have secrets masked."""
    logger = logging.getLogger(name)
    logger.addFilter(_FILTER)
    return logger


_FILTER: Final = SecretFilter()
