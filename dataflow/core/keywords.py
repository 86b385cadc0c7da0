"""Name the settings that there are when a call has one that does not exist."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

from dataflow.diagnostics.arguments import SETTING_UNKNOWN
from dataflow.errors import ArgumentInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

__all__ = ["check_settings", "naming_settings"]

F = TypeVar("F", bound="Callable[..., Any]")

#: What documents and others call a setting, and its name in Python.
_NAMES: Final = {"retry": "retries", "max_retries": "retries", "cache": "memo"}


def check_settings(what: str, given: Iterable[str], names: Collection[str]) -> None:
    """Raise ArgumentInvalid, with the names that there are, for the first unknown one."""
    for name in given:
        if name not in names:
            own = _NAMES.get(name)
            instead = f"write {own}" if own in names else ""
            known = sorted(names)
            raise ArgumentInvalid(
                SETTING_UNKNOWN(what=what, found=repr(name), available=known, near=name, instead=instead)
            )


def naming_settings(what: str) -> Callable[[F], F]:
    """Make a function name its settings, in place of Python's error, when one is unknown."""

    def declare(function: F) -> F:
        parameters = inspect.signature(function).parameters.values()
        keywords = (one for one in parameters if one.kind is one.KEYWORD_ONLY or one.default is not one.empty)
        names = [one.name for one in keywords]
        positional = {one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD}

        @wraps(function)
        def called(*args: Any, **settings: Any) -> Any:
            try:
                return function(*args, **settings)
            except TypeError:  # as Python refuses an unknown name before it calls
                check_settings(what, (name for name in settings if name not in positional), names)
                raise

        return called  # type: ignore[return-value]  # it has the signature of the function

    return declare
