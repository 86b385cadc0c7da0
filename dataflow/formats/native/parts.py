"""The parts of a flow document besides nodes and sources: inputs, edges, policies, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from annotated_types import Gt, MinLen
from pydantic import (
    AllowInfNan,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from dataflow.core.policy import Backoff, Errors, MemoPolicy, OnError, Reach

if TYPE_CHECKING:
    from pydantic.config import JsonDict

__all__ = [
    "Constants",
    "Count",
    "EdgePart",
    "InputPart",
    "LimitPart",
    "MemoPart",
    "Name",
    "Part",
    "PolicyPart",
    "RetryPart",
    "Seconds",
    "UsingPart",
    "WrittenFunction",
]


Name = Annotated[str, MinLen(1)]
WrittenFunction = Annotated[
    str,
    MinLen(1),
    Field(
        description="A function of the value: `module:qualname`, `prefix:function` of a file under `uses`, "
        "or an expression.",
    ),
]
Count = Annotated[int, Gt(0)]
Seconds = Annotated[float, Gt(0), AllowInfNan(False)]
Constants = dict[Name, Any]


class Part(BaseModel):
    """What all parts of a document share: no unknown fields, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


TypeName = Literal["string", "number", "integer", "boolean", "array", "object", "null"]


class InputPart(Part):
    """An input of the flow; required unless it has a default."""

    type: Annotated[
        Annotated[TypeName, Tag("<name>")] | Annotated[dict[str, Any], Tag("<schema>")],
        Discriminator(lambda value: "<schema>" if isinstance(value, dict) else "<name>"),
    ] = Field(
        default_factory=dict,
        description="A JSON Schema, or the name of a JSON type; anything if left out. Values are "
        "checked by the nearest type: texts, numbers, lists, objects, alternatives, enums, bounds, "
        "lengths, dates, UUIDs; what no type can say, such as the properties of an object, is kept "
        "and not checked.",
    )
    default: Any = None


class LimitPart(Part):
    """A named limit: slots, starts per second, or both."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["slots"]}, {"required": ["per_second"]}]}
    )

    slots: Count | None = None
    per_second: Seconds | None = None

    @model_validator(mode="after")
    def _check_any(self) -> Self:
        if self.slots is None and self.per_second is None:
            raise ValueError("a limit has slots, per_second or both")
        return self


class UsingPart(Part):
    """Settings for the runs of the flow."""

    errors: Errors = "fail_fast"
    max_concurrency: Count | None = None
    limits: dict[Name, LimitPart] | None = None
    timeout: Seconds | None = None


class RetryPart(Part):
    """How a failed call is repeated."""

    retries: Annotated[int, Field(ge=0)] = Field(default=3, description="Extra attempts.")
    on: list[str] = Field(
        default_factory=list, description="Names of exceptions or texts of their messages; none: any error."
    )
    backoff: Backoff = "none"
    first: Seconds = Field(default=1.0, description="The first wait, in seconds.")
    jitter: bool = False


class MemoPart(Part):
    """How far outcomes are remembered, and what else counts."""

    reach: Reach
    ttl: Seconds | None = Field(default=None, description="Seconds after which an outcome no longer counts.")
    environment: list[Name] = Field(
        default_factory=list, description="Environment variables whose values decide the outcome."
    )


class PolicyPart(Part):
    """How a node is run; what is not given is as its type says."""

    retry: RetryPart = Field(default_factory=lambda: RetryPart(retries=0))
    timeout: Seconds | None = Field(default=None, description="Bounds one attempt, in seconds.")
    deadline: Seconds | None = Field(default=None, description="Bounds all attempts, in seconds.")
    memo: Annotated[
        Annotated[MemoPolicy, Tag("<name>")] | Annotated[MemoPart, Tag("<memo>")],
        Discriminator(lambda value: "<name>" if isinstance(value, str) else "<memo>"),
    ] = Field(default="off", description="How far outcomes are remembered.")
    on_error: OnError = Field(default="fail", description="What the last failed attempt does.")
    default: Any = Field(default=None, description="The value of `out` after the last failed attempt.")
    limit: Name | Count | None = Field(
        default=None, description="A limit named in `using`, or a number of slots."
    )
    effect: bool = Field(default=False, description="The call changes something outside the run.")
    enabled: bool = True
    errors: Literal["fail", "collect"] = Field(default="fail", description="Flow nodes only.")


_ONLY_FEEDBACK: Final[JsonDict] = {"properties": {"feedback": {"const": True}}, "required": ["feedback"]}


class EdgePart(Part):
    """An edge between two ports. Parallel edges are distinct."""

    model_config = ConfigDict(
        json_schema_extra={"dependentSchemas": {"limit": _ONLY_FEEDBACK, "on_limit": _ONLY_FEEDBACK}}
    )

    source: Name = Field(
        description="The id of a node of this block or one around it, or `$in`, `$carry`, `$item`."
    )
    source_port: Name = "out"
    target: Name = Field(description="The id of a node of this block.")
    target_port: Name
    feedback: bool = Field(default=False, description="The edge closes a loop.")
    limit: Count | None = Field(
        default=100, description="Only with `feedback`: rounds at most; null is unlimited."
    )
    on_limit: Literal["exit", "fail"] = Field(default="exit", description="Only with `feedback`.")
    each_round: bool = Field(default=False, description="The target is part of the loop.")
    leave: Literal["last", "all"] = Field(
        default="last",
        description="What leaves a loop: the last value, or the list of those of all rounds.",
    )
    id: str | None = None
    meta: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_limit(self) -> Self:
        given = self.model_fields_set & {"limit", "on_limit"}
        if given and not self.feedback:
            raise ValueError(f"`{min(given)}` stands only beside `feedback: true`")
        return self
