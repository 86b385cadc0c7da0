"""What a live session is to come to, and what it is to call: the reference, asked on demand (S13.4).

A firing is called if what it is given differs from what the last firing at its path was given that came to
its end; edges count one by one, a skip is like any other. What was inside a map that is done anew, and is not
there any more, may be forgotten.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from dataflow import Failure
from dataflow.formats.native.document import FlowDocument, FlowNode, LoopNode, MapNode, Node, TypeNode
from tests.properties.document_reading import AFTER, Read, parted, reads_of, sources_of
from tests.properties.lifting import lifted
from tests.properties.node_functions import answer_to, call_plainly, recording
from tests.properties.playing import FUNCTIONS, Fired, loose_in, mark, plain
from tests.properties.reference import Reference
from tests.properties.reference_blocks import flow_frame
from tests.properties.reference_tokens import Dead, Firing, Frame, is_error

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
