"""Looking up what a flow names: node types and functions (S1.2, S20)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from dataflow.base.wording import choices, read_place, within_file, write_place
from dataflow.compiler.graph import Spot
from dataflow.core.context import POLICIES
from dataflow.core.functions import NamedFunction, check_function
from dataflow.core.nodetype import VALUE, NodeType, opaque_type
from dataflow.errors import DataflowError, FlowInvalid
from dataflow.expressions.expression import ExpressionOf

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.compiler.graph import Graph
    from dataflow.core.config import Config
    from dataflow.core.context import MergePolicy
    from dataflow.core.policy import EachOptions
    from dataflow.core.wiring import LoopBlock, LoopTest, Nested

__all__ = ["FindFunction", "FindType", "Lookup"]

FindType: TypeAlias = "Callable[[str], NodeType]"
#: Finds a named function; None says that it is not to be looked into (S20, trust).
FindFunction: TypeAlias = "Callable[[str], Callable[..., Any] | None]"


class Lookup:
    """Finds what is named. What is not found is a problem; what may not be looked into is listed."""

    def __init__(self, graph: Graph, find_type: FindType, find_function: FindFunction) -> None:
        self._graph = graph
        self._find_type = find_type
        self._find_function = find_function
        self._found: dict[str, NodeType | DataflowError] = {}  # each id is looked up once

    def type(self, given: NodeType | Nested | str, where: Spot) -> NodeType:
        """Return a node type that is given itself, by its id or as a flow."""
        if isinstance(given, NodeType):
            return given
        if not isinstance(given, str):
            return self._flow(given, where)
        found = self._found.get(given)
        if found is None:
            found = self._found[given] = self._looked_up(given)
        if isinstance(found, DataflowError):
            problems = found.problems if isinstance(found, FlowInvalid) else (str(found),)
            for problem in problems:
                self._graph.problem(f"{where}: {problem}", where.within("type"))
            return opaque_type(given)
        if found.is_opaque:
            self._graph.opaque.append(found.id)
        return found

    def _looked_up(self, id: str) -> NodeType | DataflowError:
        try:
            return self._find_type(id)
        except DataflowError as error:
            return error

    def _flow(self, flow: Nested, where: Spot) -> NodeType:
        """Return the node type of a flow; its problems are those of the flow around it."""
        try:
            found = flow.node_type
        except FlowInvalid as invalid:
            for problem in invalid.problems:
                self._problem_within(flow, problem, where)
            return opaque_type(flow.name)
        self._graph.opaque.extend(flow.opaque)
        return found

    def _problem_within(self, flow: Nested, problem: str, where: Spot) -> None:
        """Tell a problem of a flow that is a node: of a file with the place there, else where it stands."""
        text, line, column = read_place(problem)
        if line is None or column is None:
            self._graph.problem(f"{where}, flow {flow.name!r}: {text}", where)
        elif flow.wiring.file:
            told = within_file(flow.wiring.file, problem)
            self._graph.problem(f"{where}, flow {flow.name!r}: {told}", where.within("flow"))
        else:
            told = write_place(f"{where}, flow {flow.name!r}: {text}", line, column)
            self._graph.problems.append(told)

    def function(self, given: Callable[..., Any], where: Spot, takes: str = "value") -> Callable[..., Any]:
        """Return a function; one that cannot be found by its name, or be compiled or called, is a problem."""
        try:
            if isinstance(given, ExpressionOf):
                return given.compiled()
            if not isinstance(given, NamedFunction):
                return given
            found = self._find_function(given.name)
            check_function(found, takes)
        except (DataflowError, ValueError) as error:
            self._graph.problem(f"{where}: {error}", where)
            return given
        if found is None:
            self._graph.opaque.append(given.name)
        return found or given

    def options(self, options: EachOptions, where: Spot) -> EachOptions:
        """Look up the key function of a map."""
        return (
            options
            if options.key is None
            else replace(options, key=self.function(options.key, where.within("key"), "item"))
        )

    def policy(self, how: str | Callable[..., Any], where: Spot) -> Callable[..., Any]:
        """Look up how conversations are merged: a policy by its name, or a plain function (S10.4)."""
        if isinstance(how, str):
            found = POLICIES.get(cast("MergePolicy", how))
            if found is None:
                known = f"{choices(POLICIES)}, or a function"
                self._graph.problem(f"{where}: how of merge_contexts cannot be {how!r}; {known}", where)
            return found or POLICIES["pick"]
        if not isinstance(how, NamedFunction):
            try:
                check_function(how, "contexts")
            except ValueError as error:
                self._graph.problem(f"{where}: how of merge_contexts: {error}", where)
        return self.function(how, where.part(": how of merge_contexts"), "contexts")

    def test(self, loop: LoopBlock, where: Spot) -> LoopTest | None:
        """Look up the function of a loop's test."""
        test = loop.test
        if test is None or test.function is None:
            return test
        spot = Spot(f"the test of {where}", where.scope, (*where.steps, "loop", test.kind))
        return replace(test, function=self.function(test.function, spot))

    def config(self, config: Config | None, where: Spot) -> Config | None:
        """Look up the functions that a branch's config names, and compile its conditions."""
        if config is None:
            return None
        from dataflow.builder.builtin import (  # they are pydantic models, which take a while to make
            Choose,
            Decide,
        )

        match config:
            case Decide(condition=str(source)):
                return config.decided_by(
                    self._condition(source, where.part(", config condition", "config", "condition"))
                )
            case Choose(cases=dict(cases)):
                return config.decided_by(
                    {
                        case: self._condition(
                            source, where.part(f", config cases.{case}", "config", "cases", case)
                        )
                        for case, source in cases.items()
                    }
                )
            case Decide() | Choose():
                name = "predicate" if isinstance(config, Decide) else "pick"
                given = getattr(config, name)
                named = NamedFunction(given) if isinstance(given, str) else given
                return config.model_copy(
                    update={name: self.function(named, where.part(f", config {name}", "config", name))}
                )
            case _:
                return config

    def _condition(self, source: str, where: Spot) -> Callable[[Any], bool]:
        return self.function(ExpressionOf(VALUE, source, is_condition=True), where)
