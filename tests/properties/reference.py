"""What a flow comes to, computed on demand: the rules S1.6 to S9.4, read without a scheduler.

`Reference.token(frame, source)` is the value of a source in one instance of a scope; whatever it needs is
computed first, and once. Nothing here knows of time: a run may settle its firings in any order, and has to come
to the same. Failures are those of a run that goes on after an error.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

from dataflow.document.flow import (
    BlockPart,
    FlowDocument,
    FlowNode,
    LoopNode,
    LoopPart,
    LoopTest,
    LoopTestPart,
    MapNode,
    MapPart,
    Node,
    TypeNode,
)
from dataflow.document.parts import PolicyPart
from dataflow.document.sources import ConstantSource, FallbackSource, GatherSource, MergeSource, Source
from dataflow.failure import Failure
from dataflow.ports import DONE, ERROR, SKIP, Signal
from tests.properties.document_reading import (
    In,
    Read,
    demanded,
    inputs_of,
    is_enabled,
    parted,
    reads_of,
    signature_of,
    sources_of,
)

__all__ = ["Dead", "Firing", "Frame", "Outcome", "Reference"]


@dataclass(frozen=True, slots=True)
class Dead:
    """A port without a value: an error if it has a failure, else a skip. `origins` is where it may have begun."""

    origins: frozenset[str]
    failure: Failure | None = None


@dataclass(slots=True)
class Firing:
    """What a node came to: `rest` is every port not in `ports`, `failures` are those it does not handle."""

    state: str
    ports: dict[str, Any] = field(default_factory=dict)
    rest: Any = None
    failures: tuple[Failure, ...] = ()


@dataclass(slots=True, eq=False)
class Frame:
    """One instance of a scope; `given` is what `$in`, `$carry` and `$item` name in it."""

    block: BlockPart
    path: str
    given: dict[str, dict[str, Any]]
    errors: str
    outer: Frame | None = None
    firings: dict[str, Firing] = field(default_factory=dict)
    opened: dict[str, list[Frame]] = field(default_factory=dict)

    def path_of(self, id: str) -> str:
        return f"{self.path}/{id}" if self.path else id

    def failures(self) -> tuple[Failure, ...]:
        """List what failed in here and was not handled, in declared order."""
        return tuple(f for id in self.block.nodes if id in self.firings for f in self.firings[id].failures)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to: its outputs, and the firing of every path with the frame it is in."""

    outputs: dict[str, Any]
    firings: dict[str, tuple[Firing, Frame]]
    root: Frame


class BrokenFlowError(Exception):
    """What the engine itself finds wrong; `kind` is the type of the exception that it raises."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


def is_error(token: Any) -> bool:
    return isinstance(token, Dead) and token.failure is not None


def is_skip(token: Any) -> bool:
    return isinstance(token, Dead) and token.failure is None


def joined(tokens: Iterable[Any], *places: str) -> Dead:
    """Make one of ports without a value: the first error, if there is one, else a skip."""
    dead = [token for token in tokens if isinstance(token, Dead)]
    errors = [token for token in dead if is_error(token)]
    origins = frozenset(places).union(*(token.origins for token in errors or dead))
    return Dead(origins, errors[0].failure if errors else None)


def listed(tokens: list[Any]) -> Any:
    """List the live ones: an error among them makes an error, none a skip (S4.2, S5.1, S5.3)."""
    live = [token for token in tokens if not isinstance(token, Dead)]
    return joined(tokens) if any(map(is_error, tokens)) or not live else live


def listed_or_empty(tokens: list[Any]) -> Any:
    """List what the items of a map give; none makes an empty list (S7.1)."""
    return listed(tokens) if any(not is_skip(token) for token in tokens) else []


def leaving(path: str, name: str, source: Source, carried: dict[str, Any], left: list[dict[str, Any]]) -> Any:
    """Return what leaves a loop: a final, or the last live value, or an error of the last round (S6.1, S6.4)."""
    if isinstance(source, str) and source.startswith("$carry.") and parted(source)[1] in carried:
        return carried[parted(source)[1]]
    tokens = [outputs[name] for outputs in left]
    live = [token for token in tokens if not isinstance(token, Dead)]
    if live:
        return live[-1]
    return tokens[-1] if tokens and is_error(tokens[-1]) else joined(tokens, path)


class Reference:
    """Reads flows of the types `t.<function>` and the built-in branches; `call` calls a function of a node."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], call: Callable[..., Any]) -> None:
        self.functions = functions
        self.call = call
        self._uses: dict[int, dict[str, list[Read]]] = {}

    def run(self, document: FlowDocument, inputs: Mapping[str, Any]) -> Outcome:
        """Come to the end of a run."""
        root = self._flow_frame(document, "", inputs, "fail_fast")
        outputs = self._ended(root)
        firings: dict[str, tuple[Firing, Frame]] = {}
        todo = [root]
        for frame in todo:  # grows while it is walked
            for id in frame.block.nodes:
                firing = frame.firings.get(
                    id, Firing("not_run", rest=joined([], frame.path, frame.path_of(id)))
                )
                firings[frame.path_of(id)] = firing, frame
                todo += frame.opened.get(id, [])
        return Outcome(outputs, firings, root)

    # sources (S5.3)

    def token(self, frame: Frame, source: Source) -> Any:
        """Return the value of a source, or why it has none."""
        match source:
            case str():
                return self._reference(frame, *parted(source))
            case ConstantSource(value=value):
                return copy.deepcopy(value)
            case GatherSource(gather=parts):
                return listed([self.token(frame, part) for part in parts])
            case MergeSource(merge=parts) | FallbackSource(fallback=parts):
                tokens = [self.token(frame, part) for part in parts]
                return next((token for token in tokens if not is_skip(token)), joined(tokens))
        raise NotImplementedError(type(source).__name__)

    def _reference(self, frame: Frame, node: str, port: str) -> Any:
        home: Frame | None = frame
        while home is not None:
            if port in home.given.get(node, {}):
                return home.given[node][port]
            if node in home.block.nodes:
                firing = self.fire(home, node)
                return firing.ports.get(port, firing.rest)
            home = home.outer
        raise KeyError(f"{node}.{port}")

    def _port(self, frame: Frame, sources: list[Source], port: In) -> Any:
        """Return what a port takes of its edges (S5.1, S5.2)."""
        tokens = [self.token(frame, source) for source in sources]
        if port.takes_failure:
            tokens = [token.failure if is_error(token) else token for token in tokens]
        live = listed(tokens)
        if port.many or isinstance(live, Dead):
            return live
        if len(live) > 1:
            raise BrokenFlowError("NodeFailed")
        return live[0]

    # firing (S4)

    def fire(self, frame: Frame, id: str) -> Firing:
        """Return what a node comes to in a frame; it fires once, whoever asks."""
        if id not in frame.firings:
            frame.firings[id] = self._fired(frame, id, frame.block.nodes[id])
        return frame.firings[id]

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
                    return self._flow(frame, id, node, flow, given)
                case LoopNode(loop=loop):
                    return self._loop(frame, id, loop)
                case MapNode(map=part):
                    return self._map(frame, id, part, given)
        except BrokenFlowError as broken:
            return self._failed(frame, id, [self._failure(frame, id, broken)])
        raise NotImplementedError(node)

    def _given(self, frame: Frame, id: str, node: Node) -> Dead | dict[str, Any]:
        """Return the connected ports that have a value, or why the node does not run (S4.2, S4.3)."""
        ports = inputs_of(node, self.functions)
        tokens = {
            port: self._port(frame, sources, ports[port])
            for port, sources in sources_of(frame.block, id).items()
        }
        dead = {port: token for port, token in tokens.items() if isinstance(token, Dead)}
        if any(map(is_error, dead.values())) or (dead and len(dead) == len(tokens)):
            return joined(dead.values())
        required = [token for port, token in dead.items() if ports[port].required]
        return joined(required) if required else {p: t for p, t in tokens.items() if p not in dead}

    def _called(self, frame: Frame, id: str, node: TypeNode, given: dict[str, Any]) -> Firing:
        """Call a node's function until an attempt succeeds (S3.2, S9.1)."""
        path, failures = frame.path_of(id), list[Failure]()
        for attempt in range(1, node.policy.retry.retries + 2):
            try:
                ports = self._result(node, path, attempt, {**copy.deepcopy(node.values), **given})
            except Exception as error:  # noqa: BLE001 - a node may raise anything
                failures = [self._failure(frame, id, error, attempt)]
            else:
                return self._done(path, ports)
        return self._failed(frame, id, failures)

    def _result(self, node: TypeNode, path: str, attempt: int, given: dict[str, Any]) -> dict[str, Any]:
        if node.type.startswith("control."):
            value = given["value"]
            chosen = self._function(node.config.get("predicate", node.config.get("pick")))(value)
            if node.type == "control.if":
                return {"yes" if chosen else "no": value}
            cases = node.config["cases"]
            return {} if chosen is None else {chosen if chosen in cases else "default": value}
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
        fields = result._asdict() if hasattr(result, "_fields") and not isinstance(result, Failure) else {}
        live = {name: value for name, value in fields.items() if value is not SKIP}
        return live if result is SKIP or len(live) < len(fields) else {**live, "out": result}

    def _done(self, path: str, ports: dict[str, Any]) -> Firing:
        own = joined([], path)
        return Firing("done", {DONE: Signal(), ERROR: own, **ports}, own)

    def _function(self, name: str) -> Callable[[Any], Any]:
        return self.functions[name.replace(":", ".")]

    def _failure(self, frame: Frame, id: str, error: Exception, attempt: int = 1) -> Failure:
        kind = error.kind if isinstance(error, BrokenFlowError) else type(error).__name__
        return Failure(id, frame.path_of(id), attempt, kind, str(error), "")

    def _failed(self, frame: Frame, id: str, failures: Sequence[Failure]) -> Firing:
        """Say what a failure does to the ports, and whether it is handled (S9.3, S9.4)."""
        policy = getattr(frame.block.nodes[id], "policy", PolicyPart())
        dead = Dead(frozenset(failure.path for failure in failures))
        ended = Firing("failed", rest=dead)
        reads = self._reads(frame.block, id)
        if "default" in policy.model_fields_set:
            ended.ports = {"out": copy.deepcopy(policy.default), DONE: Signal()}
        elif policy.on_error != "fail" or any(read.port == ERROR for read in reads):
            ended.ports = {ERROR: failures[0]}
        else:
            ended.rest = replace(dead, failure=failures[0])
            if not reads or not all(read.takes_failure for read in reads):
                ended.failures = tuple(failures)
        return ended

    def _reads(self, block: BlockPart, node: str) -> list[Read]:
        if id(block) not in self._uses:
            found = self._uses[id(block)] = {}
            for read in reads_of(block, self.functions):
                found.setdefault(read.node, []).append(read)
        return self._uses[id(block)].get(node, [])

    # frames (S2, S6, S7)

    def _ended(self, frame: Frame) -> dict[str, Any]:
        """Fire what a frame demands, and return its outputs."""
        for node in demanded(frame.block, self.functions):
            self.fire(frame, node)
        return {name: self.token(frame, source) for name, source in frame.block.outputs.items()}

    def _opened(self, frame: Frame, id: str, block: BlockPart, name: object, kind: str, given: Any) -> Frame:
        """Open a frame inside another, and keep it there."""
        inner = Frame(block, f"{frame.path_of(id)}[{name}]", {kind: given}, frame.errors, frame)
        frame.opened.setdefault(id, []).append(inner)
        return inner

    def _flow_frame(self, flow: FlowDocument, path: str, inputs: Mapping[str, Any], errors: str) -> Frame:
        defaults = {n: p.default for n, p in flow.inputs.items() if "default" in p.model_fields_set}
        own = flow.using.errors if "errors" in flow.using.model_fields_set else errors
        return Frame(flow, path, {"$in": {**copy.deepcopy(defaults), **inputs}}, own)

    def _flow(
        self, frame: Frame, id: str, node: FlowNode, flow: FlowDocument, given: dict[str, Any]
    ) -> Firing:
        """Run a flow as a node, each attempt in a frame of its own (S7.3)."""
        path, frames = frame.path_of(id), frame.opened.setdefault(id, [])
        for attempt in range(1, node.policy.retry.retries + 2):
            name = path if attempt == 1 else f"{path}~{attempt}"
            frames.append(self._flow_frame(flow, name, {**copy.deepcopy(node.values), **given}, frame.errors))
            outputs = self._ended(frames[-1])
            if node.policy.errors == "collect":
                return self._done(path, {n: t.failure if is_error(t) else t for n, t in outputs.items()})
            if not frames[-1].failures():
                return self._done(path, outputs)
        return self._failed(frame, id, frames[-1].failures())

    def _map(self, frame: Frame, id: str, part: MapPart, lists: dict[str, Any]) -> Firing:
        """Run a body for each item (S7.1, S7.2)."""
        if len({len(one) for one in lists.values()}) != 1:
            raise BrokenFlowError("NodeFailed")
        items = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
        names: list[Any] = [*range(len(items))]
        if part.key is not None:
            names = [self._function(part.key)(next(iter(item.values()))) for item in items]
        if len({*names}) < len(names):
            raise BrokenFlowError("NodeFailed")
        frames = [self._opened(frame, id, part, *one) for one in zip(names, repeat("$item"), items)]
        ended = [self._ended(item) for item in frames]
        failures = [failure for item in frames for failure in item.failures()]
        if failures and part.on_error == "fail":
            return self._failed(frame, id, failures)
        for item, outputs in zip(frames, ended, strict=True):
            if item.failures():
                instead = item.failures()[0] if part.on_error == "collect" else joined([], item.path)
                outputs.update(dict.fromkeys(outputs, instead))
        ports = {name: listed_or_empty([outputs[name] for outputs in ended]) for name in part.outputs}
        return self._done(frame.path_of(id), ports)

    def _loop(self, frame: Frame, id: str, loop: LoopPart) -> Firing:
        """Go round until the test, the limit or a failure ends it (S6.1, S6.2, S6.4)."""
        carried = {name: self.token(frame, carry.first) for name, carry in loop.carry.items()}
        if carried and all(map(is_skip, carried.values())):
            return Firing("skipped", rest=joined(carried.values()))
        left: list[dict[str, Any]] = []
        verdict = self._stops(frame, loop.while_, carried, False)
        while verdict is False and len(left) != loop.limit:
            this = self._opened(frame, id, loop, len(left), "$carry", carried)
            left.append(self._ended(this))
            try:
                verdict = self._stops(this, loop.until, {}, True)
            except BrokenFlowError as broken:
                return self._failed(frame, id, [*this.failures(), self._failure(frame, id, broken)])
            if verdict is False and (loop.until is None or len(left) != loop.limit):
                carried = self._following(this, loop)
            if this.failures():
                return self._failed(frame, id, this.failures())
            if loop.until is None:
                verdict = self._stops(frame, loop.while_, carried, False)
        if is_error(verdict):
            return self._failed(frame, id, [verdict.failure])
        if verdict is False and loop.on_limit == "fail":
            raise BrokenFlowError("LoopLimit")
        path = frame.path_of(id)
        return self._done(
            path, {name: leaving(path, name, source, carried, left) for name, source in loop.outputs.items()}
        )

    def _following(self, frame: Frame, loop: LoopPart) -> dict[str, Any]:
        """Return what the next round begins with; all that only it needs runs now."""
        for node in loop.nodes:
            self.fire(frame, node)
        return {name: self.token(frame, carry.next) for name, carry in loop.carry.items()}

    def _stops(self, frame: Frame, test: LoopTest | None, carried: dict[str, Any], stop: bool) -> Any:
        """Tell whether a test ends the loop: true, false, or the token that it is in place of a value."""
        if test is None:
            return False
        source = test.source if isinstance(test, LoopTestPart) else test
        answer = self.token(Frame(BlockPart(), "", {"$carry": carried}, "", frame), source)
        if isinstance(answer, Dead):
            return answer
        if isinstance(test, LoopTestPart):
            try:
                answer = self._function(test.test)(answer)
            except Exception as error:
                raise BrokenFlowError(type(error).__name__) from error
        if not isinstance(answer, bool):
            raise BrokenFlowError("NodeFailed")
        return answer is stop
