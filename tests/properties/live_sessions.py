"""Playing live sessions of random flows: inputs change, several ask, at any time, and all is held (S13.4).

After each step of a script, once nothing goes on any more, every port that was asked for is what the
reference says, and what was called meanwhile is what it says. While inputs change, what is got is that of one
revision. A firing is called if what it is given differs from what the last firing at its path was given that
came to its end; edges count one by one, a skip is like any other. What was inside a map that is done anew,
and is not there any more, may be forgotten.
"""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.lowlevel import checkpoint

from dataflow import DataflowError, Failure, Paused, RunFailed
from dataflow.formats.native.document import FlowDocument, FlowNode, LoopNode, MapNode, Node, TypeNode
from dataflow.live.session import Live
from tests.properties.document_reading import AFTER, Read, lifted, parted, reads_of, sources_of
from tests.properties.effort import Below, pace
from tests.properties.node_functions import Record, answer_to, call_plainly, recording
from tests.properties.playing import FUNCTIONS, Fired, flow_of, loose_in, mark, plain
from tests.properties.random_flows import Program, changed_inputs
from tests.properties.reference import Dead, Firing, Frame, Reference, flow_frame, is_error

ASK: Final = "control.ask"
#: One of several failures, or one whose text the reference does not know.
UNSURE: Final = ("failure", "unsure")


def root_of(path: str) -> str:
    """Return the node of the root that a path is at, or inside of."""
    return re.split(r"[/~\[]", path)[0]


def ports_of(document: Mapping[str, Any]) -> dict[str, str]:
    """Name what may be asked for: the outputs, and the nodes of the root; with the source of each."""
    flow = FlowDocument.model_validate(lifted(document))
    nodes = {
        id: id for id, node in flow.nodes.items() if isinstance(node, TypeNode) and node.type[:2] == "t."
    }
    return {
        **{f"{id}.out": id for id in nodes},
        **{name: str(source) for name, source in flow.outputs.items()},
    }


def affected(document: Mapping[str, Any], inputs: Iterable[str], nodes: Iterable[str] = ()) -> set[str]:
    """Name the nodes of the root that depend on some inputs, or on some nodes."""
    flow = FlowDocument.model_validate(lifted(document))
    reads = list(reads_of(flow, FUNCTIONS))
    names = {*inputs}
    found = {*nodes, *(read.reader for read in reads if read.node == "$in" and read.name in names)}
    while more := {read.reader for read in reads if read.node in found} - found:
        found |= more
    return {id for id in found if id is not None}


class _Noting(Reference):
    """Notes what each firing is given; a failure of the root is one of its ports alone."""

    def __init__(self) -> None:
        super().__init__(FUNCTIONS, call_plainly, answer_to)
        self.given: dict[str, Any] = {}

    def _called(self, frame: Frame, id: str, node: TypeNode, given: dict[str, Any]) -> Firing:
        expires = node.type == ASK and "expires" in node.config
        if (node.type[:2] == "t." or node.type == ASK) and not expires:
            wired = sources_of(frame.block, id).items()
            tokens = [
                (port, [_told(port, self.token(frame, source)) for source in sources])
                for port, sources in wired
            ]
            self.given[frame.path_of(id)] = (node.type, tokens)
        return super()._called(frame, id, node, given)

    def _fired(self, frame: Frame, id: str, node: Node) -> Firing:
        firing = super()._fired(frame, id, node)
        if frame.outer is None and not frame.path and isinstance(node, MapNode) and firing.failures:
            firing.ports = {}  # in a run they need not wait for what fails it
        return firing


def _told(port: str, token: Any) -> Any:
    if not isinstance(token, Dead):
        return "signal" if port == AFTER else plain(token)
    if not is_error(token):
        return "skip"
    return ("error", plain(token.failure) if len(token.origins) == 1 else UNSURE)


class Look:
    """What a flow comes to for some inputs as far as some of its ports need it."""

    def __init__(
        self,
        document: Mapping[str, Any],
        inputs: Mapping[str, Any],
        ports: Mapping[str, str],
        *,
        has_others: bool,
    ) -> None:
        self.has_others = has_others  # functions that failures tell of were others before
        self.flow = FlowDocument.model_validate(lifted(document))
        reference = _Noting()
        self.root = root = flow_frame(self.flow, "", inputs, "fail_fast")
        with recording() as record:
            reads = reference.reads(self.flow)
            for id in _needed(reads, ports.values()):
                if id in self.flow.nodes:
                    reference.fire(root, id)
            self.tokens = {name: reference.token(root, source) for name, source in ports.items()}
        self.fired = record.fired
        self.given = reference.given
        self.frames = {path: frame for path, (_, frame) in _walk(root).items()}
        self.firings = {path: firing for path, (firing, _) in _walk(root).items()}
        self.cut = set[int]()
        for id, frames in root.opened.items():
            for inner in frames:
                mark(
                    inner,
                    is_cut=root.firings[id].state == "failed" and root.errors == "fail_fast",
                    cut=self.cut,
                )
        self.loose = loose_in(reference, root, is_loose=False)
        self.wanted = {*root.firings}
        self.pulled = self.wanted.difference(_needed(reads, ports.values()))
        uses = {id: [use for use in found if not use.early] for id, found in reads.items()}
        self.firm = self.wanted.intersection(_needed(uses, ports.values(), lazy=True))

    @property
    def is_decided(self) -> bool:
        """Tell whether the rules decide; see `playing.Expected`."""
        inside = {id(frame): frame for frame in self.frames.values() if frame is not self.root}
        return not {f.path_of(node) for f in inside.values() for node in f.failing()} & self.loose

    @property
    def is_sure(self) -> bool:
        """Tell whether it is sure which of several failures is told."""
        return not self.cut and not self.loose

    def is_open(self, path: str) -> bool:
        """Tell whether time decides how far a firing comes, or what it is given."""
        told = repr(self.given[path])
        is_unsure = "'failure'" in told and (self.has_others or not self.is_sure)
        is_unsure = is_unsure or "'failure', 'unsure'" in told or "'NodeFailed'" in told
        is_pulled = root_of(path) in self.pulled and not self.is_sure  # maybe by who was cut short
        return is_pulled or path in self.loose or id(self.frames[path]) in self.cut or is_unsure

    def contained(self) -> set[str]:
        """Name what the part of the flow that was looked at contains."""
        kinds = {LoopNode: "a loop", MapNode: "a map", FlowNode: "a flow node"}
        found = {kinds[type(self.flow.nodes[id])] for id, frames in self.root.opened.items() if frames}
        found |= {"a race that may stop nodes"} if self.loose else set()
        return found | (
            {"a failure"} if any(one.state == "failed" for one in self.firings.values()) else set()
        )

    def calls(self, path: str) -> Fired:
        """Return how often each attempt at a firing is called, if it is; an ask is answered."""
        most = 2 if path in self.loose else 1  # a race has stopped it, then somebody asks for it
        if self.given[path][0] == ASK:
            return Counter({(path, 1): most})
        return Counter({place: times * most for place, times in self.fired.items() if place[0] == path})

    def agrees(self, port: str, got: Any) -> bool:
        """Tell whether a session has given what a port comes to."""
        token = self.tokens[port]
        failure = None if self.is_sure else ("failure",)
        match got:
            case ("value", value):
                return not isinstance(token, Dead) and plain(value, failure) == plain(token, failure)
            case ("failed", Failure() as told):
                return is_error(token) and (told.path in token.origins or not self.is_sure)
            case ("skip",):
                return isinstance(token, Dead) and not is_error(token)
            case _:
                return False


def _needed(reads: Mapping[str, list[Read]], sources: Iterable[str], *, lazy: bool = False) -> list[str]:
    """Name the nodes that are run if somebody asks for some sources, with what is read lazily or without."""
    found = {parted(source)[0] for source in sources}
    while (
        more := {
            id for id, uses in reads.items() if any(u.reader in found and u.port.lazy <= lazy for u in uses)
        }
        - found
    ):
        found |= more
    return sorted(found)


def _walk(root: Frame) -> dict[str, tuple[Firing, Frame]]:
    firings: dict[str, tuple[Firing, Frame]] = {}
    todo = [root]
    for frame in todo:  # grows while it is walked
        for id, firing in frame.firings.items():
            firings[frame.path_of(id)] = firing, frame
            todo += frame.opened.get(id, [])
    return firings


class Expected:
    """How often each attempt at a firing may have been called: at least, and at most."""

    def __init__(self) -> None:
        self.least: Fired = Counter()
        self.most: Fired = Counter()

    def hold(self, calls: Fired) -> None:
        """Hold what was called against it."""
        assert self.least <= calls, ("too few", self.least - calls)
        assert calls <= self.most, ("too many", calls - self.most)


class Memory:
    """What each firing that came to its end last may have been given, by path; None for nothing known."""

    def __init__(self) -> None:
        self.known: dict[str, list[Any]] = {}
        self.whole: dict[str, Any] = {}  # with which the loop, map or flow around it was done last

    def expected(
        self, looks: list[Look], changed: Collection[str], fresh: Collection[str], vague: Collection[str]
    ) -> Expected:
        """Tell what is called while the inputs change from look to look, then note what is known.

        `changed` are the nodes of the root that the changes may have overtaken, `fresh` those that had
        settled before and that no change has touched, `vague` those that may not have been looked at.
        """
        found, last = Expected(), looks[-1]
        for look in looks[:-1]:
            self._forget(look, fresh)
        for path in dict.fromkeys(path for look in looks for path in look.given):
            if root_of(path) in fresh:
                continue
            seen = [look for look in looks if path in look.given]
            known = self.known.get(path, [None])
            now = last.given.get(path)
            is_open = root_of(path) in vague or any(look.is_open(path) for look in seen)
            own = seen[-1].calls(path)
            if not is_open and known == [now] and all(look.given[path] == now for look in seen):
                continue  # it stands
            most = sum((look.calls(path) for look in seen), Counter()) if root_of(path) in changed else own
            found.most += most
            before = [*known, *(look.given[path] for look in looks[:-1] if path in look.given)]
            if root_of(path) not in changed:
                before = [*known]
            if path in self.whole:
                before.append(self.whole[path])
            if now is not None and not is_open and now not in before:
                found.least += own
            if now is not None and last.root.firings[root_of(path)].state == "done" and path != root_of(path):
                self.whole[path] = now
            if now is None or is_open:
                self._may_be(path, [*(look.given[path] for look in seen), None])
            elif path == root_of(path):
                self.known[path] = [now]
            else:  # where it is inside may stand as a whole
                self.known[path] = []
                self._may_be(path, [now, *(look.given[path] for look in seen)])
        self._forget(last, fresh)
        return found

    def may_forget(self, path: str) -> None:
        """Note that it may be forgotten what a firing was given."""
        self._may_be(path, [None])

    def _may_be(self, path: str, given: list[Any]) -> None:
        known = self.known.setdefault(path, [None])
        for one in given:
            if one not in known:
                known.append(one)

    def _forget(self, look: Look, fresh: Collection[str]) -> None:
        """Note that what is not there any more may be forgotten, as it is once a map is done."""
        done = {id for id, f in look.root.firings.items() if f.state == "done" and id not in fresh}
        for path in self.known:
            if root_of(path) in done and path not in look.given and path not in look.root.firings:
                self._may_be(path, [None])


REPLACED: Final = "a node got another function"
#: For so many turns of the loop nothing goes on: then nothing will.
STILL: Final = 4


class UndecidedError(Exception):
    """The rules do not decide what a flow comes to."""


@dataclass(frozen=True, slots=True)
class Step:
    """What befalls a session: inputs change, then several ask, and inputs change meanwhile.

    Each of `during` comes after so many turns of the loop; the first who asks gives up after `cancelled`.
    In place of other inputs a node may get another function: that of a number.
    """

    before: Mapping[str, Any] | int
    asked: Sequence[int]
    during: Sequence[tuple[int, Mapping[str, Any] | int]] = ()
    watched: int | None = None
    cancelled: int | None = None


def script_of(below: Below, most: int, *, is_quiet: bool = False) -> list[Step]:
    """Draw what befalls a session in up to so many steps; in a quiet one nothing overtakes anything."""
    return [_step(below, is_quiet=is_quiet) for _ in range(1 + below(most))]


def _step(below: Below, *, is_quiet: bool) -> Step:
    before = _change(below)
    if is_quiet:
        return Step(before, [below(30) for _ in range(1 + below(2))])
    return Step(
        before,
        [below(30) for _ in range(1 + below(3))],
        [(below(12), _change(below)) for _ in range(below(4))],
        below(30) if below(3) == 2 else None,
        below(10) if below(4) == 3 else None,
    )


def _change(below: Below) -> Mapping[str, Any] | int:
    return below(50) if below(5) == 4 else changed_inputs(below)


@dataclass
class Session:
    """A session being played, and what it is held against."""

    program: Program
    live: Live
    record: Record
    found: Counter[str] = field(default_factory=Counter)  # what has happened

    def __post_init__(self) -> None:
        self.inputs = dict(self.program.inputs)
        for name, part in self.program.document["inputs"].items():
            if "default" in part:
                self.inputs.setdefault(name, part["default"])
        self.document = self.program.document
        self.memory = Memory()
        self.fresh: set[str] = set()  # nodes of the root that have settled
        self.vague: set[str] = set()  # those that may have, or not
        self.ports = ports_of(self.program.document)
        self.asked: dict[str, str] = {}  # by port: its source, in this step
        self.looks: list[Look] = []  # of the revisions of this step
        self.answered: Fired = Counter()
        self.called: Fired = Counter()

    async def take(self, step: Step) -> None:
        """Take a step, and hold what the session came to."""
        names = list(self.ports)
        self.asked = {names[one % len(names)]: "" for one in [*step.asked, step.watched or 0]}
        self.asked = {name: self.ports[name] for name in self.asked}
        changed: set[str] = set()
        self.looks = []
        await self._change(step.before)
        self.looks = [self._look()]
        async with anyio.create_task_group() as group:
            scopes = [anyio.CancelScope() for _ in step.asked]
            for scope, one in zip(scopes, step.asked, strict=True):
                group.start_soon(self._ask, names[one % len(names)], scope)
            group.start_soon(self._get_together, list(self.asked))
            watching = anyio.CancelScope()
            seen: list[Any] = []
            if step.watched is not None:
                group.start_soon(self._watch, names[step.watched % len(names)], watching, seen)
            if step.cancelled is not None and scopes:
                await _turns(step.cancelled)
                scopes[0].cancel()
            for turns, inputs in step.during:
                await _turns(turns)
                self.found["an update overtook"] += not self._is_idle
                changed |= await self._change(inputs)
            await self._come_to_rest()
            if step.watched is not None:
                self._hold_watched(names[step.watched % len(names)], seen)
            watching.cancel()
        for name in self.asked:
            await self._get(name, len(self.looks) - 1)
        await self._come_to_rest()
        self._hold_calls(changed)

    def _look(self) -> Look:
        look = Look(self.document, self.inputs, self.asked, has_others=self.found[REPLACED] > 0)
        if not look.is_decided:
            raise UndecidedError
        return look

    async def _change(self, what: Mapping[str, Any] | int) -> set[str]:
        """Change the inputs, or the function of a node; returns the nodes of the root that depend on it."""
        if isinstance(what, int):
            return await self._replace(what)
        differ = [name for name, value in what.items() if plain(value) != plain(self.inputs[name])]
        self.inputs |= what
        nodes = self._changed(affected(self.document, differ), is_another=bool(differ))
        await self.live.update(**what)
        return nodes

    async def _replace(self, number: int) -> set[str]:
        addresses = [*_replaceable(self.document, ())]
        if not addresses:
            return set()
        address = addresses[number % len(addresses)]
        self.document, function = with_other(self.document, address)
        self.found[REPLACED] += 1
        self.memory.may_forget(address[0])
        nodes = self._changed(
            affected(self.document, (), {home_of(self.document, address[0])}), is_another=True
        )
        await self.live.replace("/".join(address), FUNCTIONS[function])
        return nodes

    def _changed(self, nodes: set[str], *, is_another: bool) -> set[str]:
        """Note that what is in some nodes of the root is stale, as the revision is another."""
        if self.looks and is_another:
            self.looks.append(self._look())
        self.fresh -= nodes
        self.vague -= nodes
        return nodes

    async def _ask(self, port: str, scope: anyio.CancelScope) -> None:
        with scope:
            await self._get(port, None)
        self.found["a get was given up"] += scope.cancelled_caught

    async def _get(self, port: str, first: int | None) -> None:
        """Get a port: it is that of one of the revisions since it was asked for."""
        while True:
            begun = len(self.looks) - 1 if first is None else first
            try:
                got: Any = ("value", await self.live.get(port))
            except Paused:
                self.found["paused"] += 1
                await self._answer()
                await checkpoint()
                continue
            except RunFailed as failed:
                got = ("failed", failed.failures[0])
            except DataflowError as error:
                got = ("skip",) if "has no value" in str(error) else error
            break
        self.found[f"got a {got[0]}"] += 1
        self.found["got an earlier revision"] += not self.looks[-1].agrees(port, got)
        assert any(look.agrees(port, got) for look in self.looks[begun:]), (
            port, got, [look.tokens[port] for look in self.looks[begun:]],
        )  # fmt: skip

    async def _get_together(self, ports: Sequence[str]) -> None:
        """Get several ports at once: all are of one revision, unless one has no value."""
        begun = len(self.looks) - 1
        while True:
            try:
                _, *values = await self.live.get(ports[0], *ports)
            except Paused:
                await self._answer()
                await checkpoint()
                continue
            except DataflowError:
                assert any(
                    isinstance(look.tokens[port], Dead) for look in self.looks[begun:] for port in ports
                )
                return
            break
        got = [(port, ("value", value)) for port, value in zip(ports, values, strict=True)]
        assert any(all(look.agrees(*one) for one in got) for look in self.looks[begun:])

    async def _watch(self, port: str, scope: anyio.CancelScope, seen: list[Any]) -> None:
        with scope:
            while True:
                revision = self.live.counts.revision
                try:
                    async for value in self.live.watch(port):
                        revision = self.live.counts.revision
                        seen.append(("value", value))
                        self.found["a value was watched"] += 1
                except RunFailed as failed:
                    seen.append(("failed", failed.failures[0]))
                while self.live.counts.revision == revision:
                    await checkpoint()

    def _hold_watched(self, port: str, seen: Sequence[Any]) -> None:
        """Each is that of a revision, in order, and the last that of the last."""
        left = list(self.looks)
        for got in seen:
            while left and not left[0].agrees(port, got):
                left.pop(0)
            assert left, (port, seen, [look.tokens[port] for look in self.looks])
        if not seen or not self.looks[-1].agrees(port, seen[-1]):
            assert self.looks[-1].agrees(port, ("skip",)), (port, seen, self.looks[-1].tokens[port])

    async def _answer(self) -> None:
        for ask in self.live.asks:
            if ask.expires is None and ask in self.live.asks:  # an answer may close others
                self.answered[ask.id, 1] += 1
                self.found["answered"] += 1
                await self.live.answer({ask.id: answer_to(ask.id)})

    @property
    def _is_idle(self) -> bool:
        return self.live._engine.is_idle

    async def _come_to_rest(self) -> None:
        """Wait until nothing goes on any more, with every ask answered."""
        still = 0
        while still < STILL:
            await checkpoint()
            await self._answer()
            still = still + 1 if self._is_idle and not self.live.asks else 0

    def _hold_calls(self, changed: set[str]) -> None:
        calls = self.record.fired + self.answered - self.called
        self.called = self.record.fired + self.answered
        last = self.looks[-1]
        if changed:
            self.vague |= (
                changed.intersection(set[str]().union(*(look.wanted for look in self.looks))) - last.firm
            )
        if not last.is_sure:
            self.vague |= last.pulled - self.fresh
        self.memory.expected(self.looks, changed, self.fresh, self.vague).hold(calls)
        stood = {path for path in last.given if root_of(path) not in self.fresh} - {path for path, _ in calls}
        self.found["a firing called"] += calls.total()
        self.found["a firing of the root that stood"] += len(stood & last.root.firings.keys())
        self.found["a firing inside that stood"] += len(stood - last.root.firings.keys())
        self.found.update(last.contained())
        self.fresh |= last.wanted - last.loose - self.vague


async def _turns(count: int) -> None:
    for _ in range(count):
        await checkpoint()


async def live_through(
    program: Program, script: Sequence[Step], choose: random.Random | None = None
) -> Counter[str]:
    """Live through a session; returns what happened in it."""
    flow = flow_of(program.document)
    with recording(None if choose is None else pace(choose)) as record:
        async with flow.live(**program.inputs) as live:
            session = Session(program, live, record)
            for step in script:
                await session.take(step)
            return session.found


_PAIRS: Final = (
    ("one", "other_one"), ("optional", "other_optional"), ("two", "other_two"), ("total", "other_total"),
)  # fmt: skip
_OTHERS: Final = {f"t.{a}": f"t.{b}" for pair in _PAIRS for a, b in (pair, pair[::-1])}


def _replaceable(block: Mapping[str, Any], around: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for id, node in block["nodes"].items():
        if node.get("type") in _OTHERS:
            yield (*around, id)
        for kind in ("loop", "map"):
            if kind in node:
                yield from _replaceable(node[kind], (*around, id))


def with_other(document: Mapping[str, Any], address: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Return the document with another function at a node, and which that is."""
    found = copy.deepcopy(dict(document))
    block = found
    for id in address[:-1]:
        node = block["nodes"][id]
        block = node["loop"] if "loop" in node else node["map"]
    node = block["nodes"][address[-1]]
    node["type"] = _OTHERS[node["type"]]
    return found, node["type"]


def home_of(document: Mapping[str, Any], id: str) -> str:
    """Return which node of the root a node is, or is inside of where `each` has opened a map."""
    nodes = lifted(document)["nodes"]
    return (
        id
        if id in nodes
        else next(one for one, node in nodes.items() if id in node.get("map", {}).get("nodes", {}))
    )
