# ruff: noqa: E501 - a row is a line, and messages are compared whole
# mypy: disable-error-code="arg-type, call-arg, call-overload, attr-defined, misc, return-value, index, operator, typeddict-unknown-key, typeddict-item"
"""What is said of runs, of asks and answers, and of live sessions (S3, S11, S13.4, S15)."""

from __future__ import annotations


# fmt: off
# fmt: on


#: The id of a run.


# fmt: off
# fmt: on
