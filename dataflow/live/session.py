"""`Live`: update inputs and code, read outputs, and explain them."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from dataflow.base.backend import cancellation_types, new_event, run_in_background, wait_through
from dataflow.base.copies import own_copy
from dataflow.base.tracebacks import USER_FRAMES, UserBlock
from dataflow.base.wording import counted
from dataflow.compiler.addresses import Addresses, RootPort, end_of, name_of
from dataflow.core.inputs import read_some
from dataflow.core.states import Errored, Skip
from dataflow.errors import DataflowError
from dataflow.live.engine import LiveEngine, failed
from dataflow.live.freshness import Stage
from dataflow.live.replacement import address_in, check_layout, places_in, type_of, with_replaced
from dataflow.runtime.reasons import Explanation, Reason, ReasonKind, ask_text, explain_token
from dataflow.runtime.result import value_missing
from dataflow.runtime.tasks import owning_tasks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from dataflow.compiler.definition import Definition
    from dataflow.compiler.plan import PlanNode
    from dataflow.core.inputs import Ask
    from dataflow.core.wiring import Nested
    from dataflow.live.engine import Seen
    from dataflow.live.reuse import PastOutcome, Reads

__all__ = ["Background", "Counts", "Live", "live"]

T = TypeVar("T")
U = TypeVar("U")
#: How many causes an explanation has at most.
MOST_CAUSES: Final = 50


@dataclass(frozen=True, slots=True)
class Counts:
    """What a live session has done so far; `revision` counts the states of inputs and code, from 1."""

    revision: int
    called: int  # node functions that were called
    reused: int  # firings that were reused, since their inputs turned out to be unchanged
    stale: int  # nodes of the flow that are not up to date


class Live:
    """A flow that is kept up to date, as opened by `Flow.live`; it belongs to one event loop.

    A port is given as to `Result.get`: a port of the builder, a string like `node.port`, or the name of an
    output.
    """

    __slots__ = ("_addresses", "_background", "_definition", "_engine", "_hidden", "_wiring")

    def __init__(self, definition: Definition, engine: LiveEngine) -> None:
        self._definition = definition
        self._engine = engine
        self._background: Background | None = None  # that keeps it open, if it was opened without a block
        self._wiring = definition.wiring  # of the plan that runs now
        self._addresses = Addresses(engine.scheduler.plan)
        root = engine.scheduler.plan.root
        self._hidden = [node.index for node in root.nodes if not node.is_visible]

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"<live {self._wiring.name}: revision {counts.revision}, {counted(counts.stale, 'stale node')}>"
        )

    @property
    def counts(self) -> Counts:
        """How many functions were called, how many firings reused, and how many nodes are stale."""
        reusing, stages = self._engine.reusing, self._engine.freshness.stages
        stale = len(stages) - stages.count(Stage.FRESH)
        stale -= sum(stages[index] != Stage.FRESH for index in self._hidden)
        return Counts(reusing.revision, reusing.called, reusing.reused, stale)

    @property
    def asks(self) -> Sequence[Ask]:
        """The asks that wait for an answer, in the order of their nodes."""
        return self._engine.scheduler.asking.asks

    async def update(self, /, **inputs: Any) -> None:
        """Set new values of inputs, all in one revision; inputs that are not named keep their values.

        The transitive dependents become stale, and those that are running are cancelled unless declared
        `effect`. Nothing is computed until a port is read or watched. Raises FlowInvalid for a value that
        does not fit; then nothing has changed.
        """
        plan, wiring = self._engine.scheduler.plan, self._definition.wiring
        values = read_some(plan.name, wiring.inputs, inputs)
        self._engine.revise({plan.root.parameters[name]: value for name, value in values.items()})

    @overload
    async def get(self, port: str, /) -> Any: ...
    @overload
    async def get(self, port: T, /) -> T: ...
    @overload
    async def get(self, port: T, other: U, /) -> tuple[T, U]: ...
    @overload
    async def get(self, port: object, other: object, /, *more: object) -> tuple[Any, ...]: ...
    async def get(self, port: object, /, *more: object) -> Any:
        """Compute the stale nodes that a port needs, and return its value; of several ports a tuple.

        All values are of one revision: the newest at the time of the call, or a later one. Raises RunFailed
        if a node has failed, Paused if an answer is needed, DataflowError if a port has no value.
        """
        ports = (port, *more)
        with USER_FRAMES:
            seen = await self._engine.ports.settled_together([self._find(one) for one in ports])
            values = tuple(map(self._value, ports, seen))
            return values if more else values[0]

    def _value(self, port: object, seen: Seen) -> Any:
        match seen.token:
            case Errored() as error:
                raise failed(self._engine.scheduler, error)
            case Skip() as skip:
                raise DataflowError(value_missing(_named(port), skip))
            case value:
                return own_copy(value)

    @overload
    def watch(self, port: str) -> AsyncIterator[Any]: ...
    @overload
    def watch(self, port: T) -> AsyncIterator[T]: ...
    async def watch(self, port: object) -> AsyncIterator[Any]:
        """Iterate over the values of a port: the current one, and each that differs from the one before.

        A slow reader gets the newest value and misses those between. While the port has no value, or an
        answer is needed, the iterator waits. It ends with the session. Raises RunFailed if a node has failed;
        the port can be watched again.
        """
        found, last, engine = self._find(port), None, self._engine
        while not engine.is_over():
            changed = engine.changed
            try:
                seen = await engine.ports.settled(found, is_patient=True)
            except DataflowError:
                if not engine.is_over():
                    raise
                return
            if type(seen.token) is Errored:
                if engine.changed is not changed:
                    continue  # a late reader of the failure would wait for a revision that has already begun
                raise failed(engine.scheduler, seen.token)
            if type(seen.token) is not Skip and seen.digest != last:
                last = seen.digest
                yield own_copy(seen.token)
            if engine.changed is changed and not engine.is_over():
                await changed.wait()

    async def revised(self) -> int:
        """Wait for the next revision, begun by an update or a replacement, and return its number.

        Use it after a failure, before watching the port again. Raises DataflowError once the session is over.
        """
        self._engine.check()
        await self._engine.changed.wait()
        self._engine.check()
        return self._engine.reusing.revision

    async def answer(self, answers: Mapping[str, object]) -> None:
        """Answer open asks by their ids; raises AnswerRefused, and then apply none of the answers.

        An answer is kept as long as the inputs of its node do not change.
        """
        asking = self._engine.scheduler.asking
        read = {id: asking.read(id, value, "live") for id, value in answers.items()}
        self._engine.answer(read)

    async def aclose(self) -> None:
        """End the session, and wait until what is running is cancelled and its shared resources are closed.

        A session of a block also ends with its block. Raises what has interrupted the session, if anything.
        """
        self._engine.cancel("it has been closed")
        if self._background is None:
            await self._engine.ended.wait()
        else:
            await self._background.wait()

    async def replace(self, node: object, fn: Callable[..., Awaitable[Any]] | Nested) -> None:
        """Replace the function of a node; only the node and its dependents become stale.

        The node is given as a step or as a string like `loop/node`; the function is an async function, a
        `Node` or a flow with the same ports. Raises DataflowError for an unknown node, FlowInvalid for a
        function that does not fit; then nothing has changed.
        """
        engine, wiring = self._engine, self._wiring
        address = address_in(self._definition.wiring, node)
        kind = type_of(fn)
        replaced = with_replaced(wiring, address, kind)
        plan = self._definition.compile_other(replaced)
        check_layout(plan.name, address, kind, engine.scheduler.plan.root, plan.root)
        engine.replace(plan, places_in(plan.root, address[0]))
        self._wiring = replaced

    def why(self, port: object) -> str:
        """Explain the value of a port: whether it is stale, and which changes it was last computed for.

        A node without a port `out` may be named alone; the text is then about all its ports.
        """
        return str(self.explain(port))

    def explain(self, port: object) -> Explanation:
        """Return the explanation of `why` as data: reasons, each with its causes."""
        found = self._addresses.output(port)
        if found is not None:
            return _explain(self._engine, f"output {port!r}", found)
        node = self._addresses.node(port)
        if node is not None:
            return _explain(self._engine, f"node {node.id!r}", end_of(node))
        return _explain(self._engine, name_of(port), self._addresses.port(port))

    def _find(self, port: object) -> RootPort:
        return self._addresses.output(port) or self._addresses.port(port)


def _named(port: object) -> str:
    return f"output {port!r}" if isinstance(port, str) else f"port {name_of(port)}"


def live(definition: Definition, inputs: Mapping[str, Any]) -> AbstractAsyncContextManager[Live]:
    """Keep a flow up to date while the block runs; leaving the block cancels what is running."""
    return UserBlock(_live(definition, inputs))


@asynccontextmanager
async def _live(definition: Definition, inputs: Mapping[str, Any]) -> AsyncIterator[Live]:
    given = definition.settings
    settings = replace(given, store=None, memo=given.memo or given.store, timeout=None, keep=True)
    plan = definition.compile()
    async with owning_tasks(partial(LiveEngine, plan, settings, inputs)) as engine:
        yield Live(definition, engine)


class Background:
    """Keeps a session open in a background task, without a block of the user."""

    def __init__(self, block: AbstractAsyncContextManager[Live]) -> None:
        self._block = block
        self._began, self._ended = new_event(), new_event()
        self._session: Live | None = None
        self._error: BaseException | None = None

    async def open(self) -> Live:
        """Open the session; raises what its block raises at its beginning."""
        run_in_background(self._keep)
        await wait_through(self._began)
        if self._session is None:
            await self.wait()
        assert self._session is not None, "the block has begun"
        return self._session

    async def wait(self) -> None:
        """Wait until the block has been left; raises what it has raised."""
        await self._ended.wait()
        if self._error is not None:
            raise self._error

    async def _keep(self) -> None:
        try:
            async with self._block as session:
                session._background = self  # noqa: SLF001 - of this module
                self._session = session
                self._began.set()
                await session._engine.ended.wait()  # noqa: SLF001 - as above
        except cancellation_types():  # the event loop ends
            raise
        except BaseException as error:  # noqa: BLE001 - raised where the session is closed
            self._error = error
        finally:
            self._began.set()
            self._ended.set()


def _explain(engine: LiveEngine, named: str, found: RootPort) -> Explanation:
    """Explain a port; the reasons after the first are its causes."""
    index = engine.ports.maker(found)
    if index is None:
        return _explanation(_given(engine, found.slot, named))
    node = engine.scheduler.root.plan.nodes[index]
    match Stage(engine.freshness.stages[index]):
        case Stage.FRESH | Stage.LOST:
            token = engine.ports.look(found).token
            if isinstance(token, Skip | Errored):
                return explain_token(named, token, "live", root=engine.scheduler.root)
            head = Reason(ReasonKind.VALUE, named, f"{named} {_computed(engine, node)}")
            return _explanation(head, _causes(engine, node))
        case Stage.STALE if engine.reusing.memory.of_root(index) is None and index not in engine.replaced_in:
            text = f"{named} has not been computed: nobody has asked for it"
            return _explanation(Reason(ReasonKind.NOT_DEMANDED, named, text))
        case Stage.STALE:
            text = f"{named} is stale, and nobody has asked for it since"
            return _explanation(Reason(ReasonKind.STALE, named, text), _changes(engine, node))
        case _:
            return _on_its_way(engine, named)


def _on_its_way(engine: LiveEngine, named: str) -> Explanation:
    """Explain a port that is demanded and has not settled."""
    asks = [
        Reason(ReasonKind.ASK, id, ask_text(id, one.ask.prompt))
        for id, one in engine.scheduler.asking.open.items()
    ]
    if not asks:
        return _explanation(Reason(ReasonKind.RUNNING, named, f"{named} is being computed"))
    return _explanation(Reason(ReasonKind.WAITING, named, f"{named} waits"), asks)


def _explanation(head: Reason, causes: Iterable[Reason] = ()) -> Explanation:
    different = list(dict.fromkeys(causes))
    return Explanation((replace(head, causes=tuple(range(1, len(different) + 1))), *different))


def _given(engine: LiveEngine, slot: int | None, named: str) -> Reason:
    since = "" if slot is None else f", and has its value since revision {engine.changed_in.get(slot, 1)}"
    return Reason(ReasonKind.VALUE, named, f"{named} is given{since}")


def _computed(engine: LiveEngine, node: PlanNode) -> str:
    known = engine.reusing.memory.of_root(node.index)
    if known is None:
        return "has a value, which joins those of others"
    again = "" if known.revision == engine.reusing.revision else "; what it is given has not changed since"
    memo = engine.scheduler.root.memos.get(node.index)
    return f"was computed in revision {known.revision}{f', {memo}' if memo else ''}{again}"


def _causes(engine: LiveEngine, node: PlanNode) -> Iterator[Reason]:
    """Yield the changes that caused the outcome of a node, walking upstream through changed ports."""
    links, plan = engine.freshness.links, engine.scheduler.root.plan
    memory, digests = engine.reusing.memory, engine.reusing.digests
    todo, seen = [node], {node.index}
    count = 0
    for one in todo:  # grows while it is walked
        known = memory.of_root(one.index)
        reads = digests.reads_of(one)
        because = reads.ports if known is None else _changed(reads, known)
        if known is not None and engine.replaced_in.get(one.index) == known.revision:
            yield _replaced(engine, one)
        for port, slot in zip(reads.ports, (*reads.slots, *reads.signals), strict=True):
            if port not in because or count == MOST_CAUSES:
                continue
            count += 1
            maker = links.makers.get(slot)
            if maker is None:
                yield _new_input(engine, slot)
            elif maker not in seen:
                seen.add(maker)
                todo.append(plan.nodes[maker])
                if known is not None:
                    text = f"{plan.names[slot]} changed, which {one.id} reads as {port!r}"
                    yield Reason(ReasonKind.CHANGED, plan.names[slot], text)


def _changed(reads: Reads, known: PastOutcome) -> tuple[str, ...]:
    """Return the ports of a node whose values differ from the computation before."""
    if known.before is None or len(known.before) != len(known.given):
        return ()
    pairs = zip(reads.ports, known.before, known.given, strict=True)
    return tuple(port for port, old, new in pairs if old != new)


def _changes(engine: LiveEngine, node: PlanNode) -> Iterator[Reason]:
    """Yield the changes of inputs and functions upstream of a node since it was computed."""
    links, known = engine.freshness.links, engine.reusing.memory.of_root(node.index)
    since = engine.replaced_in.get(node.index, 1) - 1 if known is None else known.revision
    todo, seen = [node.index], {node.index}
    for index in todo:  # grows while it is walked
        if engine.replaced_in.get(index, 0) > since:
            yield _replaced(engine, engine.scheduler.root.plan.nodes[index])
        for slot in links.reads[index]:
            maker = links.makers.get(slot)
            if maker is None and engine.changed_in.get(slot, 0) > since:
                yield _new_input(engine, slot)
            elif maker is not None and maker not in seen and not engine.freshness.is_fresh(maker):
                seen.add(maker)
                todo.append(maker)


def _replaced(engine: LiveEngine, node: PlanNode) -> Reason:
    text = f"{node.id} runs other code since revision {engine.replaced_in[node.index]}"
    return Reason(ReasonKind.CHANGED, node.label, text)


def _new_input(engine: LiveEngine, slot: int) -> Reason:
    names = [name for name, own in engine.scheduler.root.plan.parameters.items() if own == slot]
    place = f"input {names[0]!r}" if names else "a constant"
    text = f"{place} changed in revision {engine.changed_in.get(slot, 1)}"
    return Reason(ReasonKind.CHANGED, place, text)
