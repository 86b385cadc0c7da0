"""What a flow comes to, computed on demand: the rules S1.6 to S9.4, read without a scheduler.

`Reference.token(frame, source)` is the value of a source in one instance of a scope; whatever it needs is
computed first, and once. Nothing here knows of time: a run may settle its firings in any order, and has to
come to the same. Failures are those of a run that goes on after an error.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dataflow.base.failure import Failure
from dataflow.core.ports import DONE, ERROR, SKIP, Signal
from dataflow.formats.native.document import (
    BlockPart,
    FlowDocument,
    FlowNode,
    LoopNode,
    MapNode,
    Node,
    TypeNode,
)
from dataflow.formats.native.parts import (
    ConstantSource,
    EverySource,
    FallbackSource,
    GatherSource,
    MergeSource,
    PolicyPart,
    RaceSource,
    Source,
)
from tests.properties.document_reading import (
    In,
    Read,
    by_node,
    demanded,
    inputs_of,
    is_enabled,
    parted,
    reads_of,
    signature_of,
    sources_of,
)
from tests.properties.reference_blocks import ended, fire_flow, fire_loop, fire_map, flow_frame
from tests.properties.reference_tokens import (
    BrokenFlowError,
    Dead,
    Firing,
    Frame,
    Outcome,
    is_error,
    is_skip,
    joined,
    listed,
)


def _first(tokens: list[Any]) -> Any:
    """Return the first that is not a skip, as merge and fallback do."""
    return next((token for token in tokens if not is_skip(token)), joined(tokens))


class Reference:
    """Reads flows of the types `t.<function>` and the built-in branches.

    `functions` are named as types are; `call(path, attempt, function, *arguments)` calls one, and `answer`
    gives the answer to the ask of a path.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., Any]],
        call: Callable[..., Any],
        answer: Callable[[str], Any],
    ) -> None:
        self.functions = functions
        self.call = call
        self.answer = answer
        self.joins: set[str] = set()  # which kinds of joins had live sources beside dead ones
        self._reads: dict[int, dict[str, list[Read]]] = {}
        self._demanded: dict[int, list[str]] = {}

    def run(self, document: FlowDocument, inputs: Mapping[str, Any]) -> Outcome:
        """Come to the end of a run."""
        root = flow_frame(document, "", inputs, "fail_fast")
        outputs = ended(self, root)
        firings: dict[str, tuple[Firing, Frame]] = {}
        todo = [root]
        for frame in todo:  # grows while it is walked
            for id in frame.block.nodes:
                path = frame.path_of(id)
                never = Firing("not_run", rest=joined([], frame.path, path))
                firings[path] = frame.firings.get(id, never), frame
                todo += frame.opened.get(id, [])
        return Outcome(outputs, firings, root)

    def reads(self, block: BlockPart) -> dict[str, list[Read]]:
        """Return the uses of each node of a block."""
        if id(block) not in self._reads:
            self._reads[id(block)] = by_node(reads_of(block, self.functions))
        return self._reads[id(block)]

    def demanded(self, block: BlockPart) -> list[str]:
        """Return the nodes that a frame of a block runs without being asked for them."""
        if id(block) not in self._demanded:
            self._demanded[id(block)] = demanded(block, self.reads(block))
        return self._demanded[id(block)]

    def function(self, name: str) -> Callable[[Any], Any]:
        return self.functions[name.replace(":", ".")]

    # what ports read

    def token(self, frame: Frame, source: Source) -> Any:
        """Return the value of a source, or why it has none (S5.3)."""
        match source:
            case str():
                return self._named(frame, *parted(source))
            case ConstantSource(value=value):
                return copy.deepcopy(value)
            case GatherSource(gather=parts):
                return listed(self._tokens(frame, "gather", parts))
            case MergeSource(merge=parts):
                return _first(self._tokens(frame, "merge", parts))
            case FallbackSource(fallback=parts):
                return _first(self._tokens(frame, "fallback", parts))
            case RaceSource(race=parts):
                return self._race(frame, source, self._tokens(frame, "race", parts))
            case EverySource(every=parts):  # in the lists of a map alone
                tokens = self._tokens(frame, "a map over edges", parts)
                return joined(tokens) if all(isinstance(token, Dead) for token in tokens) else tokens
        raise NotImplementedError(type(source).__name__)

    def _tokens(self, frame: Frame, join: str, sources: Sequence[Source]) -> list[Any]:
        tokens = [self.token(frame, source) for source in sources]
        if len({isinstance(token, Dead) for token in tokens}) == 2:
            self.joins.add(join)
        return tokens

    def _named(self, frame: Frame, node: str, port: str) -> Any:
        home: Frame | None = frame
        while home is not None:
            if port in home.given.get(node, {}):
                return home.given[node][port]
            if node in home.block.nodes:
                firing = self.fire(home, node)
                return firing.ports.get(port, firing.rest)
            home = home.outer
        raise KeyError(f"{node}.{port}")

    def _race(self, frame: Frame, source: RaceSource, tokens: list[Any]) -> Any:
        """Return the only live source: which of several wins is a matter of time, and not computed."""
        live = [token for token in tokens if not isinstance(token, Dead)]
        if len(live) > 1:
            raise NotImplementedError("a race that time decides")
        if not live and any(map(is_error, tokens)):
            frame.lost.append(source)
        return live[0] if live else joined(tokens)

    def _port(self, frame: Frame, sources: list[Source], port: In) -> Any:
        """Return what a port takes of its edges (S5.1, S5.2)."""
        tokens = self._tokens(frame, "a many-port" if port.many else "several edges on one port", sources)
        if port.takes_failure:
            tokens = [token.failure if is_error(token) else token for token in tokens]
        live = listed(tokens)
        if port.many or isinstance(live, Dead):
            return live
        if len(live) > 1:
            raise BrokenFlowError("NodeFailed")
        return live[0]

    # firing

    def fire(self, frame: Frame, id: str) -> Firing:
        """Return what a node comes to in a frame; it fires once, whoever asks.

        With a node that waited to be asked for, what it reads is demanded, also where it turns out not to be
        looked at (S8.1).
        """
        if id not in frame.firings:
            frame.firings[id] = self._fired(frame, id, frame.block.nodes[id])
            if id not in self.demanded(frame.block):
                self._demand(frame, id)
        return frame.firings[id]

    def _demand(self, frame: Frame, id: str) -> None:
        """Fire what a node reads, in its frame or one around it."""
        for node, reads in self.reads(frame.block).items():
            home: Frame | None = frame
            while home is not None and node not in home.block.nodes:
                home = home.outer
            if home is not None and any(read.reader == id and not read.port.lazy for read in reads):
                self.fire(home, node)

    def _fired(self, frame: Frame, id: str, node: Node) -> Firing:
        if not is_enabled(node):
            return Firing("skipped", rest=joined([], frame.path_of(id)))
        try:
            given = self._given(frame, id, node)
            if isinstance(given, Dead):
                return Firing("not_run" if is_error(given) else "skipped", rest=given)
            match node:
                case TypeNode():
                    return self._called(frame, id, node, given)
                case FlowNode(flow=FlowDocument() as flow):
                    return fire_flow(self, frame, id, node, flow, given)
                case LoopNode(loop=loop):
                    return fire_loop(self, frame, id, loop)
                case MapNode(map=part):
                    return fire_map(self, frame, id, part, given)
        except BrokenFlowError as broken:
            return self.failed(frame, id, [self.failure(frame, id, broken)])
        raise NotImplementedError(node)

    def _given(self, frame: Frame, id: str, node: Node) -> Dead | dict[str, Any]:
        """Return the connected ports that have a value, or why the node does not run (S4.2, S4.3).

        Lazy ports are looked at last, and only if the others let the node fire (S8.3).
        """
        ports = inputs_of(node, self.functions)
        wired = sources_of(frame.block, id)
        constants = getattr(node, "values", {})  # values like any other
        tokens: dict[str, Any] = {}
        for is_lazy in (False, True):
            for port, sources in wired.items():
                if ports[port].lazy is is_lazy:
                    tokens[port] = self._port(frame, sources, ports[port])
            dead = {port: token for port, token in tokens.items() if isinstance(token, Dead)}
            if any(map(is_error, dead.values())) or (dead and len(dead) == len(tokens) and not constants):
                return joined(dead.values())
            required = [token for port, token in dead.items() if ports[port].required]
            if required:
                return joined(required)
            if dead:
                self.joins.add("the ports of a node")
        return {port: token for port, token in tokens.items() if port not in dead}

    def _called(self, frame: Frame, id: str, node: TypeNode, given: dict[str, Any]) -> Firing:
        """Call a node's function until an attempt succeeds (S3.2, S9.1)."""
        path, failures = frame.path_of(id), list[Failure]()
        for attempt in range(1, node.policy.retry.retries + 2):
            try:
                ports = self._result(node, path, attempt, {**copy.deepcopy(node.values), **given})
            except Exception as error:  # noqa: BLE001 - a node may raise anything
                failures = [self.failure(frame, id, error, attempt)]
            else:
                return self.done(path, ports)
        return self.failed(frame, id, failures)

    def _result(self, node: TypeNode, path: str, attempt: int, given: dict[str, Any]) -> dict[str, Any]:
        if node.type == "control.if":
            taken = self.function(node.config["predicate"])(given["value"])
            return {"yes" if taken else "no": given["value"]}
        if node.type == "control.switch":
            case, cases = self.function(node.config["pick"])(given["value"]), node.config["cases"]
            return {} if case is None else {case if case in cases else "default": given["value"]}
        if node.type == "control.ask":
            if "expires" in node.config and "default" not in node.config:
                raise BrokenFlowError("NodeFailed")
            return {"out": node.config["default"] if "expires" in node.config else self.answer(path)}
        arguments: list[Any] = []
        function = self.functions[node.type]
        for name, (parameter, hint) in signature_of(function).items():
            if name == "odds":
                arguments.append(hint(**node.config))
            elif parameter.kind is parameter.VAR_POSITIONAL:
                arguments += given.get(name, [])
            else:
                arguments.append(given.get(name, parameter.default))
        result = self.call(path, attempt, function, *copy.deepcopy(arguments))
        fields = result._asdict() if hasattr(result, "_fields") else {}
        live = {name: value for name, value in fields.items() if value is not SKIP}
        return live if result is SKIP or len(live) < len(fields) else {**live, "out": result}

    def done(self, path: str, ports: dict[str, Any]) -> Firing:
        """Say that a node has succeeded; what it has left out is a skip (S3.2)."""
        own = joined([], path)
        return Firing("done", {DONE: Signal(), ERROR: own, **ports}, own)

    def failure(self, frame: Frame, id: str, error: Exception, attempt: int = 1) -> Failure:
        kind = error.kind if isinstance(error, BrokenFlowError) else type(error).__name__
        return Failure(id, frame.path_of(id), attempt, kind, str(error), "")

    def failed(self, frame: Frame, id: str, failures: Sequence[Failure]) -> Firing:
        """Say what a failure does to the ports, and whether it is handled (S9.3, S9.4)."""
        policy = getattr(frame.block.nodes[id], "policy", PolicyPart())
        dead = Dead(frozenset(failure.path for failure in failures))
        ended = Firing("failed", rest=dead)
        reads = self.reads(frame.block).get(id, [])
        if "default" in policy.model_fields_set:
            ended.ports = {"out": copy.deepcopy(policy.default), DONE: Signal(), ERROR: failures[0]}
        elif policy.on_error != "fail" or any(read.name == ERROR for read in reads):
            ended.ports = {ERROR: failures[0]}
        else:
            ended.rest = replace(dead, failure=failures[0])
            others = [read for read in reads if not read.port.takes_failure]
            if not reads or others:
                ended.failures = tuple(failures)
            if others and all(read.race for read in others):
                ended.races = tuple(read.race for read in others)
        return ended
