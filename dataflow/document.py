"""The native flow document, format 1, as it is written: its models and their JSON Schema.

The schema is complete: feedback edges, flow nodes, `race`, `all` and `merge_contexts` are part of the format
and come with later releases; `formats.native` refuses them until then.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypeAliasType

from dataflow.functions import is_function_name
from dataflow.names import parse_reference
from dataflow.policy import Backoff, Errors, ItemErrors, MemoPolicy, OnError
from dataflow.wiring import CARRY, INPUT, ITEM

__all__ = [
    "EXPRESSIONS",
    "FORMAT",
    "NODES",
    "AllSource",
    "BlockPart",
    "CarryPart",
    "CollectSource",
    "ConstantSource",
    "EachSource",
    "EdgePart",
    "FallbackSource",
    "FlowDocument",
    "FlowNode",
    "GatherSource",
    "InputPart",
    "LimitPart",
    "LoopNode",
    "LoopPart",
    "MapNode",
    "MapPart",
    "MergeContextsSource",
    "MergeSource",
    "Node",
    "Part",
    "PolicyPart",
    "RaceSource",
    "RetryPart",
    "Source",
    "TestPart",
    "TypeNode",
    "UsingPart",
    "json_schema",
]

#: The number of the format.
FORMAT: Final = 1
_PARAMETERS: Final = (INPUT, CARRY, ITEM)


def _check_id(id: str) -> str:
    if id in _PARAMETERS:
        raise ValueError(f"no node can be called {id!r}, which stands for {_MEANINGS[id]}")
    return id


_MEANINGS: Final = {INPUT: "the inputs of the flow", CARRY: "carried ports", ITEM: "the items of a map"}


def _check_source(text: str) -> str:
    parse_reference(text)
    return text


def _check_function(text: str) -> str:
    if not is_function_name(text):
        raise ValueError(f"a function is written module:qualname, found {text!r}")
    return text


Name = Annotated[str, Field(min_length=1)]
NodeId = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"not": {"enum": list(_PARAMETERS)}}),
    AfterValidator(_check_id),
]
PortName = Annotated[
    str,
    Field(
        description="A port: `node.port`, `node` for `node.out`, `$in.name` an input of the flow, `$carry.name` "
        "in a loop, `$item.name` in a map, `node.$error`, `node.$done`. Blanks and `. / [ ] ~ $ %` inside a "
        "name are percent-encoded.",
        min_length=1,
        examples=["split.title", "split", "$in.path"],
    ),
    AfterValidator(_check_source),
]
FunctionName = Annotated[
    str,
    Field(description="A function, written `module:qualname`.", examples=["my_nodes:is_short"]),
    AfterValidator(_check_function),
]
Count = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Constants = dict[Name, Any]


class Part(BaseModel):
    """What all parts of a document share: no unknown fields, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


# Sources


class MergeSource(Part):
    """The first source, in order, that is not a skip."""

    merge: Sources


class GatherSource(Part):
    """The list of the live sources, in order."""

    gather: Sources


class RaceSource(Part):
    """The first source that settles with a value. Comes with a later release."""

    race: Sources


class FallbackSource(Part):
    """The first source unless it is a skip, else the second."""

    fallback: Annotated[list[Source], Field(min_length=2, max_length=2)]


class ConstantSource(Part):
    """A constant, never read as a port or a template."""

    value: Any


class EachSource(Part):
    """The item of a map over a list; what reads it runs once per item."""

    each: Source
    key: str | None = Field(
        None, description="Names the items: a function `module:qualname` of the item; equal keys fail."
    )
    max_concurrency: Count | None = Field(None, description="Bounds the items in flight.")
    on_error: ItemErrors = Field("fail", description="What the error of an item does to the map.")


class CollectSource(Part):
    """The list of what the items of the innermost map gave."""

    collect: Source


class AllSource(Part):
    """The list of the live values of all rounds; an output of a loop. Comes with a later release."""

    all: Source


class MergeContextsSource(Part):
    """One conversation made of several. Comes with a later release."""

    merge_contexts: Sources
    how: str | None = Field(None, description="`pick`, `append`, `results` or a function `module:qualname`.")


#: The expressions by the key that tells them apart.
EXPRESSIONS: Final[dict[str, type[Part]]] = {
    "merge": MergeSource,
    "gather": GatherSource,
    "race": RaceSource,
    "fallback": FallbackSource,
    "value": ConstantSource,
    "each": EachSource,
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
        | Annotated[CollectSource, Tag("<collect>")]
        | Annotated[AllSource, Tag("<all>")]
        | Annotated[MergeContextsSource, Tag("<merge_contexts>")],
        Discriminator(
            _kind_of_source,
            custom_error_type="no_source",
            custom_error_message=f"expected a source: `node.port`, or a mapping with one of {', '.join(EXPRESSIONS)}",
        ),
    ],
)
Sources = Annotated[list[Source], Field(min_length=1)]


def _kind_of_input(value: object) -> str:
    return "<several>" if isinstance(value, list) else "<one>"


PortSource = Annotated[
    Annotated[Source, Tag("<one>")] | Annotated[Sources, Tag("<several>")], Discriminator(_kind_of_input)
]


# Nodes


class RetryPart(Part):
    """How a failed call is repeated."""

    retries: Annotated[int, Field(ge=0)] = Field(3, description="Extra attempts.")
    on: list[str] = Field([], description="Names of exceptions or texts of their messages; none: any error.")
    backoff: Backoff = "none"
    first: Seconds = Field(1.0, description="The first wait, in seconds.")
    jitter: bool = False


class PolicyPart(Part):
    """How a node is run; what is not given is as its type says."""

    retry: RetryPart | None = None
    timeout: Seconds | None = Field(None, description="Bounds one attempt, in seconds.")
    deadline: Seconds | None = Field(None, description="Bounds all attempts, in seconds.")
    memo: MemoPolicy | None = None
    on_error: OnError | None = Field(None, description="What the last failed attempt does.")
    default: Any = Field(None, description="The value of `out` after the last failed attempt.")
    limit: str | int | None = Field(None, description="A limit named in `using`, or a number of slots.")
    effect: bool | None = Field(None, description="The call changes something outside the run.")
    enabled: bool | None = None
    errors: Literal["fail", "collect"] | None = Field(None, description="Flow nodes only.")


class EdgePart(Part):
    """An edge between two ports. Parallel edges are distinct."""

    source: Name = Field(
        description="The id of a node of this block or one around it, or `$in`, `$carry`, `$item`."
    )
    source_port: Name = "out"
    target: Name = Field(description="The id of a node of this block.")
    target_port: Name
    feedback: bool = Field(False, description="The edge closes a loop. Comes with a later release.")
    limit: Count | None = Field(100, description="Only with `feedback`: rounds at most; null is unlimited.")
    on_limit: Literal["exit", "fail"] = Field("exit", description="Only with `feedback`.")
    each_round: bool = Field(False, description="Comes with a later release, like `feedback`.")
    leave: Literal["last", "all"] = Field("last", description="`all` comes with a later release.")
    id: str | None = None
    meta: dict[str, Any] = {}

    @model_validator(mode="after")
    def _check_limit(self) -> Self:
        given = self.model_fields_set & {"limit", "on_limit"}
        if given and not self.feedback:
            raise ValueError(f"`{min(given)}` stands only beside `feedback: true`")
        return self


class TypeNode(Part):
    """A node of a node type."""

    type: Name = Field(description="The id of a node type: `pack.name`, or `module:qualname` of a function.")
    config: dict[str, Any] = {}
    inputs: dict[Name, PortSource] = Field({}, description="Sources by input port; a list on a many-port.")
    values: Constants = Field({}, description="Constants by input port, never read as ports or templates.")
    policy: PolicyPart = PolicyPart()
    after: list[Name] = Field([], description="Ids of nodes that have to succeed first.")
    meta: dict[str, Any] = {}


class FlowNode(Part):
    """A flow used as a node. Comes with a later release."""

    flow: Annotated[
        Annotated[str, Tag("<path>")] | Annotated[FlowDocument, Tag("<document>")],
        Discriminator(lambda value: "<path>" if isinstance(value, str) else "<document>"),
    ] = Field(description="A path beside this document, or a nested document.")
    inputs: dict[Name, PortSource] = {}
    values: Constants = {}
    policy: PolicyPart = PolicyPart()
    after: list[Name] = []
    meta: dict[str, Any] = {}


class LoopNode(Part):
    """A loop in block form."""

    loop: LoopPart
    after: list[Name] = []
    meta: dict[str, Any] = {}


class MapNode(Part):
    """A map in block form."""

    map: MapPart
    after: list[Name] = []
    meta: dict[str, Any] = {}


#: The kinds of nodes by the key that tells them apart.
NODES: Final[dict[str, type[Part]]] = {"type": TypeNode, "flow": FlowNode, "loop": LoopNode, "map": MapNode}


def _kind_of_node(value: object) -> str | None:
    found = [key for key in NODES if isinstance(value, dict) and key in value]
    return f"<{found[0]}>" if len(found) == 1 else None


Node = Annotated[
    Annotated[TypeNode, Tag("<type>")]
    | Annotated[FlowNode, Tag("<flow>")]
    | Annotated[LoopNode, Tag("<loop>")]
    | Annotated[MapNode, Tag("<map>")],
    Discriminator(
        _kind_of_node,
        custom_error_type="no_node",
        custom_error_message=f"expected a node: a mapping with exactly one of {', '.join(NODES)}",
    ),
]


class BlockPart(Part):
    """Nodes, edges and what leaves: a flow, or the body of a loop or a map."""

    nodes: dict[NodeId, Node] = Field({}, description="Nodes by id, in declared order.")
    edges: list[EdgePart] = []
    outputs: dict[Name, Source] = {}


class CarryPart(Part):
    """A carried port: the value of the first round, and of each next one."""

    first: Source
    next: Source


class TestPart(Part):
    """A source, and a function of its value that decides."""

    source: Source
    test: FunctionName


LoopTest = Annotated[
    Annotated[Source, Tag("<source>")] | Annotated[TestPart, Tag("<test>")],
    Discriminator(lambda value: "<test>" if isinstance(value, dict) and "source" in value else "<source>"),
]


class LoopPart(BlockPart):
    """The body of a loop. In its outputs `$carry.name` is the value tested last.

    The test is `until` or `while`: a source of a boolean, or `{source: ..., test: "module:qualname"}`, where
    the function named gets the value of the source and answers with a boolean.
    """

    limit: Count | None = Field(100, description="Rounds at most; null is unlimited.")
    on_limit: Literal["exit", "fail"] = "exit"
    carry: dict[Name, CarryPart] = {}
    until: LoopTest | None = Field(None, description="Tested in every round: true ends the loop.")
    while_: LoopTest | None = Field(
        None, alias="while", description="Tested before every round: false ends the loop."
    )

    @model_validator(mode="after")
    def _check_test(self) -> Self:
        if self.until is not None and self.while_ is not None:
            raise ValueError("a loop has one test: `until` or `while`")
        return self


class MapPart(BlockPart):
    """The body of a map over lists of equal length. Each output is the list of what the items gave."""

    over: Annotated[dict[Name, Source], Field(min_length=1)] = Field(
        description="The lists by the name that `$item.name` reads their items under."
    )
    key: str | None = Field(None, description="A function `module:qualname` of the item.")
    max_concurrency: Count | None = None
    on_error: ItemErrors = "fail"


# The flow

TypeName = Literal["string", "number", "integer", "boolean", "array", "object", "null"]


class InputPart(Part):
    """An input of the flow; required unless it has a default."""

    type: Annotated[
        Annotated[TypeName, Tag("<name>")] | Annotated[dict[str, Any], Tag("<schema>")],
        Discriminator(lambda value: "<schema>" if isinstance(value, dict) else "<name>"),
    ] = Field({}, description="A JSON Schema, or the name of a type; anything if left out.")
    default: Any = None


class LimitPart(Part):
    """A named limit: slots, starts per second, or both."""

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


class FlowDocument(BlockPart):
    """A flow of `dataflow`, format 1."""

    dataflow: Literal[1] = Field(description="The number of the format.")
    name: str | None = None
    uses: dict[Name, Name] = Field(
        {},
        description="Python files beside the document, or modules, by prefix; "
        "their functions are the types `prefix.function`.",
    )
    inputs: dict[Name, InputPart] = {}
    using: UsingPart = UsingPart()
    meta: dict[str, Any] = {}


class _Untitled(GenerateJsonSchema):
    """A schema without a title for every field: each would only be its name again."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the base's signature
        return False


def json_schema() -> dict[str, object]:
    """Return the JSON Schema (draft 2020-12) of a flow document."""
    schema = FlowDocument.model_json_schema(schema_generator=_Untitled)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "dataflow flow document, format 1",
    }
