"""Packs: named sets of node types, imported on first use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dataflow.builder.builder import Builder
from dataflow.builder.declare import Node
from dataflow.core.functions import import_function, importing, is_function_name, loaded_object
from dataflow.core.nodetype import NodeType, derive
from dataflow.core.public_names import public_place
from dataflow.diagnostics.packs import (
    PACK_NAME_INVALID,
    PUBLIC_NAME_SHARED,
    TYPE_INVALID,
    TYPE_TWICE,
    TYPE_UNKNOWN,
    TYPE_UNUSABLE,
)
from dataflow.errors import FlowInvalid, PackError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.diagnostics.diagnostic import Diagnostic, Kind

__all__ = ["Pack", "type_of"]

_NAME: Final = re.compile(r"[^\W\d_][\w-]*")
#: The former names of a pack that has renamed nothing.
NOTHING_RENAMED: Final[Mapping[str, str]] = MappingProxyType({})


class Pack:
    """A named set of node types, offered by an entry point of the same name in the group `dataflow.packs`.

    `nodes` maps names to `module:object`, imported on first use, or lists the nodes themselves. `api` is
    the version of the pack interface that it needs. `former` maps old names of its classes and functions,
    as found in stores and documents, to their current names, and old ids `pack.name` of node types to their
    current ids; several of one are listed oldest first.
    `diagnostics` are the kinds of problems that it reports, for `dataflow explain`. Raises PackError if an
    argument is invalid.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        api: int,
        nodes: Mapping[str, str] | Sequence[object],
        former: Mapping[str, str] = NOTHING_RENAMED,
        diagnostics: Sequence[Kind] = (),
    ) -> None:
        self.name = name
        self.version = version
        self.api = api
        self.former = former
        self.diagnostics = tuple(diagnostics)
        if not _NAME.fullmatch(name):
            raise PackError(name, PACK_NAME_INVALID())
        self.nodes: dict[str, Any] = {}
        for type_name, given in nodes.items() if isinstance(nodes, Mapping) else map(_named, nodes):
            if type_name in self.nodes:
                raise PackError(name, TYPE_TWICE(f"node type {type_name!r}"))
            fault = _fault(type_name, given)
            if fault is not None:
                raise PackError(name, fault.within(f"node type {type_name!r}"))
            self.nodes[type_name] = given
        self._types: dict[str, NodeType] = {}

    @property
    def functions(self) -> dict[str, str]:
        """The names of the functions that its types are made of, by the names of the types."""
        found: dict[str, str] = {}
        for name, given in self.nodes.items():
            if isinstance(given, str):
                found[name] = public_place(given)
            else:
                with suppress(FlowInvalid):  # it is reported where the type is used
                    found[name] = type_of(given).id
        return found

    @property
    def clash(self) -> Diagnostic | None:
        """The problem that two types have functions of one public name; None if no two have."""
        known: dict[str, tuple[str, str]] = {}
        for name, given in self.nodes.items():
            place = given if isinstance(given, str) else _place_of(given)
            other, at = known.setdefault(public_place(place), (name, place))
            if at != place and not _is_one(at, place):
                return PUBLIC_NAME_SHARED(
                    names=f"{other!r} and {name!r}",
                    public_name=public_place(place),
                    places=f"{at} and {place}",
                )
        return None

    def current(self, name: str) -> str:
        """Return the name that a node type is listed under now, by this or a former name."""
        id = f"{self.name}.{name}"
        return self.former.get(id, id).partition(".")[2]

    def find(self, name: str, offered_by: str = "") -> NodeType:
        """Return a node type by its name in the pack; raises PackError, with `offered_by` as the provider."""
        name = self.current(name)
        if name not in self._types:
            id = f"{self.name}.{name}"
            wanted = f"{id} of {offered_by}" if offered_by else id
            if name not in self.nodes:
                raise PackError(
                    wanted, TYPE_UNKNOWN(pack=f"pack {self.name!r}", available=self.nodes, near=name)
                )
            made = _imported(self.nodes[name], id, wanted)
            self._types.setdefault(name, made)  # if two threads import it, the first type is kept
        return self._types[name]


def _place_of(node: Any) -> str:
    """Return the location of the function that a node is made of."""
    with suppress(FlowInvalid):
        function = type_of(node).function
        target = getattr(function, "func", function)
        return f"{target.__module__}:{getattr(target, '__qualname__', type(target).__qualname__)}"
    return ""


def _is_one(one: str, other: str) -> bool:
    """Return whether two locations are known to be of one object, without importing modules."""
    found = loaded_object(one)
    return found is not None and found is loaded_object(other)


def _imported(given: Any, id: str, wanted: str) -> NodeType:
    if isinstance(given, str):
        with importing(wanted, given):
            given = import_function(given)
    try:
        return type_of(given, id)
    except FlowInvalid as invalid:
        raise PackError(wanted, TYPE_UNUSABLE(problems="; ".join(map(str, invalid.problems)))) from invalid


def _named(node: object) -> tuple[str, object]:
    """Name a node of a list: a node or a flow by its own name, a function by the name of the function."""
    if isinstance(node, Node | Builder):
        return node.name, node
    return str(getattr(node, "__name__", node)), node


def _fault(name: object, given: object) -> Diagnostic | None:
    """Return why an entry cannot be a node type, without importing it; None if it may be one."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return PACK_NAME_INVALID()
    if isinstance(given, str):
        return None if is_function_name(given) else TYPE_INVALID(expected="module:object", found=repr(given))
    if isinstance(given, Node | Builder) or callable(given):
        return None
    return TYPE_INVALID(expected="a node, a flow or an async function", found=type(given).__name__)


def type_of(node: Any, id: str = "") -> NodeType:
    """Return the node type of a node, a flow or an async function, under another id if one is given."""
    if isinstance(node, Builder):
        found = node.node_type
    else:
        found = node.type if isinstance(node, Node) else derive(node)
    return found.renamed(id) if id else found
