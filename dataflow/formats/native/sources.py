"""The sources of a flow document: ports, constants, and expressions over them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from annotated_types import MinLen
from pydantic import AfterValidator, Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from dataflow.core.policy import ItemErrors
from dataflow.core.wiring import parse_reference
from dataflow.formats.native.parts import Count, Part, WrittenFunction

__all__ = [
    "EXPRESSIONS",
    "AllSource",
    "CollectSource",
    "ConstantSource",
    "EachSource",
    "EverySource",
    "FallbackSource",
    "GatherSource",
    "MergeContextsSource",
    "MergeSource",
    "OnItemError",
    "PortSource",
    "RaceSource",
    "Source",
    "Sources",
]


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
    """The first source unless it is a skip, else the second."""

    fallback: Annotated[list[Source], Field(min_length=2, max_length=2)]


class ConstantSource(Part):
    """A constant, never read as a port or a template."""

    value: Any


class EachSource(Part):
    """The item of a map over a list; what reads it runs once per item."""

    each: Source
    key: WrittenFunction | None = Field(
        default=None,
        description="Names the items: a function `module:qualname` of the item, or an expression over "
        "`item`; equal keys fail.",
    )
    max_concurrency: Count | None = Field(default=None, description="Bounds the items in flight.")
    on_error: OnItemError = "fail"


class EverySource(Part):
    """The item of a map over edges; what reads it runs once for each of them that brings a value."""

    every: Sources


class CollectSource(Part):
    """The list of what the items of the innermost map gave."""

    collect: Source


class AllSource(Part):
    """The list of the live values of all rounds; only an output of a loop."""

    all: Source


class MergeContextsSource(Part):
    """One conversation made of those that are live."""

    merge_contexts: Sources
    how: str = Field(
        description="`pick` (the first), `append` (the new messages of each), `results` (the last answer of "
        "each) or a function `module:qualname` of the list of contexts."
    )


#: The expressions by the key that tells them apart.
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
            custom_error_message="expected a source: `node.port`, or a mapping with one of "
            + ", ".join(EXPRESSIONS),
        ),
    ],
)
Sources = Annotated[list[Source], MinLen(1)]


def _kind_of_input(value: object) -> str:
    return "<several>" if isinstance(value, list) else "<one>"


PortSource = Annotated[
    Annotated[Source, Tag("<one>")] | Annotated[Sources, Tag("<several>")], Discriminator(_kind_of_input)
]
