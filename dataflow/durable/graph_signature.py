"""The graph signature: a comparable description of a flow, stored with its runs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from dataflow.base.failure import line_of_error
from dataflow.compiler.addresses import scopes_of
from dataflow.compiler.plan import Call, FlowOf, JoinOf, LoopOf, MapOf
from dataflow.core.public_names import OWN_PACKS
from dataflow.core.states import UNSETTLED
from dataflow.core.wiring import CARRY, INPUT, ITEM
from dataflow.diagnostics.stores import LATER_RELEASE, SIGNATURE_MALFORMED
from dataflow.errors import ArgumentInvalid
from dataflow.values.canonical import NO_NAMES, canonical_text
from dataflow.values.functions import codes_of, digest_of, is_own

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from dataflow.compiler.addresses import PlacedScope
    from dataflow.compiler.plan import Feed, FlowPlan, PlanNode
    from dataflow.core.nodetype import NodeType


__all__ = ["FlowShape", "NodeShape", "in_present_names", "is_code_known", "shape_of"]

#: The version of the text that a signature is written as.
VERSION: Final = 1
#: The prefixes of the ids of our own node types.
OWN_NAMES: Final = frozenset({"dataflow", *OWN_PACKS})
LONGEST: Final = 64  # of a text that is written as it is, without hashing


class NodeShape(NamedTuple):
    """What a flow states about one node; all parts but the type and the version are content hashes.

    `code` covers the node's function, the functions in its config and those of its joins; it is empty if
    there are none. Nodes that share an address, such as an `each` map and the node that names it, have one
    entry.
    """

    type: str
    version: str
    config: str
    wiring: str
    code: str


@dataclass(frozen=True, slots=True)
class FlowShape:
    """The graph signature: an entry for each node, by address.

    An address is a path without iterations, items and attempts. Settings and outputs of the flow, limits of
    loops and `max_concurrency` of maps are not included.
    """

    entries: Mapping[str, NodeShape]

    def write(self) -> str:
        """Write the signature as JSON; equal signatures have equal texts."""
        texts: dict[str, int] = {}
        nodes = {
            address: [texts.setdefault(text, len(texts)) for text in entry]
            for address, entry in sorted(self.entries.items())
        }
        document = {"shape": VERSION, "texts": list(texts), "nodes": nodes}
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def read(cls, text: str) -> FlowShape:
        """Read the text of `write`; raises ValueError for any other text."""
        try:
            document: Any = json.loads(text)
            version, texts, nodes = (document[name] for name in ("shape", "texts", "nodes"))
            entries = {
                address: NodeShape(*(texts[number] for number in numbers))
                for address, numbers in nodes.items()
            }
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ArgumentInvalid(SIGNATURE_MALFORMED(error=line_of_error(error))) from error
        if version != VERSION:
            problem = LATER_RELEASE(expected=f"version {VERSION}", found=f"version {version}")
            raise ArgumentInvalid(problem)
        return cls(entries)


def shape_of(plan: FlowPlan, names: Mapping[str, str] = NO_NAMES) -> FlowShape:
    """Return the signature of a compiled flow and its subflows, with `names` replacing some of its names."""
    describer = _NodeDescriber(names)
    entries: dict[str, NodeShape] = {}
    for scope in scopes_of(plan):
        for node in scope.plan.nodes:
            if node.is_visible:
                address, entry = scope.address_of(node), describer.entry(scope, node)
                known = entries.get(address)
                entries[address] = entry if known is None else _combined(known, entry)
    return FlowShape(entries)


def in_present_names(
    stored: FlowShape, present: FlowShape, formers: Sequence[FlowShape], current: Callable[[str], str]
) -> FlowShape:
    """Return a stored signature in the names of the present one, so that only edits differ.

    `formers` are the present signature in former names; `current` returns the current name of a type.
    """
    known = {
        former.entries[address]: entry
        for former in reversed(formers)
        for address, entry in present.entries.items()
    }
    entries: dict[str, NodeShape] = {}
    for address, entry in stored.entries.items():
        now = present.entries.get(address)
        if now is None:
            entries[address] = known.get(entry, entry)
        else:
            entries[address] = _renamed(entry, now, [former.entries[address] for former in formers], current)
    return FlowShape(entries)


def _renamed(
    stored: NodeShape, now: NodeShape, formers: Sequence[NodeShape], current: Callable[[str], str]
) -> NodeShape:
    """Replace each part of a stored entry that the present one has under former names."""
    parts = zip(stored, now, *formers, strict=True)
    told = NodeShape(*(new if part in olds else part for part, new, *olds in parts))
    if not _is_same_type(stored.type, now.type, current):
        return told
    told = told._replace(type=now.type)
    return told if is_code_known(stored, now) else told._replace(code=now.code)


def _is_same_type(one: str, other: str, current: Callable[[str], str]) -> bool:
    return [*map(current, one.split(" "))] == [*map(current, other.split(" "))]


def is_code_known(one: NodeShape, other: NodeShape) -> bool:
    """Return whether a difference in the code of two entries of one node type is in a user's code.

    Earlier versions included the code of our own node types, which no user edits.
    """
    if not any(all(map(_is_own_type, entry.type.split(" "))) for entry in (one, other)):
        return True
    return bool(one.code and other.code) and one.type == other.type


def _is_own_type(type_id: str) -> bool:
    return type_id in ("loop", "map") or re.split("[.:]", type_id, maxsplit=1)[0] in OWN_NAMES


def _combined(one: NodeShape, other: NodeShape) -> NodeShape:
    """Combine the entries of two nodes at one address, outer scope first."""
    return NodeShape(*(" ".join(filter(None, pair)) for pair in zip(one, other, strict=True)))


class _NodeDescriber:
    """Describes the nodes of a flow; parts that several nodes share are computed once."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self._wiring = _WiringDescriber(names)
        self._codes: dict[int, list[str]] = {}  # by the identity of a type
        self._configs: dict[int, tuple[str, list[str], list[str]]] = {}  # by the identity of a config

    def entry(self, scope: PlacedScope, node: PlanNode) -> NodeShape:
        type_id, version, codes = self._type(node)
        config, more, defaults = self._config(scope, node)
        codes = [*codes, *more]
        count = len(codes)
        codes += defaults
        wiring = self._wiring.wiring(scope, node, codes)
        if not count and len(codes) == len(defaults) and _is_own_call(node):
            codes = []  # the defaults of our own configs: no user edits them
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
            known = self._codes[id(node_type)] = codes_of(
                [node_type.documented or node_type.call], self.names
            )
        return known

    def _config(self, scope: PlacedScope, node: PlanNode) -> tuple[str, list[str], list[str]]:
        """Describe the config of a call or the options of a map; see `_config_text`."""
        match node.action:
            case Call() as call:
                config = _config_of(scope, call)
            case MapOf(options=options):
                config = {"key": options.key, "on_error": options.on_error}
                return _config_text(config, self.names)
            case _:
                return "", [], []
        if config is None:
            return "", [], []
        known = self._configs.get(id(config))
        if known is None:
            known = self._configs[id(config)] = _config_text(config, self.names)
        return known


def _config_of(scope: PlacedScope, call: Call) -> object:
    """Find the config of a node among the arguments of its function."""
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


def _config_text(config: object, names: Mapping[str, str]) -> tuple[str, list[str], list[str]]:
    """Describe the given fields of a config, with content hashes of functions and of defaulted fields.

    Defaulted fields count as code, as the defaults of a function do, so a config may get a further field.
    """
    functions: list[object] = []
    given, defaults = _fields(config)
    told = canonical_text(given, functions, names)
    digests = [digest_of(canonical_text(defaults, None, names))] if defaults else []
    return digest_of(told) if given else "", codes_of(functions, names), digests


def _is_own_call(node: PlanNode) -> bool:
    match node.action:
        case Call(type=node_type):
            return is_own(node_type.documented or node_type.call)
        case _:
            return False


def _fields(config: object) -> tuple[dict[str, object], dict[str, object]]:
    """Split the fields of a config into those that were given and those that have their default."""
    if not isinstance(config, BaseModel):
        return _as_dict(config), {}
    given: dict[str, object] = {}
    defaults: dict[str, object] = {}
    for name, field in type(config).model_fields.items():
        value: object = getattr(config, name)
        default: object = field.default
        is_unset = default is not PydanticUndefined and name not in config.model_fields_set
        if is_unset and not field.validate_default:  # as declared, since a valid default may be converted
            defaults[name] = default
            continue
        is_default = default is not PydanticUndefined and canonical_text(default) == canonical_text(value)
        (defaults if is_default else given)[name] = value
    return given, defaults


def _as_dict(config: object) -> dict[str, object]:
    return config if isinstance(config, dict) else {"": config}


class _WiringDescriber:
    """Describes the wiring of nodes; the source of each slot is computed once.

    A source is a node's port, a parameter, a constant, or a join, map or loop of other sources. A source in
    an enclosing scope is described by how far out it is, so that the text does not depend on enclosing names.
    """

    def __init__(self, names: Mapping[str, str] = NO_NAMES) -> None:
        self._names = names  # replacements of some names of types and functions
        self._texts: dict[tuple[int, int], str] = {}
        self._codes: dict[tuple[int, int], str] = {}  # of the functions of joins

    def wiring(self, scope: PlacedScope, node: PlanNode, codes: list[str]) -> str:
        """Return the content hash of a node's sources and, for a loop, map or subflow, of its results.

        Content hashes of the functions involved are added to `codes`.
        """
        ports = [self._feed(scope, feed, codes) for feed in node.feeds]
        inner = scope.children.get(node.index)
        rest: list[Any] = []
        match node.action:
            case Call() | JoinOf():
                pass
            case LoopOf() as loop:
                assert inner is not None, "a loop has a body"
                rest = self._loop(inner, loop, codes)
            case MapOf(is_every=is_every):
                assert inner is not None, "a map has a body"
                rest = sorted(self._all(inner, inner.plan.collects, codes))
                rest += ["every"] if is_every else []
            case FlowOf() as flow:
                assert inner is not None, "a flow node has a flow"
                rest = self._flow(scope, inner, node, flow, codes)
        return digest_of(json.dumps([sorted(ports), rest]))

    def _feed(self, scope: PlacedScope, feed: Feed, codes: list[str]) -> tuple[str, list[str]]:
        sources = self._all(scope, feed.slots, codes)
        return feed.port, sorted(sources) if feed.is_signal else sources

    def _loop(self, body: PlacedScope, loop: LoopOf, codes: list[str]) -> list[Any]:
        nexts = [(name, self._source(body, slot, codes)) for name, (_, slot) in sorted(loop.carried.items())]
        test = None if loop.test is None else self._source(body, loop.test, codes)
        results = sorted(
            (own in loop.alls, self._source(body, slot, codes)) for own, slot in loop.results.items()
        )
        if loop.feedback:  # the readers of its outputs describe them
            results = []
        finals = sorted(loop.finals.values())
        functions: list[object] = []
        predicate = canonical_text(loop.predicate, functions, self._names)
        codes += codes_of(functions, self._names)
        kind = "feedback" if loop.feedback else loop.kind
        return [nexts, kind, test, predicate, results, finals]

    def _flow(
        self, scope: PlacedScope, inner: PlacedScope, node: PlanNode, flow: FlowOf, codes: list[str]
    ) -> list[Any]:
        defaults = [
            (inner.parameters[slot], self._source(scope, given, codes))
            for slot, given in flow.inputs.items()
            if isinstance(given, int)
        ]
        results = [
            (port, self._source(inner, flow.results[slot], codes))
            for port, slot in node.outputs.items()
            if slot in flow.results
        ]
        return [sorted(defaults), sorted(results)]

    def _all(self, scope: PlacedScope, slots: Iterable[int], codes: list[str]) -> list[str]:
        return [self._source(scope, slot, codes) for slot in slots]

    def _source(self, scope: PlacedScope, slot: int, codes: list[str]) -> str:
        """Describe the source of a slot; iterative, since joins and scopes nest to any depth."""
        todo = [(scope, slot)]
        while todo:
            found, place = todo[-1], (todo[-1][0].number, todo[-1][1])
            if place in self._texts:
                todo.pop()
                continue
            head, behind = _made(*found)
            open_ones = [one for one in behind if (one[0].number, one[1]) not in self._texts]
            if open_ones:
                todo.extend(open_ones)
                continue
            self._tell(place, head, behind)
            todo.pop()
        if (scope.number, slot) in self._codes:
            codes.append(self._codes[scope.number, slot])
        return self._texts[scope.number, slot]

    def _tell(self, place: tuple[int, int], head: list[Any], behind: list[tuple[PlacedScope, int]]) -> None:
        functions: list[object] = []
        texts = [
            part if isinstance(part, str) else canonical_text(part, functions, self._names) for part in head
        ]
        places = [(scope.number, slot) for scope, slot in behind]
        self._texts[place] = _shortened([texts, [self._texts[one] for one in places]])
        codes = [
            *codes_of(functions, self._names),
            *(self._codes[one] for one in places if one in self._codes),
        ]
        if codes:
            self._codes[place] = digest_of(" ".join(codes))


def _made(scope: PlacedScope, slot: int) -> tuple[list[Any], list[tuple[PlacedScope, int]]]:
    """Return the description of a slot's source, and the slots that it refers to if it names no node."""
    node = scope.makers.get(slot)
    if node is not None:
        return _made_by(scope, node, slot)
    if slot in scope.parameters:
        return [_word(scope), scope.parameters[slot]], []
    if slot in scope.imports:
        assert scope.parent is not None, "the root imports nothing"
        return ["^"], [(scope.parent, scope.imports[slot])]
    constant = scope.plan.initial[slot]
    assert constant is not UNSETTLED, f"{scope.plan.names[slot]} comes from somewhere"
    return ["=", [constant]], []


def _made_by(
    scope: PlacedScope, node: PlanNode, slot: int
) -> tuple[list[Any], list[tuple[PlacedScope, int]]]:
    match node.action:
        case JoinOf(mode=mode, how=how):
            return [mode.value, [how]], [(scope, one) for one in node.feeds[0].slots]
        case MapOf():
            body = scope.children[node.index]
            for inner, owns in body.plan.collects.items():
                if slot in owns:
                    word = "arrivals" if slot in scope.plan.indexed else "collect"
                    return [word, node.label], [(body, inner)]
        case LoopOf(finals=finals) if slot in finals:
            return ["final", node.label, finals[slot]], []
        case LoopOf(results=results, alls=alls) if slot in results:
            which = "all" if slot in alls else "last"
            return [which, node.label], [(scope.children[node.index], results[slot])]
        case _:
            pass
    return [node.label, next(port for port, own in node.outputs.items() if own == slot)], []


def _word(scope: PlacedScope) -> str:
    """Return the word for a parameter of the scope, used in place of a node."""
    match scope.owner.action if scope.owner is not None else None:
        case LoopOf():
            return CARRY
        case MapOf():
            return ITEM
        case _:
            return INPUT


def _shortened(told: list[Any]) -> str:
    text = json.dumps(told, separators=(",", ":"))
    return text if len(text) <= LONGEST else digest_of(text)
