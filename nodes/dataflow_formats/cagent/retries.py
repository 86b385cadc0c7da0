"""The `retry` of a step of cagent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dataflow_formats.cagent.parts import Retry

if TYPE_CHECKING:
    from dataflow.authoring import JsonDict, PartReader

__all__ = ["policy_of", "read_retry"]

Count = Annotated[int, Field(ge=0)]
Wait = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Part(BaseModel):
    """What stands under `retry`."""

    model_config = ConfigDict(strict=True, frozen=True)

    max_attempts: Count = 0
    backoff: Literal["fixed", "exponential"] | None = None
    initial_delay_seconds: Wait | None = None
    on: list[Annotated[str, Field(min_length=1)]] = []


_EXPECTED: Final = {
    "max_attempts": "a whole number of 0 or more",
    "backoff": "fixed or exponential",
    "initial_delay_seconds": "a number above 0",
    "on": "a list of texts, such as [timeout, rate_limit]",
}


def read_retry(step: PartReader) -> Retry | None:
    """Read how a step is tried again; None where it is not."""
    given = step.mapping("retry")
    given.check_keys(_EXPECTED)
    try:
        part = _Part.model_validate(given.part)
    except ValidationError as error:
        for field in dict.fromkeys(str(fault["loc"][0]) for fault in error.errors()):
            given.expected(_EXPECTED[field], given.part[field], field)
        return None
    if not part.max_attempts:
        return None
    wait = part.initial_delay_seconds or 1.0
    return Retry(part.max_attempts, part.backoff or "none", wait, tuple(part.on))


def policy_of(retry: Retry | None) -> JsonDict:
    """Write a retry as the policy of a native node, with nothing where there is none."""
    if retry is None:
        return {}
    written: JsonDict = {"retries": retry.attempts}
    if retry.on:
        written["on"] = [*retry.on]
    if retry.backoff != "none":
        written["backoff"] = retry.backoff
        written["first"] = retry.first
    return {"policy": {"retry": written}}
