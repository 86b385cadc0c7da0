"""What stores say that is the same for each of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from dataflow.base.wording import choices
from dataflow.errors import AnswerRefused, StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["already_answered", "missing_run", "right_blob"]


def missing_run(store: str, run: str, there: Sequence[str]) -> StoreError:
    """Return the error for a run that is not there, with the ids of some that are."""
    return StoreError(store, f"has no run {run!r}; {choices(there)}")


def already_answered(ask: str) -> AnswerRefused:
    """Return the error for an answer to an ask that takes none any more."""
    return AnswerRefused(ask, "it has been answered or closed")


def right_blob(store: str, sha256: str, data: bytes | None) -> bytes:
    """Return a blob that was found; raise StoreError if it was not, or is not what its name says."""
    if data is None:
        raise StoreError(store, f"has no blob {sha256}")
    if hashlib.sha256(data).hexdigest() != sha256:
        raise StoreError(store, f"the blob {sha256} is damaged: it is not what its name says")
    return data
