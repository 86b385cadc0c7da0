"""The native format: read a YAML or JSON document as a graph definition.

All problems of a document are reported together, each with line and column. Names are looked up when the
graph definition is compiled.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import ValidationError

from dataflow.core.config import type_of_schema
from dataflow.core.discovery import OWN_PACKS
from dataflow.core.ports import MISSING
from dataflow.core.wiring import (
    Block,
    Carried,
    Edge,
    FlowInput,
    Literally,
    LoopBlock,
    LoopTest,
    Many,
    MapBlock,
    PlacedNode,
    Reference,
    Rounds,
    Wiring,
    parse_reference,
    unreported,
)
from dataflow.diagnostics.documents import (
    FIELD_MISPLACED,
    FORMAT_NEWER,
    NAME_RESERVED,
    NOT_A_DOCUMENT,
    SOURCE_AND_VALUE,
    VALUE_REFUSED,
)
from dataflow.errors import DataflowError, FlowInvalid, FormatError, ValueMismatch, problem_of
from dataflow.expressions.expression import written_function
from dataflow.formats.native.document import (
    FORMAT,
    FlowDocument,
    FlowNode,
    LoopNode,
    LoopPart,
    LoopTestPart,
    MapNode,
    TypeNode,
)
from dataflow.formats.native.settings import SourceReader, read_options, read_policy, read_settings
from dataflow.formats.problems import (
    Problem,
    describe_value,
    problems_of,
    problems_of_file,
    report,
)
from dataflow.formats.reader import read
from dataflow.formats.tree import Within
from dataflow.types.validation import check_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.core.wiring import Nested, Placed, Places, Source
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.formats.native.document import BlockPart, Node
    from dataflow.formats.native.parts import EdgePart, InputPart
    from dataflow.formats.native.parts import Source as SourcePart
    from dataflow.formats.tree import DocumentPath

__all__ = ["Nest", "checked", "files_in", "load", "wire"]

#: Makes a node of a subflow, given by its graph definition or by the path of its file; raises FormatError or
#: FlowInvalid.
Nest: TypeAlias = "Callable[[Wiring | str], Nested]"


def load(text: str, name: str, nest: Nest) -> Wiring:
    """Read a document as a graph definition; `name` is that of its file, and the default name of the flow.

    `nest` makes nodes of the subflows. Raises FormatError for an unreadable file, FlowInvalid for an
    invalid flow document.
    """
    data, positions = read(text, name)
    return wire(checked(data, positions, name), positions, name, nest)


def wire(document: FlowDocument, places: Places, name: str, nest: Nest) -> Wiring:
    """Convert a document to a graph definition, as `load` does; `places` are the positions of its parts."""
    reading = _DocumentReader(nest, places, str(PurePath(name).parent))
    wiring = reading.wiring(document, PurePath(name).stem or "flow", ())
    if reading.problems:
        raise FlowInvalid(name, report(reading.problems, places))
    return wiring


def checked(data: Any, places: Places, name: str) -> FlowDocument:
    """Validate the data of a document. Raises as `load` does."""
    if not isinstance(data, dict):
        expected = f"a mapping with `dataflow: {FORMAT}`"
        problem = NOT_A_DOCUMENT(expected=expected, found=describe_value(data))
        raise FormatError(name, problem.at(places.find(())))
    number = data.get("dataflow")
    if type(number) is int and number > FORMAT:
        problem = FORMAT_NEWER(expected=FORMAT, found=describe_value(number))
        raise FormatError(name, problem.at(places.find(("dataflow",))))
    try:
        return FlowDocument.model_validate(data)
    except ValidationError as error:
        raise FlowInvalid(name, report(problems_of(error, data), places)) from error


def files_in(document: FlowDocument) -> Iterator[str]:
    """Yield the path of each file that a document nests, also in its loops, maps and nested documents."""
    blocks: list[BlockPart] = [document]
    for block in blocks:  # grows while it is walked
        for node in block.nodes.values():
            match node:
                case FlowNode(flow=str(path)):
                    yield path
                case FlowNode(flow=FlowDocument() as inner) | LoopNode(loop=inner) | MapNode(map=inner):
                    blocks.append(inner)
                case _:
                    continue


class _DocumentReader:
    """Converts one document to a graph definition, and collects its problems."""

    def __init__(self, nest: Nest, places: Places, folder: str) -> None:
        self.problems: list[Problem] = []
        self.nest = nest
        self.reported: set[Diagnostic] = set()  # the problems of nested files
        self.nested: list[Nested] = []  # in the document, or nested document, that is being read
        self.places = places
        self.folder = folder
        self.sources = SourceReader(self.problems)

    def problem(self, path: DocumentPath, problem: Diagnostic) -> None:
        self.problems.append(Problem(path, problem))

    def wiring(self, document: FlowDocument, name: str, path: DocumentPath) -> Wiring:
        """Read a whole document, or the subflow at a path."""
        around, self.nested = self.nested, []
        block = self._block(document, path)
        nested, self.nested = self.nested, around
        return Wiring(
            name=document.name or name,
            inputs={
                name: self._input(part, (*path, "inputs", name)) for name, part in document.inputs.items()
            },
            block=block,
            nested=nested,
            settings=read_settings(document.using),
            uses=self._uses(document.uses, (*path, "uses")),
            meta=document.meta,
            places=Within(self.places, path) if path else self.places,
            folder=self.folder,
        )

    def _uses(self, uses: dict[str, str], path: DocumentPath) -> dict[str, str]:
        for prefix in sorted(uses.keys() & set(OWN_PACKS)):
            self.problem((*path, prefix), NAME_RESERVED(name=prefix, meaning="a pack of the engine"))
        return uses

    def _input(self, part: InputPart, path: DocumentPath) -> FlowInput:
        schema = part.type if "type" in part.model_fields_set else None
        try:
            kind = type_of_schema(part.type)
        except ValueError as error:
            several = error.diagnostics if isinstance(error, DataflowError) else [VALUE_REFUSED(error=error)]
            for problem in several:
                self.problem((*path, "type"), problem)
            return FlowInput(Any, MISSING, schema)
        if "default" not in part.model_fields_set:
            return FlowInput(kind, MISSING, schema)
        try:
            return FlowInput(kind, check_json(part.default, kind), schema)
        except ValueMismatch as mismatch:
            self.problem((*path, "default"), problem_of(mismatch, VALUE_REFUSED))
            return FlowInput(kind, MISSING, schema)

    def _block(self, part: BlockPart, path: DocumentPath) -> Block:
        """Read nodes and edges: the plain sources of nodes come first, in declared order."""
        block = Block()
        for id, node in part.nodes.items():
            block.nodes[id] = self._placed(id, node, (*path, "nodes", id), block)
        for index, edge in enumerate(part.edges):
            block.edges.append(_edge(edge, index))
        read = self.sources.read_output_of_loop if isinstance(part, LoopPart) else self.sources.read
        for name, output in part.outputs.items():
            block.outputs[name] = read(output, (*path, "outputs", name))
        return block

    def _placed(self, id: str, node: Node, path: DocumentPath, block: Block) -> Placed:
        match node:
            case TypeNode():
                return self._node(id, node, path, block)
            case LoopNode():
                return self._loop(id, node, (*path, "loop"))
            case MapNode(map=part):
                inner = (*path, "map")
                return MapBlock(
                    id, node.after or (), node.meta,
                    over=self._named(part.over, (*inner, "over")),
                    options=read_options(part),
                    body=self._block(part, inner),
                )  # fmt: skip
            case FlowNode():
                return self._flow(id, node, path, block)

    def _node(self, id: str, node: TypeNode, path: DocumentPath, block: Block) -> PlacedNode:
        placed = PlacedNode(id, node.after or (), node.meta, type=node.type, policy=read_policy(node.policy))
        if "config" in node.model_fields_set:
            placed.config, placed.config_is_json, placed.folder = node.config, True, self.folder
        if "errors" in node.policy.model_fields_set:
            self.problem((*path, "policy", "errors"), FIELD_MISPLACED(where="on nodes of a subflow"))
        self._feed(placed, node, path, block)
        return placed

    def _flow(self, id: str, node: FlowNode, path: DocumentPath, block: Block) -> PlacedNode:
        placed = PlacedNode(id, node.after or (), node.meta, policy=read_policy(node.policy))
        given = node.flow
        if "limit" in node.policy.model_fields_set:
            self.problem((*path, "policy", "limit"), FIELD_MISPLACED(where="on nodes of a node type"))
        try:
            flow = self.nest(given if isinstance(given, str) else self.wiring(given, id, (*path, "flow")))
            placed.type = flow
            self.nested.append(flow)
        except (FormatError, FlowInvalid) as error:
            for problem in unreported(problems_of_file(error), self.reported):
                self.problem((*path, "flow"), problem)
        self._feed(placed, node, path, block)
        return placed

    def _feed(self, placed: PlacedNode, node: TypeNode | FlowNode, path: DocumentPath, block: Block) -> None:
        for port, given in node.inputs.items():
            self._wire(placed, port, given, (*path, "inputs", port), block)
        for port, value in node.values.items():
            if port in placed.inputs:
                self.problem((*path, "values", port), SOURCE_AND_VALUE(port=port))
            placed.give(port, Literally(value, is_json=True))

    def _wire(
        self,
        placed: PlacedNode,
        port: str,
        given: SourcePart | list[SourcePart],
        path: DocumentPath,
        block: Block,
    ) -> None:
        """Connect a port: plain sources become edges, other sources are kept with the node."""
        if isinstance(given, str):  # the common case
            block.edges.append(Edge(parse_reference(given), placed.id, port))
            return
        if isinstance(given, list):
            sources = tuple(self.sources.read(part, (*path, index)) for index, part in enumerate(given))
        else:
            sources = (self.sources.read(given, path),)
        plain = [source for source in sources if isinstance(source, Reference)]
        if len(plain) == len(sources):
            block.edges.extend(Edge(source, placed.id, port) for source in plain)
        else:
            placed.give(port, sources[0] if len(sources) == 1 else Many(sources))

    def _loop(self, id: str, node: LoopNode, path: DocumentPath) -> LoopBlock:
        part = node.loop
        return LoopBlock(
            id, node.after or (), node.meta,
            limit=part.limit,
            on_limit=part.on_limit,
            carries={
                name: Carried(
                    self.sources.read(carry.first, (*path, "carry", name, "first")),
                    self.sources.read(carry.next, (*path, "carry", name, "next")),
                )
                for name, carry in part.carry.items()
            },
            test=self._test(part, path),
            body=self._block(part, path),
        )  # fmt: skip

    def _test(self, part: LoopPart, path: DocumentPath) -> LoopTest | None:
        kind: Literal["until", "while"] = "until" if part.while_ is None else "while"
        test = part.until if part.while_ is None else part.while_
        if test is None:
            return None
        if isinstance(test, LoopTestPart):
            source = self.sources.read(test.source, (*path, kind, "source"))
            return LoopTest(kind, source, written_function(test.test, "value", is_condition=True))
        return LoopTest(kind, self.sources.read(test, (*path, kind)))

    def _named(self, parts: dict[str, SourcePart], path: DocumentPath) -> dict[str, Source]:
        return {name: self.sources.read(part, (*path, name)) for name, part in parts.items()}


def _edge(part: EdgePart, index: int) -> Edge:
    rounds = Rounds(part.feedback, part.limit, part.on_limit, part.each_round, part.leave)
    source, given = Reference(part.source, part.source_port), None if rounds == Rounds() else rounds
    return Edge(source, part.target, part.target_port, part.id, part.meta, index, given)
