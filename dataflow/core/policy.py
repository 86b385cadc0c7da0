"""Settings of nodes and runs (retries, timeouts, limits, memo)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from dataflow.base.markers import MISSING, SKIP
from dataflow.core.functions import check_function, function_of
from dataflow.core.keywords import naming_settings
from dataflow.core.limits import (
    Limit,
    check_not_negative,
    check_positive,
    check_positive_or_none,
    check_whole,
)
from dataflow.diagnostics.arguments import ARGUMENT_INVALID, ARGUMENT_NOT_AVAILABLE, FUNCTION_UNSUITABLE
from dataflow.errors import ArgumentInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opentelemetry.trace import TracerProvider

    from dataflow.core.firing import Firing
    from dataflow.memo.table import ProcessMemo
    from dataflow.stores import Store

__all__ = [
    "CLEANUP",
    "NO_POLICY",
    "EachOptions",
    "Edited",
    "Effect",
    "Errors",
    "ItemErrors",
    "Memo",
    "MemoPolicy",
    "NodeErrors",
    "OnError",
    "Policy",
    "Reach",
    "Retry",
    "Settings",
    "Telemetry",
    "memo_of",
    "one_of",
    "policy_of",
    "telemetry_of",
]

#: How long, in seconds, the clean-up of a node that is cut short may take.
CLEANUP: Final = 5.0

MemoPolicy = Literal["off", "run", "process", "store"]
Reach = Literal["run", "process", "store"]
OnError = Literal["fail", "skip", "route"]
Effect = bool | Literal["ask"]
ItemErrors = Literal["fail", "collect", "skip"]
Errors = Literal["fail_fast", "continue"]
Edited = Literal["refuse", "keep", "recompute"]
NodeErrors = Literal["fail", "collect"]
Backoff = Literal["none", "fixed", "exponential"]


def one_of(name: str, value: object, allowed: object) -> None:
    """Raise ValueError unless the value is one of the names of a Literal type."""
    names = get_args(allowed)
    if value not in names:
        raise ArgumentInvalid(ARGUMENT_NOT_AVAILABLE(name=name, found=repr(value), available=names))


def _invalid(name: str, expected: str, found: object) -> ArgumentInvalid:
    return ArgumentInvalid(ARGUMENT_INVALID(name=name, expected=expected, found=repr(found)))


def _check_bool(name: str, value: object) -> None:
    """Raise ValueError unless the value is a bool."""
    if not isinstance(value, bool):
        raise _invalid(name, "True or False", value)


def _check_callable(function: object, *values: str) -> None:
    """Raise ValueError unless a value is a plain function of these arguments."""
    check_function(function, *values)
    if not callable(function):
        raise ArgumentInvalid(FUNCTION_UNSUITABLE(expected=function_of(values), found=repr(function)))


@dataclass(frozen=True, slots=True, init=False)
class Retry:
    """How a failed call is retried: extra attempts, and waits in seconds.

    `on` lists the errors that are retried, all if it is empty: by type, or by a string that is part of the
    class's name or the message, where `timeout` and `rate_limit` match every error of that kind. An error
    whose attribute `is_lasting` is true is retried only if `on` matches it.

    With `backoff="none"` there is no wait, with `fixed` one of `first` seconds, with `exponential` it doubles
    each time. `jitter` shortens it at random to no less than half, and it is never shorter than the seconds
    that the error has as `retry_after`. `before` is called before each extra attempt; an error it raises is
    the failure. Raises ValueError for an invalid value.
    """

    retries: int
    on: tuple[type[BaseException] | str, ...]
    backoff: Backoff
    first: float
    jitter: bool
    before: Callable[[Firing], None] | None

    @naming_settings("Retry")
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
        check_whole("retries", retries, 0)
        one_of("backoff", backoff, Backoff)
        check_positive("first", first)
        given: object = on
        if not isinstance(given, tuple | list) or not all(isinstance(one, str | type) for one in on):
            raise _invalid("on", "a tuple of exception types and strings", on)
        if before is not None:
            _check_callable(before, "firing")
        object.__setattr__(self, "retries", retries)
        object.__setattr__(self, "on", tuple(on))
        object.__setattr__(self, "backoff", backoff)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "jitter", jitter)
        object.__setattr__(self, "before", before)


@dataclass(frozen=True, slots=True, init=False)
class Memo:
    """How the results of a node are cached.

    `reach` is the cache scope, as in `memo=`. Entries older than `ttl` seconds are ignored. The values of the
    environment variables named in `environment` are part of the cache key. Raises ValueError for an invalid
    value.
    """

    reach: Reach
    ttl: float | None
    environment: tuple[str, ...]

    @naming_settings("Memo")
    def __init__(self, reach: Reach, *, ttl: float | None = None, environment: Sequence[str] = ()) -> None:
        one_of("reach", reach, Reach)
        check_positive_or_none("ttl", ttl)
        given: object = environment
        if not isinstance(given, tuple | list) or not all(isinstance(one, str) and one for one in given):
            raise _invalid("environment", "a list of names of environment variables", environment)
        object.__setattr__(self, "reach", reach)
        object.__setattr__(self, "ttl", ttl)
        object.__setattr__(self, "environment", tuple(environment))


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings of one node; MISSING means not given, so that a placed node can override its type."""

    retry: Retry | Any = MISSING
    timeout: float | Any | None = MISSING
    deadline: float | Any | None = MISSING
    memo: MemoPolicy | Memo | Any = MISSING
    on_error: OnError | Any = MISSING
    default: object = MISSING
    limit: str | int | Any = MISSING
    effect: Effect | Any = MISSING
    enabled: bool | Any = MISSING
    errors: NodeErrors | Any = MISSING  # of subflow nodes (S7.3)
    cutoff: Callable[[Any, Any], bool] | Any = MISSING  # of old and new value, in a live session (S13.4)

    def given(self) -> dict[str, object]:
        """Return the settings that were given, by name."""
        pairs = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: value for name, value in pairs if value is not MISSING}

    def over(self, base: Policy) -> Policy:
        """Return `base` overridden by the settings given here."""
        given = {} if self is NO_POLICY else self.given()  # as most are
        return replace(base, **given) if given else base

    @property
    def is_enabled(self) -> bool:
        return self.enabled is not False

    @property
    def has_effect(self) -> bool:
        """Whether a call changes something outside the run."""
        return self.effect is True or self.asks_to_repeat

    @property
    def asks_to_repeat(self) -> bool:
        """Whether a call that was cut off is repeated only after an ask."""
        return self.effect == "ask"

    @property
    def is_sure(self) -> bool:
        """Whether a failure cannot become a skip (S5.2)."""
        return self.is_enabled and self.on_error not in ("skip", "route")


#: The policy of a node without settings.
NO_POLICY: Final = Policy()


def memo_of(policy: Policy) -> Memo | None:
    """Return how the results of a node with this policy are cached; None if they are not."""
    memo = policy.memo
    if isinstance(memo, Memo):
        return memo
    return None if memo is MISSING or memo == "off" else Memo(memo)


@dataclass(frozen=True, slots=True)
class EachOptions:
    """The options of a map; `key` is a function of the item or None."""

    key: Callable[[Any], str] | None = None
    max_concurrency: int | None = None
    on_error: ItemErrors = "fail"

    def __post_init__(self) -> None:
        if self.max_concurrency is not None:
            check_whole("max_concurrency", self.max_concurrency, 1)
        one_of("on_error", self.on_error, ItemErrors)
        check_function(self.key, "item")


@dataclass(frozen=True, slots=True, init=False)
class Telemetry:
    """How runs are reported to OpenTelemetry.

    With `content` spans include prompts, answers and the messages of errors. `provider` creates the tracer,
    instead of the provider that is set for the process. Pass it to `using(telemetry=)`. Raises ValueError for
    an invalid value.
    """

    content: bool
    provider: TracerProvider | None

    @naming_settings("Telemetry")
    def __init__(self, content: bool = False, provider: TracerProvider | None = None) -> None:
        _check_bool("content", content)
        if provider is not None and not hasattr(provider, "get_tracer"):
            raise _invalid("provider", "a TracerProvider", provider)
        object.__setattr__(self, "content", content)
        object.__setattr__(self, "provider", provider)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `using` for the runs of a flow."""

    errors: Errors | None = None  # None: fail_fast, or as the surrounding flow
    max_concurrency: int | None = None
    limits: Mapping[str, Limit | int] | None = None
    timeout: float | None = None
    cleanup: float = CLEANUP  # seconds that the clean-up of a node that is cut short may take (S9.6)
    check_values: bool = False  # each value is checked at the port of the node that gives it (S1.7)
    # Documents do not contain the following settings.
    keep: bool = True  # the values of the root, for the result (S8.5)
    store: Store | None = None  # where runs are stored (S12.1)
    memo: ProcessMemo | Store | None = None  # where results are cached (S13.1)
    telemetry: Telemetry | None = None  # how runs are reported to OpenTelemetry (S19)
    progress: bool = False  # shown on standard error

    def __post_init__(self) -> None:
        _check_bool("keep", self.keep)
        _check_bool("progress", self.progress)
        _check_bool("check_values", self.check_values)
        if self.errors is not None:
            one_of("errors", self.errors, Errors)
        if self.max_concurrency is not None:
            check_whole("max_concurrency", self.max_concurrency, 1)
        if not isinstance(self.limits, Mapping | None):
            raise _invalid("limits", "a mapping of names to numbers or Limit objects", self.limits)
        for name, limit in (self.limits or {}).items():
            if not isinstance(limit, Limit):
                check_whole(f"limit {name!r}", limit, 1)
        check_positive_or_none("timeout", self.timeout)
        check_not_negative("cleanup", self.cleanup)


def telemetry_of(given: object) -> Telemetry | None:
    """Convert the argument `telemetry` of `using`; raises ValueError for an invalid one."""
    if given is None or isinstance(given, Telemetry):
        return given
    if not isinstance(given, bool):
        raise _invalid("telemetry", "True, False or a Telemetry", given)
    return Telemetry() if given else None


def policy_of(
    *,
    retries: Any = MISSING,
    enabled: Any = MISSING,
    effect: Any = MISSING,
    **given: Any,
) -> Policy:
    """Build a policy from the keywords of `node` and `with_`; raises ValueError for an invalid one."""
    if enabled is not MISSING:
        _check_bool("enabled", enabled)
    if effect is not MISSING and not isinstance(effect, bool) and effect != "ask":
        raise _invalid("effect", "True, False or 'ask'", effect)
    for name in ("timeout", "deadline"):
        if name in given and given[name] is not MISSING:
            check_positive_or_none(name, given[name])
    for name, allowed in (("memo", MemoPolicy), ("on_error", OnError), ("errors", NodeErrors)):
        if name in given and given[name] is not MISSING and not isinstance(given[name], Memo):
            one_of(name, given[name], allowed)
    if given.get("default", MISSING) is SKIP:
        raise _invalid("default", "a value, or on_error='skip'", SKIP)
    if (cutoff := given.get("cutoff", MISSING)) is not MISSING:
        _check_callable(cutoff, "old", "new value")
    limit = given.get("limit", MISSING)
    if limit is not MISSING and not isinstance(limit, str):
        check_whole("limit", limit, 1)
    if retries is MISSING or isinstance(retries, Retry):
        return Policy(retry=retries, enabled=enabled, effect=effect, **given)
    return Policy(retry=Retry(retries), enabled=enabled, effect=effect, **given)
