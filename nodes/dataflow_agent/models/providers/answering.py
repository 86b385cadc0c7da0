"""Who answers for every model: nobody, unless a program says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from dataflow_agent.models.requests import Provider

__all__ = ["answered_by", "provider_for_all"]

_provider: Final[ContextVar[Provider | None]] = ContextVar("who answers for every model", default=None)


@contextmanager
def answered_by(provider: Provider) -> Iterator[None]:
    """Have a provider answer for every model, in the runs that are started inside."""
    token = _provider.set(provider)
    try:
        yield
    finally:
        _provider.reset(token)


def provider_for_all() -> Provider | None:
    """Return the provider that answers for every model, None if each model has its own."""
    return _provider.get()
