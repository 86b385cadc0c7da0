"""The native format: write a graph definition as a document.

Plain sources are written as edges and expressions inline, so that a graph definition has one document.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dataflow.core.config import type_of_schema
from dataflow.core.former_names import listed_ids
from dataflow.core.functions import is_function_name, is_module, name_of_node
from dataflow.core.nodetype import NodeType
from dataflow.core.ports import MISSING
from dataflow.core.signature import qualified_id
from dataflow.core.wiring import Edge, Literally, LoopBlock, Many, MapBlock, PlacedNode, Reference, Rounds
from dataflow.diagnostics.documents import FUNCTION_UNNAMED, TYPE_WITHOUT_SCHEMA
from dataflow.diagnostics.graphs import CARRY_WITHOUT_NEXT
from dataflow.errors import ArgumentInvalid, FlowInvalid, PackError, ValueMismatch
from dataflow.formats.native.document import FORMAT, FlowDocument
from dataflow.formats.native.settings import SourceWriter, shares_of, write_policy, write_settings
from dataflow.formats.native.values import (
    as_json,
    constant_as_json,
    unwritable,
    with_found_paths,
    write_config,
)
from dataflow.formats.problems import problems_of, write_path
from dataflow.formats.writer import write_yaml
from dataflow.packs.registry import find_type
from dataflow.types.agreement import agrees
from dataflow.types.shapes import bare, type_name
from dataflow.types.validation import json_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dataflow.core.wiring import Block, FlowInput, LoopTest, Nested, Placed, Source, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["dump", "dump_yaml"]


def dump_yaml(wiring: Wiring) -> str:
    """Write a graph definition as the YAML text of a document; raises as `dump` does."""
    return write_yaml(dump(wiring))


def dump(wiring: Wiring) -> dict[str, object]:
    """Write a graph definition as a document; raises FlowInvalid with every part without document form."""
    writing = _DocumentWriter([*wiring.problems], wiring.folder)
    document = writing.document(wiring)
    if not writing.problems:
        document = _checked(document, writing.problems)
    if writing.problems:
        raise FlowInvalid(wiring.name, list(dict.fromkeys(writing.problems)))
    return document


def _checked(document: dict[str, object], problems: list[Diagnostic]) -> dict[str, Any]:
    """Copy a document that can be read again: in Python any string is a name, and lists nest at any depth."""
    try:
        copied: dict[str, Any] = as_json(document)
        FlowDocument.model_validate(copied)
    except ValueMismatch as mismatch:
        problems.append(unwritable("", "the flow", mismatch))
    except ValidationError as error:
        found = problems_of(error, copied)
        problems.extend(one.diagnostic.within(write_path(one.path)) for one in found)
    else:
        return copied
    return {}


class _DocumentWriter:
    """Converts one graph definition to a document, and collects the parts without document form.

    `folder` is that of the whole document, `flow` the subflow that is written into it.
    """

    def __init__(self, problems: list[Diagnostic], folder: str, flow: Nested | None = None) -> None:
        self.problems = problems
        self.folder = folder
        self.flow = flow
        self.ids: Mapping[str, str] | None = None  # ids of the types that packs list, by function
        self.sources = SourceWriter(problems)

    def document(self, wiring: Wiring) -> dict[str, object]:
        """Write the whole document."""
        self.sources.shares = shares_of(wiring.block)
        parts: dict[str, object] = {
            "uses": wiring.uses,
            "inputs": {name: self._input(name, given) for name, given in wiring.inputs.items()},
            **self._block(wiring.block, ""),
            "using": write_settings(wiring.settings),
            "meta": wiring.meta,
        }
        return {"dataflow": FORMAT, "name": wiring.name, **_given(parts)}

    def _input(self, name: str, given: FlowInput) -> dict[str, object]:
        written: dict[str, object] = {}
        schema = given.schema
        if schema is None and bare(given.type) not in (Any, object):
            schema = self._schema(given.type, f"inputs.{name}")
            if set(schema) == {"type"} and isinstance(schema["type"], str):
                schema = schema["type"]
        if schema is not None:
            written["type"] = schema
        if given.default is not MISSING:
            try:
                written["default"] = constant_as_json(given.default, given.type)
            except ValueMismatch as mismatch:
                self.problems.append(unwritable(f"inputs.{name}.default", "the default", mismatch))
        return written

    def _schema(self, kind: object, place: str) -> dict[str, object]:
        """Return the schema of a type if a document that declares it has values of the type."""
        schema = json_schema(kind)
        try:
            declared = type_of_schema(schema)
        except ArgumentInvalid as error:
            self.problems.append(error.problem.within(place))
            return {}
        why = "" if agrees(declared, kind) else f"its values would be of the type {type_name(declared)}"
        if not schema:
            why = "it has no JSON Schema"
        if why:
            self.problems.append(TYPE_WITHOUT_SCHEMA(place, type=type_name(kind), why=why))
        return schema

    def _block(self, block: Block, within: str) -> dict[str, object]:
        """Write a block; `within` is the place of the loop or map whose body it is, with a dot."""
        nodes = {id: self._placed(placed) for id, placed in block.nodes.items()}
        inline = [edge for placed in block.nodes.values() for edge in _inline_edges(placed)]
        outputs = {
            name: self.sources.write(source, f"{within}outputs.{name}")
            for name, source in block.outputs.items()
        }
        edges = [_write_edge(edge) for edge in (*inline, *block.edges)]
        return _given({"nodes": nodes, "edges": edges, "outputs": outputs})

    def _placed(self, placed: Placed) -> dict[str, object]:
        if isinstance(placed, LoopBlock):
            written: dict[str, object] = {"loop": self._loop(placed)}
        elif isinstance(placed, MapBlock):
            written = {"map": self._map(placed)}
        else:
            assert isinstance(placed, PlacedNode), "a block holds nodes, loops and maps"
            written = self._node(placed)
        return {**written, **_given({"after": list(placed.after), "meta": placed.meta})}

    def _node(self, placed: PlacedNode) -> dict[str, object]:
        where = f"nodes.{placed.id}"
        policy = placed.policy
        kind = placed.type
        if not isinstance(kind, NodeType | str):
            flow = kind.wiring.file or self._nested(kind)
            given = {**self._inputs(placed), "policy": write_policy(policy, where, self.problems)}
            return {"flow": flow, **_given(given)}
        if isinstance(kind, NodeType):
            policy = policy.over(kind.policy)  # `with_` changed the type, which a document only names
            if "<" in kind.id:
                self.problems.append(FUNCTION_UNNAMED(where, function=kind.id))
        parts = {
            "config": write_config(self._found(placed), where, self.problems),
            **self._inputs(placed),
            "policy": write_policy(policy, where, self.problems),
        }
        return {"type": self._id(kind), **_given(parts)}

    def _id(self, kind: NodeType | str) -> str:
        """Write the id under which a pack lists a type, even if it was imported from a module."""
        id = kind if isinstance(kind, str) else kind.id
        if not is_function_name(id):
            return id
        if self.ids is None:
            self.ids = listed_ids()
        if isinstance(kind, str):
            module = id.partition(":")[0]
            return id if "." not in module and is_module(module) else self.ids.get(id, id)
        function = kind.function
        if qualified_id(function) != id or not hasattr(function, "__qualname__"):
            return id
        names = (f"{function.__module__}:{function.__qualname__}", id)
        listed = (self.ids[name] for name in names if name in self.ids)
        return next((one for one in listed if _is_made_of(one, function)), None) or name_of_node(function)

    def _nested(self, flow: Nested) -> dict[str, object]:
        inner = _DocumentWriter(self.problems, self.folder, flow)
        inner.ids = self.ids
        return inner.document(replace(flow.wiring, settings=flow.settings))

    def _found(self, placed: PlacedNode) -> PlacedNode:
        """Return a node of a flow from another folder with absolute paths."""
        kind = placed.type
        if self.flow is None or placed.folder in ("", self.folder) or not isinstance(kind, str):
            return placed
        return with_found_paths(placed, self.flow.find_type(kind))

    def _inputs(self, placed: PlacedNode) -> dict[str, object]:
        """Write the expressions and constants of a node; its plain sources become edges."""
        inputs: dict[str, object] = {}
        values: dict[str, object] = {}
        kind = placed.type if isinstance(placed.type, NodeType | str) else placed.type.node_type
        ports = kind.inputs if isinstance(kind, NodeType) else {}
        for name, source in placed.inputs.items():
            port = f"{placed.id}.{name}"
            if isinstance(source, Literally):
                expected = ports[name].type if name in ports else Any
                values[name] = self.sources.constant(source, port, expected)
            elif isinstance(source, Many) and not _is_plain(source):
                inputs[name] = self.sources.write_all(source.sources, port)
            elif not isinstance(source, Many | Reference):
                inputs[name] = self.sources.write(source, port)
        return {"inputs": inputs, "values": values}

    def _loop(self, loop: LoopBlock) -> dict[str, object]:
        where = f"nodes.{loop.id}.loop"
        written: dict[str, object] = {}
        if loop.limit != LoopBlock(loop.id).limit:
            written["limit"] = loop.limit
        if loop.on_limit != "exit":
            written["on_limit"] = loop.on_limit
        carry: dict[str, object] = {}
        for name, carried in loop.carries.items():
            place = f"{where}.carry.{name}"
            if carried.next is None:
                self.problems.append(CARRY_WITHOUT_NEXT(place))
                continue
            first, following = self.sources.write_all((carried.first, carried.next), place)
            carry[name] = {"first": first, "next": following}
        written |= _given({"carry": carry})
        if loop.test is not None:
            written[loop.test.kind] = self._test(loop.test, where)
        return {**written, **self._block(loop.body, f"{where}.")}

    def _test(self, test: LoopTest, where: str) -> object:
        place = f"{where}.{test.kind}"
        source = self.sources.write(test.source, place)
        if test.function is None:
            return source
        return {"source": source, "test": self.sources.function(test.function, place)}

    def _map(self, block: MapBlock) -> dict[str, object]:
        where = f"nodes.{block.id}.map"
        over = {
            name: self.sources.write(source, f"{where}.over.{name}") for name, source in block.over.items()
        }
        options = self.sources.options(block.options, where)
        return {"over": over, **options, **self._block(block.body, f"{where}.")}


def _is_made_of(id: str, function: object) -> bool:
    """Return whether the type that a pack lists is made of this function, not of another one of its name."""
    try:
        return find_type(id).function is function
    except PackError:
        return False


def _given(parts: dict[str, object]) -> dict[str, object]:
    """Leave out empty parts."""
    return {name: part for name, part in parts.items() if part}


def _is_plain(source: Source | Many) -> bool:
    sources = source.sources if isinstance(source, Many) else (source,)
    return all(isinstance(part, Reference) for part in sources)


def _inline_edges(placed: Placed) -> Iterator[Edge]:
    """Yield the plain sources of a node as edges, as reading does."""
    if isinstance(placed, PlacedNode):
        for port, source in placed.inputs.items():
            for part in source.sources if isinstance(source, Many) else (source,):
                if _is_plain(source) and isinstance(part, Reference):
                    yield Edge(part, placed.id, port)


def _write_edge(edge: Edge) -> dict[str, object]:
    written: dict[str, object] = {"source": edge.source.node}
    if edge.source.port != "out":
        written["source_port"] = edge.source.port
    written |= {"target": edge.target, "target_port": edge.target_port}
    if edge.rounds is not None:
        plain = asdict(Rounds())
        written |= {name: given for name, given in asdict(edge.rounds).items() if given != plain[name]}
    if edge.id is not None:
        written["id"] = edge.id
    return {**written, **_given({"meta": edge.meta})}
