"""Packs: sets of node types, found by entry point and imported on first use."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

from dataflow.builder import Builder
from dataflow.built_in import BUILT_IN
from dataflow.declare import Node
from dataflow.errors import PackError, choices
from dataflow.functions import import_function, importing, is_function_name
from dataflow.nodetype import NodeType, derive

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Pack", "find_type", "type_of"]

GROUP: Final = "dataflow.packs"
#: The version of the interface between the engine and packs.
API: Final = 1


class Pack:
    """A named set of node types.

    `nodes` maps names to `module:object`, imported on first use, or lists the nodes themselves.
    `api` is the version of the pack interface that it needs.
    """

    def __init__(
        self, name: str, *, version: str, api: int, nodes: Mapping[str, str] | Sequence[object]
    ) -> None:
        self.name = name
        self.version = version
        self.api = api
        if isinstance(nodes, Mapping):
            self.nodes: dict[str, Any] = dict(nodes)
        else:
            named = [(_name_of(node), node) for node in nodes]
            self.nodes = dict(named)
            if len(self.nodes) < len(named):
                raise PackError(name, "names a node type twice")

    def find(self, name: str) -> NodeType:
        """Return a node type by its name in the pack; raises PackError."""
        node = self.nodes.get(name)
        if node is None:
            raise PackError(
                f"{self.name}.{name}", f"pack {self.name!r} has no such type; {choices(sorted(self.nodes))}"
            )
        id = f"{self.name}.{name}"
        with importing(f"{id} of pack version {self.version}", id):
            return type_of(import_function(node) if isinstance(node, str) else node, id)


def _name_of(node: object) -> str:
    return node.name if isinstance(node, Node) else str(getattr(node, "__name__", node))


def type_of(node: Any, id: str = "") -> NodeType:
    """Return the node type of a node, a flow or an async function, under another id if one is given."""
    if isinstance(node, Builder):
        found = node.node_type
    else:
        found = node.type if isinstance(node, Node) else derive(node)
    return found.renamed(id) if id else found


def find_type(id: str) -> NodeType:
    """Look a node type up: a built-in, `pack.name` by entry point, or `module:qualname`. Raises PackError."""
    if id in BUILT_IN:
        return BUILT_IN[id]
    if is_function_name(id):
        return type_of(import_function(id))
    pack, dot, name = id.partition(".")
    if not dot:
        raise PackError(id, "is no node type: write pack.name, prefix.function or module:qualname")
    return load_pack(pack).find(name)


def _offer(entry: metadata.EntryPoint) -> str:
    """Name the distribution of an entry point; one that is installed twice is one offer."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else entry.value


def load_pack(name: str) -> Pack:
    """Load the pack that an installed distribution offers under the name; raises PackError."""
    found = {_offer(entry): entry for entry in metadata.entry_points(group=GROUP) if entry.name == name}
    if len(found) > 1:
        offers = " and ".join(sorted(found))
        raise PackError(name, f"is offered by {offers}; uninstall one of them")
    if not found:
        known = sorted({entry.name for entry in metadata.entry_points(group=GROUP)})
        raise PackError(name, f"no installed pack has this name; {choices(known)}")
    with importing(name, "the pack"):
        pack = next(iter(found.values())).load()
    if not isinstance(pack, Pack) or pack.api != API:
        needs = (
            f"needs pack API {pack.api}, this release has {API}" if isinstance(pack, Pack) else "is no Pack"
        )
        raise PackError(name, needs)
    return pack
