"""Give each entry of a graph definition a vertex, and look names up in its scopes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from dataflow.compiler.graph import (
    PARAMETER_OF,
    CallAction,
    Graph,
    LoopAction,
    MapAction,
    Scope,
    ScopeKind,
    Spot,
    Terminal,
    Vertex,
)
from dataflow.core.context import POLICIES
from dataflow.core.functions import NamedFunction, check_function
from dataflow.core.nodetype import VALUE, ConfigProblem, NodeType, opaque_type
from dataflow.core.policy import NO_POLICY
from dataflow.core.ports import MISSING
from dataflow.core.wiring import (
    PARAMETERS,
    LoopBlock,
    MapBlock,
    PlacedNode,
    problem_of_subflow,
    unreported,
    wrong_limit,
)
from dataflow.diagnostics.graphs import (
    LOOP_ENDLESS,
    MAP_WITHOUT_LIST,
    NODE_ID_RESERVED,
    NODE_ID_SHADOWED,
    SETTING_INVALID,
)
from dataflow.errors import DataflowError, FlowInvalid, problem_of
from dataflow.expressions.expression import ExpressionOf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dataflow.core.config import Config
    from dataflow.core.context import MergePolicy
    from dataflow.core.policy import EachOptions
    from dataflow.core.wiring import Block, LoopTest, Nested, Placed, Reference, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["SCOPES", "Declarations", "FindFunction", "FindType", "Lookup", "Names"]

#: Ids that no node may have.
RESERVED: Final = frozenset({"", *PARAMETERS})
#: The kind of scope by the word that replaces the node in references to its parameters.
SCOPES: Final = {word: kind for kind, word in PARAMETER_OF.items()}
FindType: TypeAlias = "Callable[[str], NodeType]"
#: Finds a named function; returns None if it may not be inspected (S20, trust).
FindFunction: TypeAlias = "Callable[[str], Callable[..., Any] | None]"


@dataclass(slots=True, eq=False)
class Names:
    """The names of one block, looked up outwards."""

    scope: Scope
    around: Names | None = None
    vertices: dict[str, Vertex] = field(default_factory=dict)
    known: dict[Reference, Terminal] = field(default_factory=dict)  # ports that have been looked up

    def find(self, reference: Reference) -> Terminal | None:
        """Look a port up, from this block outwards; None if it cannot be read here."""
        found = self.known.get(reference)
        if found is None and (found := self._look_up(reference)) is not None:
            self.known[reference] = found
        return found

    def _look_up(self, reference: Reference) -> Terminal | None:
        node, port = reference
        if node in SCOPES:
            scopes = (names.scope for names in self.outwards() if names.scope.kind is SCOPES[node])
            scope = next((scope for scope in scopes if port in scope.parameters), None)
            return None if scope is None else Terminal(scope, port)
        vertex = self.vertex(node)
        if vertex is None or not vertex.has_output(port):
            return None
        if self.around is not None and self.is_inside(vertex):
            return None
        return Terminal(vertex, port)

    def vertex(self, id: str) -> Vertex | None:
        """Look a vertex up, from this block outwards."""
        names: Names | None = self
        while names is not None:
            if (found := names.vertices.get(id)) is not None:
                return found
            names = names.around
        return None

    def is_inside(self, vertex: Vertex) -> bool:
        """Return whether this block is in the body of a vertex, whose outputs are known only at its end."""
        return any(names.scope.owner is vertex for names in self.outwards())

    def outwards(self) -> Iterator[Names]:
        names: Names | None = self
        while names is not None:
            yield names
            names = names.around


class Declarations:
    """The graph of a flow as declared, and the names of each of its blocks."""

    def __init__(self, wiring: Wiring, find_type: FindType, find_function: FindFunction) -> None:
        root = Scope(ScopeKind.ROOT, parameters=dict.fromkeys(wiring.inputs))
        self.graph = Graph(wiring, root, problems=list(wiring.problems))
        self.lookup = Lookup(self.graph, find_type, find_function)
        self.blocks: list[tuple[Block, Names]] = [(wiring.block, Names(root))]
        self._inside = {id(wiring.block): self.root}
        self._calls: dict[NodeType, CallAction] = {}  # of nodes without their own config or policy
        for block, names in self.blocks:  # grows during the iteration
            for position, placed in enumerate(block.nodes.values()):
                self._declare(placed, names, position)

    @property
    def root(self) -> Names:
        return self.blocks[0][1]

    def inside(self, body: Block) -> Names:
        """Return the names of a body."""
        return self._inside[id(body)]

    def _declare(self, placed: Placed, names: Names, position: int) -> None:
        name = placed.id
        if name in RESERVED:
            self.graph.problem(NODE_ID_RESERVED(), _spot(placed, names))
        if names.vertex(name) is not None:
            self.graph.problem(NODE_ID_SHADOWED(), _spot(placed, names))
        vertex = Vertex(name, 2 * position + 1, self._action(placed, names), names.scope)
        if isinstance(placed, LoopBlock | MapBlock):
            assert isinstance(vertex.action, LoopAction | MapAction), "as it was placed"
            vertex.action.scope.owner = vertex
            inner = self._inside[id(placed.body)] = Names(vertex.action.scope, names)
            self.blocks.append((placed.body, inner))
        names.vertices[name] = vertex
        self.graph.vertices.append(vertex)

    def _action(self, placed: Placed, names: Names) -> CallAction | LoopAction | MapAction:
        if isinstance(placed, PlacedNode):
            return self._call(placed, names)
        spot = _spot(placed, names)
        match placed:
            case LoopBlock():
                self._check_limit(placed, spot.within("loop"))
                scope = Scope(ScopeKind.LOOP, parameters=dict.fromkeys(placed.carries))
                return LoopAction(placed, scope, self.lookup.test(placed, spot))
            case MapBlock():
                if not placed.over:
                    self.graph.problem(MAP_WITHOUT_LIST(), spot.part("over", "map", "over"))
                scope = Scope(ScopeKind.MAP, parameters=dict.fromkeys(placed.over))
                options = self.lookup.options(placed.options, spot.within("map"))
                return MapAction(scope, options, outputs=tuple(placed.body.outputs))

    def _check_limit(self, loop: LoopBlock, spot: Spot) -> None:
        if wrong_limit(loop.limit) is not None:
            problem = SETTING_INVALID(expected="an integer of at least 1, or None", found=repr(loop.limit))
            self.graph.problem(problem, spot.part("limit", "limit"))
        if loop.on_limit not in ("exit", "fail"):
            problem = SETTING_INVALID(found=repr(loop.on_limit), available=("exit", "fail"))
            self.graph.problem(problem, spot.part("on_limit", "on_limit"))
        if loop.limit is None and loop.test is None:
            self.graph.problem(LOOP_ENDLESS(), spot.within("limit"))

    def _call(self, placed: PlacedNode, names: Names) -> CallAction:
        node_type = placed.type
        if not isinstance(node_type, NodeType):
            node_type = self.lookup.type(node_type, _spot(placed, names))
        if placed.config is not MISSING or placed.policy is not NO_POLICY:
            return self._configured(placed, node_type, _spot(placed, names))
        action = self._calls.get(node_type)
        if action is None:
            action = self._configured(placed, node_type, _spot(placed, names))
            if node_type.ports_of is None and node_type.parameters.config is None:
                self._calls[node_type] = action
        return action

    def _configured(self, placed: PlacedNode, node_type: NodeType, spot: Spot) -> CallAction:
        if node_type.is_opaque:
            return CallAction(node_type, placed.policy)
        config, problems = node_type.read_config(placed.config, placed.config_is_json, placed.folder)
        if not problems:
            config = self.lookup.config(config, spot)
            try:
                node_type = node_type.configured(config)
            except FlowInvalid as invalid:
                if node_type.flow_of is None:
                    problems = [ConfigProblem(text) for text in invalid.problems]
                else:
                    self.lookup.report_within(invalid, spot)
        for text, steps in problems:
            self.graph.problem(text, spot.within("config", *steps))
        if problems and node_type.ports_of is not None:  # its ports are not known
            node_type = replace(opaque_type(node_type.id), policy=node_type.policy)
        return CallAction(node_type, placed.policy.over(node_type.policy), config)


def _spot(placed: Placed, names: Names) -> Spot:
    return Spot(placed.id, names.scope, ("nodes", placed.id))


class Lookup:
    """Finds types and functions by name. A missing one is a problem; those not inspected are listed."""

    def __init__(self, graph: Graph, find_type: FindType, find_function: FindFunction) -> None:
        self._graph = graph
        self._find_type = find_type
        self._find_function = find_function
        self._found: dict[str, NodeType | DataflowError] = {}  # each id is looked up once
        self._reported: set[Diagnostic] = set()  # the problems of subflows

    def type(self, given: NodeType | Nested | str, where: Spot) -> NodeType:
        """Return the node type of an entry that has a type, an id or a subflow."""
        if isinstance(given, NodeType):
            return given
        if not isinstance(given, str):
            return self._flow(given, where)
        found = self._found.get(given)
        if found is None:
            found = self._found[given] = self._looked_up(given)
        if isinstance(found, DataflowError):
            for problem in found.diagnostics:
                self._graph.problem(problem, self._uses_of(problem, given) or where.within("type"))
            return opaque_type(given)
        if found.is_opaque:
            self._graph.opaque.append(found.id)
        return found

    def _uses_of(self, problem: Diagnostic, name: str) -> Spot | None:
        """Return the location under `uses` if a problem is that of the file, not of what is used of it."""
        prefix = re.split("[.:]", name, maxsplit=1)[0]
        if prefix not in self._graph.wiring.uses or not f"{problem.place}:".startswith(f"uses {prefix}:"):
            return None
        return Spot("", self._graph.root, ("uses", prefix))

    def _looked_up(self, id: str) -> NodeType | DataflowError:
        try:
            return self._find_type(id)
        except DataflowError as error:
            return error

    def _flow(self, flow: Nested, where: Spot) -> NodeType:
        """Return the node type of a subflow; its problems become problems of the flow around it."""
        try:
            found = flow.node_type
        except FlowInvalid as invalid:
            self.report_within(invalid, where, flow.wiring.file)
            return opaque_type(flow.name)
        self._graph.opaque.extend(flow.opaque)
        return found

    def report_within(self, invalid: FlowInvalid, where: Spot, file: str = "") -> None:
        """Record the problems of a subflow, with the locations in its own file if it has one."""
        for problem in unreported(invalid.problems, self._reported):
            found = problem_of_subflow(where, problem, file)
            self._graph.problem(found, where._replace(label="").within("flow"))

    def function(self, given: Callable[..., Any], where: Spot, takes: str = "value") -> Callable[..., Any]:
        """Return a function; it is a problem if it cannot be found, compiled or called."""
        try:
            if isinstance(given, ExpressionOf):
                return given.compiled()
            if not isinstance(given, NamedFunction):
                return given
            found = self._find_function(given.name)
            check_function(found, takes)
        except DataflowError as error:
            named = given.name if isinstance(given, NamedFunction) else ""
            for problem in error.diagnostics:
                self._graph.problem(problem, self._uses_of(problem, named) or where)
            return given
        except ValueError as error:
            self._graph.problem(problem_of(error), where)
            return given
        if found is None:
            self._graph.opaque.append(given.name)
        return found or given

    def options(self, options: EachOptions, where: Spot) -> EachOptions:
        """Look up the key function of a map."""
        if options.key is None:
            return options
        return replace(options, key=self.function(options.key, where.part("key", "key"), "item"))

    def policy(self, how: str | Callable[..., Any], where: Spot) -> Callable[..., Any]:
        """Look up how contexts are merged: a policy by its name, or a plain function (S10.4)."""
        if isinstance(how, str):
            found = POLICIES.get(cast("MergePolicy", how))
            if found is None:
                problem = SETTING_INVALID(found=repr(how), available=(*POLICIES, "a function"))
                self._graph.problem(problem, where.part("how"))
            return found or POLICIES["pick"]
        spot = where.part("how")
        if not isinstance(how, NamedFunction):
            try:
                check_function(how, "contexts")
            except ValueError as error:
                self._graph.problem(problem_of(error), spot)
        return self.function(how, spot, "contexts")

    def test(self, loop: LoopBlock, where: Spot) -> LoopTest | None:
        """Look up the function of a loop's test."""
        test = loop.test
        if test is None or test.function is None:
            return test
        spot = where.part(test.kind, "loop", test.kind)
        return replace(test, function=self.function(test.function, spot))

    def config(self, config: Config | None, where: Spot) -> Config | None:
        """Look up the functions that a branch's config names, and compile its conditions."""
        if config is None:
            return None
        from dataflow.builder.builtin import Choose, Decide  # pydantic models, which load slowly

        match config:
            case Decide(condition=str(source)):
                return config.decided_by(
                    self._condition(source, where.part("config.condition", "config", "condition"))
                )
            case Choose(cases=dict(cases)):
                return config.decided_by(
                    {
                        case: self._condition(
                            source, where.part(f"config.cases.{case}", "config", "cases", case)
                        )
                        for case, source in cases.items()
                    }
                )
            case Decide() | Choose():
                name = "predicate" if isinstance(config, Decide) else "pick"
                given = getattr(config, name)
                named = NamedFunction(given) if isinstance(given, str) else given
                return config.model_copy(
                    update={name: self.function(named, where.part(f"config.{name}", "config", name))}
                )
            case _:
                return config

    def _condition(self, source: str, where: Spot) -> Callable[[Any], bool]:
        return self.function(ExpressionOf(VALUE, source, is_condition=True), where)
