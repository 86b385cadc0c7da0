"""Models of the parts of a native document: inputs, settings, policies, edges and sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from annotated_types import Gt, MinLen
from pydantic import (
    AfterValidator,
    AllowInfNan,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from typing_extensions import TypeAliasType

from dataflow.core.policy import CLEANUP, Backoff, Effect, Errors, ItemErrors, MemoPolicy, OnError, Reach
from dataflow.core.wiring import parse_reference
from dataflow.diagnostics.documents import FIELD_MISPLACED, LIMIT_EMPTY
from dataflow.errors import ArgumentInvalid

if TYPE_CHECKING:
    from pydantic.config import JsonDict

__all__ = [
    "EXPRESSIONS",
    "AllSource",
    "CollectSource",
    "ConstantSource",
    "Constants",
    "Count",
    "EachSource",
    "EdgePart",
    "EverySource",
    "FallbackSource",
    "GatherSource",
    "InputPart",
    "LimitPart",
    "MemoPart",
    "MergeContextsSource",
    "MergeSource",
    "Name",
    "OnItemError",
    "Part",
    "PolicyPart",
    "PortSource",
    "RaceSource",
    "RetryPart",
    "Source",
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
    """Base of all parts of a document: no unknown fields, and no conversion of values."""

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
            raise ArgumentInvalid(LIMIT_EMPTY())
        return self


class UsingPart(Part):
    """Settings for the runs of the flow."""

    errors: Errors = "fail_fast"
    max_concurrency: Count | None = None
    limits: dict[Name, LimitPart] | None = None
    timeout: Seconds | None = None
    cleanup: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Field(
        default=CLEANUP, description="Seconds that the clean-up of a node that is cut short may take."
    )
    check_values: bool = Field(
        default=False, description="Check each value against the type of the port that gives it."
    )


class RetryPart(Part):
    """How a failed call is attempted again."""

    retries: Annotated[int, Field(ge=0)] = Field(default=3, description="Extra attempts.")
    on: list[str] = Field(
        default_factory=list, description="Names of exceptions or texts of their messages; none: any error."
    )
    backoff: Backoff = "none"
    first: Seconds = Field(default=1.0, description="The first wait, in seconds.")
    jitter: bool = False


class MemoPart(Part):
    """The cache scope of outcomes, and what else is part of the cache key."""

    reach: Reach
    ttl: Seconds | None = Field(default=None, description="Seconds after which an outcome no longer counts.")
    environment: list[Name] = Field(
        default_factory=list, description="Environment variables whose values decide the outcome."
    )


class PolicyPart(Part):
    """How a node is run; the defaults are those of its type."""

    retry: RetryPart = Field(default_factory=lambda: RetryPart(retries=0))
    timeout: Seconds | None = Field(default=None, description="Bounds one attempt, in seconds.")
    deadline: Seconds | None = Field(default=None, description="Bounds all attempts, in seconds.")
    memo: Annotated[
        Annotated[MemoPolicy, Tag("<name>")] | Annotated[MemoPart, Tag("<memo>")],
        Discriminator(lambda value: "<name>" if isinstance(value, str) else "<memo>"),
    ] = Field(default="off", description="The cache scope of outcomes.")
    on_error: OnError = Field(default="fail", description="What the last failed attempt does.")
    default: Any = Field(default=None, description="The value of `out` after the last failed attempt.")
    limit: Name | Count | None = Field(
        default=None, description="A limit named in `using`, or a number of slots."
    )
    effect: Effect = Field(
        default=False,
        description="The call changes something outside the run; `ask`: one that was cut off is asked about.",
    )
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
            raise ArgumentInvalid(FIELD_MISPLACED(f".{min(given)}", where="beside `feedback: true`"))
        return self


def _check_source(text: str) -> str:
    parse_reference(text)
    return text


PortName = Annotated[
    str,
    Field(
        description="A port: `node.port`, `node` for `node.out`, `$in.name` an input of the flow, "
        "`$carry.name` in a loop, `$item.name` in a map, `node.$error`, `node.$done`. Blanks and "
        "`. / [ ] ~ $ %` inside a name are percent-encoded.",
        min_length=1,
        examples=["split.title", "split", "$in.path"],
    ),
    AfterValidator(_check_source),
]


OnItemError = Annotated[ItemErrors, Field(description="What the error of an item does to the map.")]


class MergeSource(Part):
    """The first source, in order, that is not a skip."""

    merge: Sources


class GatherSource(Part):
    """The list of the live sources, in order."""

    gather: Sources


class RaceSource(Part):
    """The first source that settles with a value."""

    race: Sources


class FallbackSource(Part):
    """The first source that is not a skip; each is computed only if those before it are skips."""

    fallback: Annotated[list[Source], Field(min_length=2, max_length=20)]  # written as nested pairs


class ConstantSource(Part):
    """A constant, never read as a port or a template."""

    value: Any


class EachSource(Part):
    """The item of a map over a list; nodes that read it run once per item."""

    each: Source
    key: WrittenFunction | None = Field(
        default=None,
        description="Names the items: a function `module:qualname` of the item, or an expression over "
        "`item`; equal keys fail.",
    )
    max_concurrency: Count | None = Field(default=None, description="Bounds the items in flight.")
    on_error: OnItemError = "fail"
    share: Name | None = Field(
        default=None,
        description="Sources `each` over one list with the same name here are one map. Without it each is a "
        "map, unless a node depends on the items of several.",
    )


class EverySource(Part):
    """The item of a map over edges; nodes that read it run once for each edge that brings a value."""

    every: Sources


class CollectSource(Part):
    """The list of the values of the items of the innermost map."""

    collect: Source


class AllSource(Part):
    """The list of the live values of all iterations; only an output of a loop."""

    all: Source


class MergeContextsSource(Part):
    """One conversation merged from the live ones."""

    merge_contexts: Sources
    how: str = Field(
        description="`pick` (the first), `append` (the new messages of each), `results` (the last answer of "
        "each) or a function `module:qualname` of the list of contexts."
    )


#: The expressions by the key that distinguishes them.
EXPRESSIONS: Final[dict[str, type[Part]]] = {
    "merge": MergeSource,
    "gather": GatherSource,
    "race": RaceSource,
    "fallback": FallbackSource,
    "value": ConstantSource,
    "each": EachSource,
    "every": EverySource,
    "collect": CollectSource,
    "all": AllSource,
    "merge_contexts": MergeContextsSource,
}


def _kind_of_source(value: object) -> str | None:
    if isinstance(value, str):
        return "<port>"
    keys = value if isinstance(value, dict) else ()
    return next((f"<{key}>" for key in EXPRESSIONS if key in keys), None)


Source = TypeAliasType(
    "Source",
    Annotated[
        Annotated[PortName, Tag("<port>")]
        | Annotated[MergeSource, Tag("<merge>")]
        | Annotated[GatherSource, Tag("<gather>")]
        | Annotated[RaceSource, Tag("<race>")]
        | Annotated[FallbackSource, Tag("<fallback>")]
        | Annotated[ConstantSource, Tag("<value>")]
        | Annotated[EachSource, Tag("<each>")]
        | Annotated[EverySource, Tag("<every>")]
        | Annotated[CollectSource, Tag("<collect>")]
        | Annotated[AllSource, Tag("<all>")]
        | Annotated[MergeContextsSource, Tag("<merge_contexts>")],
        Discriminator(
            _kind_of_source,
            custom_error_type="no_source",
            custom_error_message="is not a source",
        ),
    ],
)


Sources = Annotated[list[Source], MinLen(1)]


def _kind_of_input(value: object) -> str:
    return "<several>" if isinstance(value, list) else "<one>"


PortSource = Annotated[
    Annotated[Source, Tag("<one>")] | Annotated[Sources, Tag("<several>")], Discriminator(_kind_of_input)
]
