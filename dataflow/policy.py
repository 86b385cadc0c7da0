"""Policies: frozen settings of how a node is run, kept beside its function and config."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from dataflow.ports import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dataflow.current import Firing

__all__ = [
    "EachOptions",
    "Errors",
    "ItemErrors",
    "Limit",
    "MemoPolicy",
    "OnError",
    "Policy",
    "Retry",
    "Settings",
    "policy_of",
]

MemoPolicy = Literal["off", "run", "process", "store"]
OnError = Literal["fail", "skip", "route"]
ItemErrors = Literal["fail", "collect", "skip"]
Errors = Literal["fail_fast", "continue"]
Backoff = Literal["none", "fixed", "exponential"]


def _positive(name: str, value: float | None) -> None:
    if value is not None and (isinstance(value, bool) or not (value > 0 and math.isfinite(value))):
        raise ValueError(f"{name} must be a positive number, found {value!r}")


@dataclass(frozen=True, slots=True, init=False)
class Retry:
    """How a failed call is repeated: `retries` extra attempts, waits in seconds (S9.1)."""

    retries: int
    on: tuple[type[BaseException] | str, ...]
    backoff: Backoff
    first: float
    jitter: bool
    before: Callable[[Firing], None] | None

    def __init__(
        self,
        retries: int = 3,
        *,
        on: tuple[type[BaseException] | str, ...] = (),
        backoff: Backoff = "none",
        first: float = 1.0,
        jitter: bool = False,
        before: Callable[[Firing], None] | None = None,
    ) -> None:
        if isinstance(retries, bool) or retries < 0:
            raise ValueError(f"retries must be 0 or more, found {retries!r}")
        _positive("first", first)
        object.__setattr__(self, "retries", retries)
        object.__setattr__(self, "on", tuple(on))
        object.__setattr__(self, "backoff", backoff)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "jitter", jitter)
        object.__setattr__(self, "before", before)


class Limit:
    """Slots, or starts per second, of what shares it; compared by identity, since sharing is by object."""

    __slots__ = ("per_second", "slots")

    def __init__(self, slots: int | None = None, *, per_second: float | None = None) -> None:
        if slots is None and per_second is None:
            raise ValueError("a limit needs slots, per_second or both")
        _positive("slots", slots)
        _positive("per_second", per_second)
        self.slots = slots
        self.per_second = per_second


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of one node; MISSING means not given, so that placing a node can override its type."""

    retry: Retry | Any = MISSING
    timeout: float | Any | None = MISSING
    deadline: float | Any | None = MISSING
    memo: MemoPolicy | Any = MISSING
    on_error: OnError | Any = MISSING
    default: object = MISSING
    limit: str | int | Any = MISSING
    effect: bool | Any = MISSING
    enabled: bool | Any = MISSING

    def given(self) -> dict[str, object]:
        """List the settings that were given, by name."""
        pairs = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: value for name, value in pairs if value is not MISSING}

    def over(self, base: Policy) -> Policy:
        """Return `base` with the settings given here put over its own."""
        given = self.given()
        return replace(base, **given) if given else base

    @property
    def is_enabled(self) -> bool:
        return self.enabled is not False

    @property
    def is_sure(self) -> bool:
        """Whether a failure cannot turn into a skip (S5.2)."""
        return self.is_enabled and self.on_error not in ("skip", "route")


#: Settings that are kept but do nothing yet; a flow that sets one is told so when it runs.
WITHOUT_EFFECT = ("retry", "timeout", "deadline", "memo", "limit")


@dataclass(frozen=True, slots=True)
class EachOptions:
    """The options of a map (S7.2); `key` is a function of the item or None."""

    key: Callable[[Any], str] | None = None
    max_concurrency: int | None = None
    on_error: ItemErrors = "fail"


@dataclass(frozen=True, slots=True)
class Settings:
    """What `using` sets for the runs of a flow."""

    errors: Errors = "fail_fast"
    max_concurrency: int | None = None
    limits: Mapping[str, Limit | int] | None = None
    timeout: float | None = None


def policy_of(
    *,
    retries: Retry | int = MISSING,  # type: ignore[assignment]  # the marker for "not given"
    enabled: bool = MISSING,  # type: ignore[assignment]
    **given: Any,
) -> Policy:
    """Build a policy from the keywords of `node` and `with_`; raises ValueError for a bad one."""
    for name in ("timeout", "deadline"):
        if given.get(name, MISSING) is not MISSING:
            _positive(name, given[name])
    for name, allowed in (
        ("memo", ("off", "run", "process", "store")),
        ("on_error", ("fail", "skip", "route")),
    ):
        value = given.get(name, MISSING)
        if value is not MISSING and value not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(allowed)}, found {value!r}")
    retry = Retry(retries) if isinstance(retries, int) else retries
    return Policy(retry=retry, enabled=enabled, **given)
