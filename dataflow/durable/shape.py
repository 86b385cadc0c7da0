"""The shape of a flow: what it says about each of its nodes, to be compared when a run is resumed (S11.4)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from dataflow.compiler.addresses import scopes_of
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.durable.feeding import Feeding
from dataflow.values.canonical import NO_NAMES, told_value
from dataflow.values.functions import codes_of, digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import FlowPlan, PlanNode
    from dataflow.core.nodetype import NodeType

__all__ = ["FlowShape", "NodeShape", "in_terms_of", "shape_of"]

#: Of the text that a shape is written as.
VERSION: Final = 1


class NodeShape(NamedTuple):
    """What a flow says about one node; digests stand for all but the type and the version.

    `code` covers the node's function, those in its config and those of its joins, empty where there are
    none. Where several nodes share an address, as an `each` map and the node that names it do, all are told.
    """

    type: str
    version: str
    config: str
    wiring: str
    code: str


@dataclass(frozen=True, slots=True)
class FlowShape:
    """What a flow says about each of its nodes, by address: the path without rounds, items and attempts.

    Settings and outputs of the flow, limits of loops and `max_concurrency` of maps are not in it.
    """

    entries: Mapping[str, NodeShape]

    def write(self) -> str:
        """Write the shape as JSON; equal shapes have one text."""
        texts: dict[str, int] = {}
        nodes = {
            address: [texts.setdefault(text, len(texts)) for text in entry]
            for address, entry in sorted(self.entries.items())
        }
        document = {"shape": VERSION, "texts": list(texts), "nodes": nodes}
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> FlowShape:
        """Read what `write` wrote; raises ValueError for anything else."""
        try:
            document: Any = json.loads(text)
            version, texts, nodes = (document[name] for name in ("shape", "texts", "nodes"))
            entries = {
                address: NodeShape(*(texts[number] for number in numbers))
                for address, numbers in nodes.items()
            }
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"it is no shape of a flow: {type(error).__name__}: {error}") from error
        if version != VERSION:
            reason = f"its shape has version {version}, and this release reads {VERSION}"
            raise ValueError(f"{reason}; use the release that wrote it, or a later one")
        return cls(entries)


def shape_of(plan: FlowPlan, names: Mapping[str, str] = NO_NAMES) -> FlowShape:
    """Tell the shape of a compiled flow, of its flow nodes too, with `names` in place of some of its own."""
    describing = _Describing(names)
    entries: dict[str, NodeShape] = {}
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if node.is_visible:
                address, entry = scope.address_of(node), describing.entry(scope, node)
                known = entries.get(address)
                entries[address] = entry if known is None else _together(known, entry)
    return FlowShape(entries)


def in_terms_of(
    stored: FlowShape, present: FlowShape, former: FlowShape, ids: Mapping[str, str]
) -> FlowShape:
    """Return the present shape with what a stored one says under names of before, so that only edits differ.

    `former` is the present shape under those names; `ids` are those of types that packs list, by the names of
    their functions.
    """
    known = frozenset(stored.entries.values())
    entries: dict[str, NodeShape] = {}
    for address, entry in present.entries.items():
        old, was = former.entries[address], stored.entries.get(address)
        if was is not None:
            parts = zip(was, old, entry, strict=True)
            told = NodeShape(*(before if before == same else now for before, same, now in parts))
            alike = _listed(told.type, ids) == _listed(was.type, ids)
            entries[address] = told._replace(type=was.type) if alike else told
        else:
            entries[address] = old if old in known else entry
    return FlowShape(entries)


def _listed(types: str, ids: Mapping[str, str]) -> str:
    return " ".join(ids.get(one, one) for one in types.split(" "))


def _together(one: NodeShape, other: NodeShape) -> NodeShape:
    """Make one entry of two, in the order of their scopes: outer ones come first."""
    return NodeShape(*(" ".join(filter(None, pair)) for pair in zip(one, other, strict=True)))


class _Describing:
    """Describes the nodes of a flow; what many have in common is told once."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.feeding = Feeding(names)
        self._codes: dict[int, list[str]] = {}  # by the identity of a type
        self._configs: dict[int, tuple[str, list[str]]] = {}  # by the identity of a config

    def entry(self, scope: PlacedScope, node: PlanNode) -> NodeShape:
        type_id, version, codes = self._type(node)
        config, more = self._config(scope, node)
        codes = [*codes, *more]
        wiring = self.feeding.wiring(scope, node, codes)
        return NodeShape(type_id, version, config, wiring, digest_of(" ".join(codes)) if codes else "")

    def _type(self, node: PlanNode) -> tuple[str, str, list[str]]:
        match node.action:
            case Call(type=node_type):
                id = self.names.get(node_type.id, node_type.id)
                return id, node_type.version, self._code(node_type)
            case LoopOf():
                return "loop", "", []
            case MapOf():
                return "map", "", []
            case FlowOf(plan=flow):
                return f"flow {flow.name}", "", []
            case JoinOf():
                raise AssertionError("a join is no node of the flow")

    def _code(self, node_type: NodeType) -> list[str]:
        known = self._codes.get(id(node_type))
        if known is None:
            known = self._codes[id(node_type)] = codes_of([node_type.documented or node_type.call])
        return known

    def _config(self, scope: PlacedScope, node: PlanNode) -> tuple[str, list[str]]:
        """Tell the config of a call or the options of a map, with digests of the functions in it."""
        match node.action:
            case Call() as call:
                config = _config_of(scope, call)
            case MapOf(options=options):
                config = {"key": options.key, "on_error": options.on_error}
                return _told_config(config, self.names)
            case _:
                return "", []
        if config is None:
            return "", []
        known = self._configs.get(id(config))
        if known is None:
            known = self._configs[id(config)] = _told_config(config, self.names)
        return known


def _config_of(scope: PlacedScope, call: Call) -> object:
    """Find the config of a node where its function is given it."""
    parameters = call.type.parameters
    name = parameters.config_name
    if name is None:
        return None
    if name in call.keywords:
        slot = call.keywords[name]
    else:
        slot = call.positional[parameters.positional.index(name)]
    assert isinstance(slot, int), "a config is no port"
    config: object = scope.plan.initial[slot]
    return config


def _told_config(config: object, names: Mapping[str, str]) -> tuple[str, list[str]]:
    """Tell a config without the functions in it, and without fields that have their default.

    These belong to the code, as the defaults of a function do: a config may be given a further field.
    """
    functions: list[object] = []
    given, defaults = _fields(config)
    told = told_value(given, functions, names)
    codes = codes_of(functions)
    return digest_of(told) if given else "", [
        *codes,
        digest_of(told_value(defaults, None, names)),
    ] if defaults else codes


def _fields(config: object) -> tuple[dict[str, object], dict[str, object]]:
    """Part the fields of a config into those that were given and those that have their default."""
    if not isinstance(config, BaseModel):
        return _as_dict(config), {}
    given: dict[str, object] = {}
    defaults: dict[str, object] = {}
    for name, field in type(config).model_fields.items():
        value: object = getattr(config, name)
        default: object = field.default
        is_default = default is not PydanticUndefined and told_value(default) == told_value(value)
        (defaults if is_default else given)[name] = value
    return given, defaults


def _as_dict(config: object) -> dict[str, object]:
    return config if isinstance(config, dict) else {"": config}
