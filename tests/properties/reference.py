"""What a flow comes to, computed on demand: the rules S1.6 to S9.4, read without a scheduler.

`Reference.token(frame, source)` is the value of a source in one instance of a scope; whatever it needs is
computed first, and once. Nothing here knows of time: a run may settle its firings in any order, and has to
come to the same. Failures are those of a run that goes on after an error.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import dataflow.formats.native.document as d
from dataflow.base.failure import Failure
from dataflow.core.ports import DONE, ERROR, SKIP, Signal
from dataflow.formats.native.parts import (
    AllSource,
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
    behind,
    by_node,
    demanded,
    inputs_of,
    is_enabled,
    is_lifted,
    parted,
    reads_of,
    signature_of,
    sources_of,
    switched_off,
)


@dataclass(frozen=True, slots=True)
class Dead:
    """A port without a value: a skip, or an error if it has a failure. It began at one of the `origins`."""

    origins: frozenset[str]
    failure: Failure | None = None


@dataclass(slots=True)
class Firing:
    """What a node came to: `rest` is every port not in `ports`, `failures` are those it does not handle.

    `races` are those that its failures are left to (S9.4).
    """

    state: str
    ports: dict[str, Any] = field(default_factory=dict)
    rest: Any = None
    failures: tuple[Failure, ...] = ()
    races: tuple[object, ...] = ()


@dataclass(slots=True, eq=False)
class Frame:
    """One instance of a scope; `given` is what `$in`, `$carry` and `$item` name in it.

    `head` is the node that has opened it by `each`, and has the path of the frame itself (S2.2).
    """

    block: d.BlockPart
    path: str
    given: dict[str, dict[str, Any]]
    errors: str
    outer: Frame | None = None
    firings: dict[str, Firing] = field(default_factory=dict)
    opened: dict[str, list[Frame]] = field(default_factory=dict)
    lost: list[object] = field(default_factory=list)  # races that ended in an error
    head: str = ""

    def path_of(self, id: str) -> str:
        if id == self.head:
            return self.path
        return f"{self.path}/{id}" if self.path else id

    def failures(self) -> tuple[Failure, ...]:
        fired = [self.firings[id] for id in self.block.nodes if id in self.firings]
        return tuple(failure for firing in fired if self._counts(firing) for failure in firing.failures)

    def failing(self) -> set[str]:
        return {id for id, firing in self.firings.items() if firing.failures and self._counts(firing)}

    def _counts(self, firing: Firing) -> bool:
        return not firing.races or any(race is lost for race in firing.races for lost in self.lost)


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


def listed(tokens: Sequence[Any]) -> Any:
    """List the live ones: an error among them makes an error, none a skip (S4.2, S5.1, S5.3)."""
    live = [token for token in tokens if not isinstance(token, Dead)]
    return joined(tokens) if any(map(is_error, tokens)) or not live else live


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

    def run(self, document: d.FlowDocument, inputs: Mapping[str, Any]) -> Outcome:
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

    def reads(self, block: d.BlockPart) -> dict[str, list[Read]]:
        if id(block) not in self._reads:
            self._reads[id(block)] = by_node(reads_of(block, self.functions))
        return self._reads[id(block)]

    def demanded(self, block: d.BlockPart) -> list[str]:
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
                token = self.token(frame, parts[0])  # the other is asked for only if this is a skip
                return _first(self._tokens(frame, "fallback", parts)) if is_skip(token) else token
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

    def look(self, frame: Frame, id: str) -> None:
        """Settle the joins that a node reads: one that is switched off, or skipped, does not look at them."""
        ports = inputs_of(frame.block.nodes[id], self.functions)
        for port, sources in sources_of(frame.block, id).items():
            for source in () if ports[port].lazy else sources:
                self.token(frame, source)

    def _demand(self, frame: Frame, id: str) -> None:
        """Fire what a node reads, in its frame or one around it."""
        self.look(frame, id)
        for node, reads in self.reads(frame.block).items():
            home: Frame | None = frame
            while home is not None and node not in home.block.nodes:
                home = home.outer
            if home is not None and any(read.reader == id and not read.port.lazy for read in reads):
                self.fire(home, node)

    def _fired(self, frame: Frame, id: str, node: d.Node) -> Firing:
        if not is_enabled(node):
            return Firing("skipped", rest=joined([], frame.path_of(id)))
        try:
            self.look(frame, id)
            given = self._given(frame, id, node)
            if isinstance(given, Dead):
                return Firing("not_run" if is_error(given) else "skipped", rest=given)
            match node:
                case d.TypeNode():
                    return self._called(frame, id, node, given)
                case d.FlowNode(flow=d.FlowDocument() as flow):
                    return fire_flow(self, frame, id, node, flow, given)
                case d.LoopNode(loop=loop):
                    return fire_loop(self, frame, id, loop)
                case d.MapNode(map=part):
                    return fire_map(self, frame, id, part, given)
        except BrokenFlowError as broken:
            return self.failed(frame, id, [self.failure(frame, id, broken)])
        raise NotImplementedError(node)

    def _given(self, frame: Frame, id: str, node: d.Node) -> Dead | dict[str, Any]:
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

    def _called(self, frame: Frame, id: str, node: d.TypeNode, given: dict[str, Any]) -> Firing:
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

    def _result(self, node: d.TypeNode, path: str, attempt: int, given: dict[str, Any]) -> dict[str, Any]:
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


def ended(reference: Reference, frame: Frame) -> dict[str, Any]:
    block = frame.block
    for node in reference.demanded(block):
        reference.fire(frame, node)
    for node in switched_off(block, reference.reads(block)):
        reference.look(frame, node)
    sources = {n: s.all if isinstance(s, AllSource) else s for n, s in frame.block.outputs.items()}
    return {name: reference.token(frame, source) for name, source in sources.items()}


def opened(
    frame: Frame, id: str, block: d.BlockPart, name: object, kind: str, given: dict[str, Any]
) -> Frame:
    inner = Frame(block, f"{frame.path_of(id)}[{name}]", {kind: given}, frame.errors, frame)
    inner.head = id if is_lifted(frame.block.nodes[id]) else ""
    frame.opened.setdefault(id, []).append(inner)
    return inner


# flow nodes


def flow_frame(flow: d.FlowDocument, path: str, inputs: Mapping[str, Any], errors: str) -> Frame:
    """Open the frame of a flow; its own setting for errors counts in it (S9.4)."""
    defaults = {n: p.default for n, p in flow.inputs.items() if "default" in p.model_fields_set}
    own = flow.using.errors if "errors" in flow.using.model_fields_set else errors
    return Frame(flow, path, {"$in": {**copy.deepcopy(defaults), **inputs}}, own)


def fire_flow(
    reference: Reference, frame: Frame, id: str, node: d.FlowNode, flow: d.FlowDocument, given: dict[str, Any]
) -> Firing:
    """Run a flow as a node, each attempt in a frame of its own (S7.3)."""
    path, frames = frame.path_of(id), frame.opened.setdefault(id, [])
    collects = node.policy.errors == "collect"
    for attempt in range(1, node.policy.retry.retries + 2):
        name = path if attempt == 1 else f"{path}~{attempt}"
        inner = flow_frame(flow, name, {**copy.deepcopy(node.values), **given}, frame.errors)
        inner.errors = "continue" if collects else inner.errors
        frames.append(inner)
        outputs = ended(reference, inner)
        told = [flow.outputs[name] for name, token in outputs.items() if is_error(token)]
        standing = behind(flow, reference.reads(flow), told) if collects else set()
        if inner.failing() <= standing:
            return reference.done(path, {n: t.failure if is_error(t) else t for n, t in outputs.items()})
    return reference.failed(frame, id, inner.failures())


# maps


def fire_map(reference: Reference, frame: Frame, id: str, part: d.MapPart, lists: dict[str, Any]) -> Firing:
    """Run a body for each item (S7.1, S7.2)."""
    edges = lists["item"] if isinstance(part.over.get("item"), EverySource) else []
    if len({len(one) for one in lists.values()}) != 1:
        raise BrokenFlowError("NodeFailed")
    items = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
    names: list[Any] = [*range(len(items))]
    if part.key is not None:
        names = [reference.function(part.key)(next(iter(item.values()))) for item in items]
    if len({*names}) < len(names):
        raise BrokenFlowError("NodeFailed")
    dead = {place for place, token in enumerate(edges) if isinstance(token, Dead)}
    named = [pair for pair in zip(names, items, strict=True) if pair[0] not in dead]
    frames = [opened(frame, id, part, name, "$item", item) for name, item in named]
    outputs = [ended(reference, item) for item in frames]
    for item, given in zip(frames, outputs, strict=True):
        if item.failures() and part.on_error != "fail":
            instead = item.failures()[0] if part.on_error == "collect" else joined([], item.path)
            given.update(dict.fromkeys(given, instead))
    columns = {name: [given[name] for given in outputs] for name in part.outputs}
    ports = {name: [] if all(map(is_skip, column)) else listed(column) for name, column in columns.items()}
    failures = [failure for item in frames for failure in item.failures()]
    if not failures and any(map(is_error, edges)):
        return Firing("not_run", rest=joined(edges))
    if not failures or part.on_error != "fail":
        return reference.done(frame.path_of(id), ports)
    firing = reference.failed(frame, id, failures)
    if firing.failures and frame.errors == "fail_fast":
        firing.ports = ports  # the run ends with the frame, and a list need not wait for all of the items
    return firing


# loops


def fire_loop(reference: Reference, frame: Frame, id: str, loop: d.LoopPart) -> Firing:
    """Go round until the test, the limit or a failure ends it (S6.1, S6.2, S6.4)."""
    carried = {name: reference.token(frame, carry.first) for name, carry in loop.carry.items()}
    if carried and all(map(is_skip, carried.values())):
        return Firing("skipped", rest=joined(carried.values()))
    left: list[dict[str, Any]] = []
    verdict = _stops(reference, frame, loop.while_, carried, False)
    while verdict is False and len(left) != loop.limit:
        this = opened(frame, id, loop, len(left), "$carry", carried)
        left.append(ended(reference, this))
        try:
            verdict = _stops(reference, this, loop.until, {}, True)
        except BrokenFlowError as broken:
            return reference.failed(frame, id, [*this.failures(), reference.failure(frame, id, broken)])
        if verdict is False and (loop.until is None or len(left) != loop.limit):
            carried = _following(reference, this, loop)
        if this.failures():
            return reference.failed(frame, id, this.failures())
        if loop.until is None:
            verdict = _stops(reference, frame, loop.while_, carried, False)
    if is_error(verdict):
        firing = reference.failed(frame, id, [verdict.failure])
        firing.rest = replace(firing.rest, origins=verdict.origins)  # any of them may be told as the cause
        return firing
    if verdict is False and loop.on_limit == "fail":
        raise BrokenFlowError("LoopLimit")
    path = frame.path_of(id)
    columns = {name: [given[name] for given in left] for name in loop.outputs}
    leaving = {name: _leaving(path, source, carried, columns[name]) for name, source in loop.outputs.items()}
    return reference.done(path, leaving)


def _following(reference: Reference, frame: Frame, loop: d.LoopPart) -> dict[str, Any]:
    """Return what the next round begins with; all that only it needs runs now."""
    for node in demanded(loop, reference.reads(loop), next_too=True):
        reference.fire(frame, node)
    for node in switched_off(loop, reference.reads(loop), next_too=True):
        reference.look(frame, node)
    return {name: reference.token(frame, carry.next) for name, carry in loop.carry.items()}


def _stops(
    reference: Reference, frame: Frame, test: d.LoopTest | None, carried: dict[str, Any], stop: bool
) -> Any:
    """Tell whether a test ends the loop: true, false, or the token that it is in place of a value."""
    if test is None:
        return False
    source = test.source if isinstance(test, d.LoopTestPart) else test
    answer = reference.token(Frame(d.BlockPart(), "", {"$carry": carried}, "", frame), source)
    if isinstance(answer, Dead):
        return answer
    if isinstance(test, d.LoopTestPart):
        try:
            answer = reference.function(test.test)(answer)
        except Exception as error:
            raise BrokenFlowError(type(error).__name__) from error
    if not isinstance(answer, bool):
        raise BrokenFlowError("NodeFailed")
    return answer is stop


def _leaving(path: str, source: Source, carried: dict[str, Any], tokens: Sequence[Any]) -> Any:
    """Return what leaves a loop: a final, or the last live value, or an error of the last round."""
    if isinstance(source, str) and source.startswith("$carry.") and parted(source)[1] in carried:
        return carried[parted(source)[1]]
    if isinstance(source, AllSource):
        return [] if all(map(is_skip, tokens)) else listed(tokens)
    live = [token for token in tokens if not isinstance(token, Dead)]
    if live:
        return live[-1]
    return tokens[-1] if tokens and is_error(tokens[-1]) else joined(tokens, path)
