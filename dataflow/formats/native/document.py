"""The nodes and blocks of a flow document, and the whole document with its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic.json_schema import GenerateJsonSchema

from dataflow.core.wiring import CARRY, INPUT, ITEM
from dataflow.diagnostics.documents import LOOP_TESTS, NAME_RESERVED, VALUE_INVALID
from dataflow.errors import ArgumentInvalid
from dataflow.formats.native.parts import (
    Constants,
    Count,
    EdgePart,
    InputPart,
    Name,
    OnItemError,
    Part,
    PolicyPart,
    PortSource,
    Source,
    UsingPart,
    WrittenFunction,
)

__all__ = [
    "FORMAT",
    "NODES",
    "BlockPart",
    "FlowDocument",
    "FlowNode",
    "LoopNode",
    "LoopPart",
    "LoopTest",
    "LoopTestPart",
    "MapNode",
    "MapPart",
    "Node",
    "TypeNode",
    "json_schema",
]

#: The version of the format.
FORMAT: Final = 1

#: Reserved ids of nodes, and their meaning.
RESERVED: Final = {INPUT: "the inputs of the flow", CARRY: "loop variables", ITEM: "the items of a map"}


def _check_id(id: str) -> str:
    if id in RESERVED:
        raise ArgumentInvalid(NAME_RESERVED(name=id, meaning=RESERVED[id]))
    return id


NodeId = Annotated[
    str,
    Field(min_length=1, json_schema_extra={"not": {"enum": list(RESERVED)}}),
    AfterValidator(_check_id),
]
_NO_POLICY: Final = PolicyPart()  # frozen, so shared: a flow has many nodes without one


class TypeNode(Part):
    """A node of a node type."""

    type: Name = Field(
        description="The id of a node type: `pack.name`, `prefix.function` of a file under `uses`, "
        "or `module:qualname` of a function."
    )
    config: dict[str, Any] = Field(default_factory=dict)
    inputs: dict[Name, PortSource] = Field(
        default_factory=dict, description="Sources by input port; a list on a many-port."
    )
    values: Constants = Field(
        default_factory=dict, description="Constants by input port, never read as ports or templates."
    )
    policy: PolicyPart = Field(default_factory=lambda: _NO_POLICY)
    after: list[Name] = Field(
        default_factory=list,
        description="Ids of nodes that have to succeed first, or `id.$error` of nodes that have to fail.",
    )
    meta: dict[str, Any] = Field(default_factory=dict)


class FlowNode(Part):
    """A flow used as a node: its inputs are the input ports, its outputs the output ports."""

    flow: Annotated[
        Annotated[str, Tag("<path>")] | Annotated[FlowDocument, Tag("<document>")],
        Discriminator(lambda value: "<path>" if isinstance(value, str) else "<document>"),
    ] = Field(description="A path beside this document, or a nested document.")
    inputs: dict[Name, PortSource] = Field(default_factory=dict)
    values: Constants = Field(default_factory=dict)
    policy: PolicyPart = Field(default_factory=lambda: _NO_POLICY)
    after: list[Name] = Field(default_factory=list)
    meta: dict[str, Any] = Field(default_factory=dict)


class LoopNode(Part):
    """A loop in block form."""

    loop: LoopPart
    after: list[Name] = Field(default_factory=list)
    meta: dict[str, Any] = Field(default_factory=dict)


class MapNode(Part):
    """A map in block form."""

    map: MapPart
    after: list[Name] = Field(default_factory=list)
    meta: dict[str, Any] = Field(default_factory=dict)


#: The kinds of nodes by the key that distinguishes them.
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
        custom_error_message="is not a node",
    ),
]


class BlockPart(Part):
    """Nodes, edges and outputs: of a flow, or of the body of a loop or a map."""

    nodes: dict[NodeId, Node] = Field(default_factory=dict, description="Nodes by id, in declared order.")
    edges: list[EdgePart] = Field(default_factory=list)
    outputs: dict[Name, Source] = Field(default_factory=dict)


class CarryPart(Part):
    """A loop variable: the value of the first iteration, and of each next one."""

    first: Source
    next: Source


class LoopTestPart(Part):
    """A source, and a function of its value, or an expression over `value`, that decides."""

    source: Source
    test: WrittenFunction


LoopTest = Annotated[
    Annotated[Source, Tag("<source>")] | Annotated[LoopTestPart, Tag("<test>")],
    Discriminator(lambda value: "<test>" if isinstance(value, dict) and "source" in value else "<source>"),
]


class LoopPart(BlockPart):
    """The body of a loop. In its outputs `$carry.name` is the value tested last.

    The test is `until` or `while`: a source of a boolean, or `{source: ..., test: ...}`, where the test is
    a function `module:qualname` of the value of the source, or an expression over `value`.
    """

    model_config = ConfigDict(json_schema_extra={"not": {"required": ["until", "while"]}})

    limit: Count | None = Field(default=100, description="Rounds at most; null is unlimited.")
    on_limit: Literal["exit", "fail"] = "exit"
    carry: dict[Name, CarryPart] = Field(default_factory=dict)
    until: LoopTest | None = Field(default=None, description="Tested in every round: true ends the loop.")
    while_: LoopTest | None = Field(
        default=None, alias="while", description="Tested before every round: false ends the loop."
    )

    @model_validator(mode="after")
    def _check_test(self) -> Self:
        if self.until is not None and self.while_ is not None:
            raise ArgumentInvalid(LOOP_TESTS())
        return self


class MapPart(BlockPart):
    """The body of a map over lists of equal length. Each output is the list of the values of the items."""

    over: Annotated[dict[Name, Source], Field(min_length=1)] = Field(
        description="The lists by the name that `$item.name` reads their items under."
    )
    key: WrittenFunction | None = Field(
        default=None,
        description="Names the items: a function `module:qualname`, or an expression over `item`, which is "
        "the item of the first list; equal keys fail.",
    )
    max_concurrency: Count | None = None
    on_error: OnItemError = "fail"


def _check_format(number: object) -> object:
    if type(number) is not int:  # pydantic accepts True as 1
        expected = f"the number of the format, {FORMAT}"
        raise ArgumentInvalid(VALUE_INVALID(expected=expected, found=repr(number)))
    return number


class FlowDocument(BlockPart):
    """A flow of `dataflow`, format 1."""

    dataflow: Annotated[Literal[1], BeforeValidator(_check_format)] = Field(
        description="The number of the format."
    )
    name: str | None = None
    uses: dict[Name, Name] = Field(
        default_factory=dict,
        description="Python files beside the document, or modules, by prefix; "
        "their functions are the types `prefix.function`.",
    )
    inputs: dict[Name, InputPart] = Field(default_factory=dict)
    using: UsingPart = Field(default_factory=UsingPart)
    meta: dict[str, Any] = Field(default_factory=dict)


class _Untitled(GenerateJsonSchema):
    """Generates a schema without titles of fields, which would only repeat their names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - the base's signature
        return False


def json_schema() -> dict[str, object]:
    """Return the JSON Schema (draft 2020-12) of a flow document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Flow document, format {FORMAT}",
        "description": "A flow, written in YAML or JSON. What names lead to is checked on loading.",
        **FlowDocument.model_json_schema(schema_generator=_Untitled),
    }
