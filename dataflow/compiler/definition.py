"""Definitions: flows under construction that can be checked, compiled and placed in other flows."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from dataflow.base.tracebacks import USER_FRAMES
from dataflow.builder.builder import Builder
from dataflow.builder.declare import flow_type
from dataflow.builder.placement import place_flow
from dataflow.core.functions import import_function
from dataflow.core.keywords import naming_settings
from dataflow.core.policy import Policy, Settings, policy_of
from dataflow.core.ports import MISSING, in_port
from dataflow.core.wiring import flows_within, problem_of_subflow
from dataflow.errors import FlowInvalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.builder.blocks import OpenBlock
    from dataflow.compiler.graph import Graph
    from dataflow.compiler.names import FindFunction, FindType
    from dataflow.compiler.passes import Compiled, Pulled
    from dataflow.compiler.plan import FlowPlan
    from dataflow.core.nodetype import NodeType
    from dataflow.core.policy import NodeErrors, OnError, Retry
    from dataflow.core.wiring import FlowInput, Nested, PlacedNode, Version, Wiring
    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = ["Definition"]

_UNSET: Any = MISSING  # Any, so that signatures show the type of each setting


def _installed(id: str) -> NodeType:
    """Look up a node type by its id; imported late, since finding packs reads metadata."""
    from dataflow.packs.registry import find_type

    return find_type(id)


class Definition(Builder):
    """A builder whose flow is checked and compiled, once for each change."""

    settings = Settings()
    target = ""  # the location of the flow, as FILE of the command line (S20)
    _documented: object = None  # the function that builds it, if any
    _policy = Policy()  # for its use as a node
    _placed_as: str | None = None
    _refused: Sequence[Diagnostic] | None = None  # its problems, while a flow around it is compiled
    _described: tuple[Version, NodeType] | None = None  # of the newest version
    _pulled: tuple[Version, dict[Pulled, FlowPlan]] = (), {}  # plans of single ports, of the newest version
    _find_type: FindType = staticmethod(_installed)
    _find_function: FindFunction = staticmethod(import_function)

    def _restart(self, wiring: Wiring | None = None) -> None:
        super()._restart(wiring)
        self._compiled: dict[Version, Compiled] = {}  # the newest, by version

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            with USER_FRAMES:
                self.compile()

    @property
    def inputs(self) -> Mapping[str, FlowInput]:
        """The declared inputs by name, each with its `type` and `default`."""
        return dict(self.wiring.inputs)

    @property
    def wiring(self) -> Wiring:
        """The graph definition of the flow."""
        return self._wiring

    @property
    def wiring_with_settings(self) -> Wiring:
        """The graph definition with the settings for runs of this flow, as a document has them."""
        return replace(self.wiring, settings=self.settings)

    @property
    def version(self) -> Version:
        """A value that changes with every change of the flow and of its subflows."""
        return tuple(flow.version for flow in flows_within(self.wiring))

    @property
    def node_type(self) -> NodeType:
        """The flow as a node type: its inputs and outputs are the ports. Raises FlowInvalid."""
        version = self.version
        if self._described is None or self._described[0] != version:
            ports = self._whole().ports
            inputs = {
                name: in_port(name, given.type, given.default) for name, given in self._wiring.inputs.items()
            }
            self._described = version, flow_type(self, inputs, ports, self._policy, self._documented)
        return self._described[1]

    @property
    def opaque(self) -> Sequence[str]:
        """The names in the flow that could not be inspected (S20, trust)."""
        return self._whole().opaque

    def place_in(self, block: OpenBlock, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PlacedNode:
        """Place the flow as a node of another."""
        return place_flow(block, self, self._policy, self._placed_as, args, kwargs)

    def check(self) -> list[Diagnostic]:
        """List every problem of the flow without raising; an empty list means that it can run.

        Probable mistakes that do not keep it from running are listed by `warnings`.
        """
        return self.examine().problems_in_order

    def warnings(self) -> list[Diagnostic]:
        """List inputs and nodes that nothing reads, also of subflows; empty for a flow that has problems."""
        from dataflow.compiler.unused import unused  # as below

        found: list[Diagnostic] = []
        seen: set[int] = set()
        todo: list[tuple[str, Nested]] = [("", self)]
        for place, flow in todo:  # grows; each flow once, however often it is used
            if id(flow.wiring) in seen or not isinstance(flow, Definition):
                continue
            seen.add(id(flow.wiring))
            graph = flow.examine()
            if graph.problems:
                return []
            own, wiring = unused(graph), flow.wiring
            found += [problem_of_subflow(place, one, wiring.file) for one in own] if place else own
            todo += [(f"{place}/{one.name}" if place else one.name, one) for one in wiring.nested]
        return found

    def examine(self) -> Graph:
        """Return the graph of the flow with its names resolved and checked, and its problems."""
        from dataflow.compiler.passes import examine  # the compiler, which building a flow does not need

        graph, _ = examine(self.wiring, self._find_type, self._find_function)
        return graph

    def compile(self) -> FlowPlan:
        """Compile the flow unless it has not changed since the last time; raises FlowInvalid."""
        return self._whole().plan

    def _whole(self) -> Compiled:
        """Compile the flow as far as it can be inspected, once for each version."""
        version = self.version
        if self._refused is not None:
            raise FlowInvalid(self.name, self._refused)
        with self._lock:
            compiled = self._compiled.get(version)
            if compiled is None:
                compiled = self._compiled_anew()
                self._compiled.clear()
                self._compiled[version] = compiled
            return compiled

    def _compiled_anew(self) -> Compiled:
        """Compile the flow after its subflows, innermost first, so that none waits for those in it."""
        from dataflow.compiler.passes import compile_whole  # as above

        refused: list[Definition] = []
        try:
            for flow in self._uncompiled():
                try:
                    _ = flow.node_type
                except FlowInvalid as error:
                    flow._refused = error.problems  # noqa: SLF001 - of its own class
                    refused.append(flow)
            return compile_whole(self.wiring, self._find_type, self._find_function)
        finally:
            for flow in refused:
                flow._refused = None  # noqa: SLF001 - as above

    def _uncompiled(self) -> list[Definition]:
        """List the subflows that are not compiled, at any depth, each after those in it."""
        ordered: list[Definition] = []
        seen = {id(self)}
        around: list[tuple[Definition, Iterator[Nested]]] = [(self, iter(self.wiring.nested))]
        while around:
            flow, inner = around[-1]
            for one in inner:
                if not isinstance(one, Definition) or id(one) in seen:
                    continue
                if not one._is_known():  # noqa: SLF001 - of its own class
                    seen.add(id(one))
                    around.append((one, iter(one.wiring.nested)))
                    break
            else:
                around.pop()
                ordered.append(flow)
        return ordered[:-1]

    def _is_known(self) -> bool:
        """Return whether the flow is compiled, or was refused by what is being compiled."""
        return self._refused is not None or self.version in self._compiled

    def compile_other(self, wiring: Wiring) -> FlowPlan:
        """Compile another graph definition with the lookups of this flow; raises FlowInvalid."""
        from dataflow.compiler.passes import compile_flow  # as above

        return compile_flow(wiring, self._find_type, self._find_function)

    @naming_settings("with_")
    def with_(
        self,
        *,
        name: str = _UNSET,
        retries: Retry | int = _UNSET,
        timeout: float | None = _UNSET,
        deadline: float | None = _UNSET,
        on_error: OnError = _UNSET,
        default: object = _UNSET,
        enabled: bool = _UNSET,
        errors: NodeErrors = _UNSET,
    ) -> Self:
        """Return the flow with a name or settings for its use as a node; this one is not changed.

        The settings are those of `node`; settings that are not given keep their values. Each attempt runs
        the whole flow again. `errors="collect"` finishes the nodes that do not depend on a failure, and
        replaces each output that failed by a `Failure`.
        """
        policy = policy_of(
            retries=retries, timeout=timeout, deadline=deadline, on_error=on_error, default=default,
            enabled=enabled, errors=errors,
        )  # fmt: skip
        other = self._copied()
        other._policy = policy.over(self._policy)  # noqa: SLF001 - of its own class
        other._placed_as = self._placed_as if name is _UNSET else name  # noqa: SLF001 - as above
        return other

    def _copied(self) -> Self:
        """Copy a flow; both share the graph definition."""
        _ = self.wiring
        other = copy.copy(self)
        other._described = None  # noqa: SLF001 - of its own class
        return other

    def rewired(self, wiring: Wiring) -> Self:
        """Return a copy of the flow with another graph definition."""
        other = self._copied()
        other._pulled = (), {}  # noqa: SLF001 - of its own class
        other._restart(wiring)  # noqa: SLF001 - as above
        return other

    def find_type(self, id: str) -> NodeType:
        """Look up a node type by the id that the flow uses; raises DataflowError."""
        return self._find_type(id)

    def compile_for(self, port: object) -> FlowPlan:
        """Compile only the dependencies of a port of the flow; raises DataflowError if it does not exist."""
        from dataflow.compiler.addresses import Addresses  # as above
        from dataflow.compiler.passes import Pulled, compile_flow

        whole, version = self.compile(), self.version
        addresses = Addresses(whole)
        if addresses.output(port) is not None:
            assert isinstance(port, str), "an output is given by its name"
            pulled = Pulled(port, self.wiring.block.outputs[port])
        else:
            source = addresses.reference(port)
            pulled = Pulled(str(source), source)
        with self._lock:
            if self._pulled[0] != version:
                self._pulled = version, {}
            plans = self._pulled[1]
            if pulled not in plans:
                plans[pulled] = compile_flow(self.wiring, self._find_type, self._find_function, pulled=pulled)
            return plans[pulled]
