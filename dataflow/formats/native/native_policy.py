"""Policies and settings of native documents, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.core.policy import NO_POLICY, Limit, Memo, Policy, Retry, Settings
from dataflow.errors import ValueMismatch
from dataflow.formats.native.constants import as_json
from dataflow.formats.native.parts import MemoPart

if TYPE_CHECKING:
    from dataflow.formats.native.parts import LimitPart, PolicyPart, RetryPart, UsingPart

__all__ = ["read_policy", "read_settings", "write_policy", "write_settings"]


def read_policy(part: PolicyPart) -> Policy:
    """Read what a policy gives."""
    if not part.model_fields_set:
        return NO_POLICY
    given: dict[str, Any] = {name: getattr(part, name) for name in part.model_fields_set}
    if "retry" in given:
        given["retry"] = _read_retry(part.retry)
    if isinstance(part.memo, MemoPart):
        given["memo"] = Memo(part.memo.reach, ttl=part.memo.ttl, environment=part.memo.environment)
    return Policy(**given)


def _read_retry(part: RetryPart) -> Retry:
    return Retry(part.retries, on=tuple(part.on), backoff=part.backoff, first=part.first, jitter=part.jitter)


def write_policy(policy: Policy, where: str, problems: list[str]) -> dict[str, object]:
    """Write the settings that are given; what has no document form becomes a problem."""
    written = policy.given()
    if isinstance(policy.retry, Retry):
        written["retry"] = _write_retry(policy.retry)
        if policy.retry.before is not None:
            problems.append(f"{where}, policy: `before` of the retry has no document form")
    if written.pop("cutoff", None) is not None:
        problems.append(f"{where}, policy: `cutoff` has no document form")
    if isinstance(policy.memo, Memo):
        written["memo"] = _write_memo(policy.memo)
    if "default" in written:
        try:
            written["default"] = as_json(written["default"])
        except ValueMismatch as mismatch:
            problems.append(f"{where}, policy: `default` has no document form: {mismatch}")
    return written


def _write_retry(retry: Retry) -> dict[str, object]:
    written: dict[str, object] = {"retries": retry.retries}
    if retry.on:
        written["on"] = [name if isinstance(name, str) else name.__name__ for name in retry.on]
    plain = Retry()
    for name in ("backoff", "first", "jitter"):
        if getattr(retry, name) != getattr(plain, name):
            written[name] = getattr(retry, name)
    return written


def _write_memo(memo: Memo) -> dict[str, object]:
    written: dict[str, object] = {"reach": memo.reach}
    if memo.ttl is not None:
        written["ttl"] = memo.ttl
    if memo.environment:
        written["environment"] = list(memo.environment)
    return written


def read_settings(part: UsingPart) -> Settings:
    """Read the settings for the runs of a flow."""
    limits = (
        None if part.limits is None else {name: _read_limit(limit) for name, limit in part.limits.items()}
    )
    errors = part.errors if "errors" in part.model_fields_set else None
    return Settings(errors, part.max_concurrency, limits, part.timeout)


def _read_limit(part: LimitPart) -> Limit | int:
    """Read a limit; slots alone are of each run, as a number is in `using` (S15.1)."""
    if part.slots is not None and part.per_second is None:
        return part.slots
    return Limit(part.slots, per_second=part.per_second)


def write_settings(settings: Settings) -> dict[str, object]:
    """Write the settings that differ from those of a run without any."""
    written: dict[str, object] = {}
    if settings.errors is not None:
        written["errors"] = settings.errors
    if settings.max_concurrency is not None:
        written["max_concurrency"] = settings.max_concurrency
    if settings.limits is not None:
        written["limits"] = {name: _write_limit(limit) for name, limit in settings.limits.items()}
    if settings.timeout is not None:
        written["timeout"] = settings.timeout
    return written


def _write_limit(limit: Limit | int) -> dict[str, object]:
    if not isinstance(limit, Limit):
        return {"slots": limit}
    given = {"slots": limit.slots, "per_second": limit.per_second}
    return {name: value for name, value in given.items() if value is not None}
