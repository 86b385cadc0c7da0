"""OpenTelemetry spans of runs, nodes, loops and maps, and links between them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context as contexts
from opentelemetry import trace

from dataflow.base.failure import Failure, text_of_error
from dataflow.base.logs import masked_logger
from dataflow.base.wording import LONGEST_PROBLEM, shortened
from dataflow.compiler.plan import FlowOf, LoopOf, MapOf
from dataflow.core.events import EventKind, Reporter
from dataflow.core.firing import NO_SPAN, Span
from dataflow.core.states import NodeState, RunStatus
from dataflow.errors import NodeTimeout
from dataflow.secrets.known import redacted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextvars import Context

    from opentelemetry.trace import SpanContext

    from dataflow.compiler.plan import PlanNode, ScopePlan
    from dataflow.core.policy import Telemetry
    from dataflow.scheduler.frames import Frame

__all__ = ["TracedReporter"]

LOG: Final = masked_logger("dataflow.telemetry")
#: The maximum number of characters of an attribute, which a collector may refuse with the whole batch.
LONGEST_ATTRIBUTE: Final = 100_000
#: The types of nodes that open scope instances, as attributes name them.
OPENERS: Final[Mapping[type, str]] = {LoopOf: "loop", MapOf: "map", FlowOf: "flow"}


class TracedReporter(Reporter):
    """Reports the events of a run to its spans too, before they are stored or reach listeners."""

    __slots__ = (
        "_base", "_failures", "_links", "_open", "_owners", "_root", "_status", "_tracer", "flow",
        "telemetry", "what",
    )  # fmt: skip

    def __init__(self, telemetry: Telemetry, what: str, flow: str, run: str, **given: Any) -> None:
        super().__init__(run, **given)
        self.is_listening = self.is_tracing = True
        self.telemetry, self.what, self.flow = telemetry, what, flow
        self._tracer = trace.get_tracer("dataflow", tracer_provider=telemetry.provider)
        self._base = contexts.get_current()  # of the caller of the flow
        self._root: trace.Span | None = None
        self._status: RunStatus | None = None
        self._failures: tuple[str, ...] = ()
        self._open: dict[str, _Open] = {}  # by path
        self._owners: dict[Frame, _Open] = {}  # by the scope instances that their nodes have opened
        self._links = Links()

    def emit(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        if self.recorder is None:
            self._trace(kind, path, data)
        super().emit(kind, path, data)

    def make(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> Any:
        self._trace(kind, path, data)
        return super().make(kind, path, data)

    def _forget(self, gone: Any) -> None:
        super()._forget(gone)
        self.is_listening = not self._has_ended

    def ended(self, status: RunStatus) -> None:
        self._status = status

    def close(self) -> None:
        super().close()
        with _logging_errors():
            status = None if self._status is None else self._status.value
            for path in reversed([*self._open]):  # what was opened last is inside the others
                self._end(path, status)
            root = self._run_span()
            if status is not None:
                root.set_attribute("dataflow.state", status)
            if self._status is RunStatus.FAILED:
                root.set_status(trace.StatusCode.ERROR, ", ".join(self._failures) or None)
            root.end()

    def enter(self, frame: Frame, index: int, context: Context) -> None:
        """Begin the span of an attempt, which is current in its context from now on."""
        with _logging_errors():
            node = frame.plan.nodes[index]
            call: Any = node.action  # only calls are called
            span = self._start(frame, node, call.type.id).span
            context.run(contexts.attach, trace.set_span_in_context(span, self._base))

    @contextmanager
    def open_span(
        self, name: str, attributes: Mapping[str, object], *, is_client: bool = False
    ) -> Iterator[Span]:
        """Begin a node's own span inside the current one, and end it with the block."""
        kind = trace.SpanKind.CLIENT if is_client else trace.SpanKind.INTERNAL
        span: trace.Span = trace.INVALID_SPAN
        with _logging_errors():
            span = self._tracer.start_span(redacted(name), kind=kind)
        opened = _NodeSpan(span, name, with_content=self.telemetry.content)
        opened.note(attributes)
        try:
            with trace.use_span(span, record_exception=False, set_status_on_exception=False):
                yield opened
        except Exception as error:
            with _logging_errors():
                self._note_failure(span, type(error).__name__, text_of_error(error))
            raise
        finally:
            with _logging_errors():
                span.end()

    def flow_span(self, frame: Frame) -> Span:
        name, span = self.flow, self._root
        while frame.parent is not None:
            node = frame.parent.plan.nodes[frame.owner]
            if isinstance(node.action, FlowOf):
                opened = self._owners.get(frame)
                name, span = node.id, None if opened is None else opened.span  # it may have ended
                break
            frame = frame.parent
        return NO_SPAN if span is None else _NodeSpan(span, name, with_content=self.telemetry.content)

    def _trace(self, kind: EventKind, path: str, data: Mapping[str, Any]) -> None:
        """Begin and end spans as an event requires."""
        with _logging_errors():
            match kind:
                case EventKind.RUN_STARTED | EventKind.RUN_RESUMED:
                    self._run_span()
                case EventKind.RUN_FINISHED:
                    self._failures = tuple(data.get("failures", ()))
                case EventKind.NODE_FINISHED:
                    self._end(path, data["state"], data.get("failure"))
                case EventKind.ATTEMPT_FAILED:
                    self._end(path, self._state_after(path, data["error"]), data["error"])
                case EventKind.ASK_OPENED:
                    self._end(path, NodeState.PAUSED.value)
                case _:
                    pass

    def _run_span(self) -> trace.Span:
        if self._root is None:
            attributes = {"dataflow.run.id": self.run, "dataflow.flow": self.flow}
            self._root = self._tracer.start_span(
                f"{self.what} {self.flow}", self._base, attributes=attributes
            )
        return self._root

    def _start(self, frame: Frame, node: PlanNode, type: str) -> _Open:
        """Begin the span of a node, inside the span of the opener of its scope instance."""
        owner = self._owner_of(frame)
        path = frame.path_of(node)
        attributes: dict[str, str | int] = {
            "dataflow.run.id": self.run,
            "dataflow.path": path,
            "dataflow.node.type": type,
            "dataflow.attempt": frame.attempt_of(node.index),
        }
        around = trace.set_span_in_context(self._run_span() if owner is None else owner.span, self._base)
        links = [trace.Link(source) for source in self._links.to(frame, node)]
        span = self._tracer.start_span(node.id, around, attributes=attributes, links=links)
        self._links.note(frame, node.index, span.get_span_context())
        self._end(path, None)  # its end was not reported
        opened = self._open[path] = _Open(span)
        return opened

    def _owner_of(self, frame: Frame) -> _Open | None:
        """Return the span of the opener of a scope instance, which begins with the first call inside."""
        inner = []
        while frame.parent is not None and frame not in self._owners:
            inner.append(frame)
            frame = frame.parent
        found = self._owners.get(frame)
        for opened in reversed(inner):
            parent = opened.parent
            assert parent is not None, "it is inside a frame"
            node = parent.plan.nodes[opened.owner]
            kind = OPENERS[type(node.action)]
            found = self._open.get(parent.path_of(node)) or self._start(parent, node, kind)
            found.frames.append(opened)
            self._owners[opened] = found
        return found

    def _end(self, path: str, state: str | None, failure: Failure | None = None) -> None:
        """End the span of an attempt, if there is one: a skipped or cached node has none."""
        opened = self._open.pop(path, None)
        if opened is None:
            return
        for frame in opened.frames:
            del self._owners[frame]
            self._links.forget(frame)
        if failure is not None:
            self._note_failure(opened.span, failure.type, failure.message)
        if state is not None:
            opened.span.set_attribute("dataflow.state", state)
        opened.span.end()

    def _state_after(self, path: str, failure: Failure) -> str:
        """Return the state of an attempt that is retried; a failure inside a node fails the node."""
        is_late = failure.type == NodeTimeout.__name__ and path in self._open and not self._open[path].frames
        return (NodeState.TIMED_OUT if is_late else NodeState.FAILED).value

    def _note_failure(self, span: trace.Span, type: str, message: str) -> None:
        """Mark a span as failed; the message may be content."""
        span.set_attribute("error.type", redacted(type))
        text = f"{type}: {message}" if self.telemetry.content and message else type
        span.set_status(trace.StatusCode.ERROR, shortened(redacted(text), LONGEST_PROBLEM))


@dataclass(slots=True, eq=False)
class _Open:
    """A span that has begun, and the scope instances that its node has opened."""

    span: trace.Span
    frames: list[Frame] = field(default_factory=list)


class _NodeSpan(Span):
    """A span that a node may change: one that it has begun itself, or that of the subflow around it."""

    __slots__ = ("_span", "name", "tells_content")

    def __init__(self, span: trace.Span, name: str, *, with_content: bool) -> None:
        self._span, self.name = span, name
        self.tells_content = with_content

    def note(self, attributes: Mapping[str, object]) -> None:
        with _logging_errors():
            for name, value in attributes.items():
                if value is not None:
                    self._span.set_attribute(name, _attribute(value))  # type: ignore[arg-type]  # the SDK looks

    def rename(self, name: str) -> None:
        with _logging_errors():
            self._span.update_name(redacted(name))


def _attribute(value: object) -> object:
    """Return a value of an attribute with secrets masked, and long texts shortened."""
    if isinstance(value, str):
        return shortened(value, LONGEST_ATTRIBUTE)
    return [*map(_attribute, value)] if isinstance(value, list | tuple) else redacted(value)


@contextmanager
def _logging_errors() -> Iterator[None]:
    """Log what a tracer raises, and keep it from the run."""
    try:
        yield
    except Exception:
        LOG.exception("a span could not be told")


class Links:
    """The spans of each scope instance by node, for the links from readers to their sources."""

    def __init__(self) -> None:
        self._begun: dict[Frame, dict[int, SpanContext]] = {}
        self._makers: dict[ScopePlan, Mapping[int, int]] = {}  # slot -> the node that fills it

    def note(self, frame: Frame, index: int, span: SpanContext) -> None:
        """Note the span of a node, replacing that of an earlier attempt."""
        self._begun.setdefault(frame, {})[index] = span

    def forget(self, frame: Frame) -> None:
        """Forget the spans of a scope instance that has ended."""
        self._begun.pop(frame, None)

    def to(self, frame: Frame, node: PlanNode) -> Iterator[SpanContext]:
        """Yield the spans of the sources of a node, each once; a join is replaced by its sources."""
        todo = [(frame, slot) for feed in node.feeds for slot in feed.slots]
        seen = set(todo)
        found: set[tuple[Frame, int]] = set()
        while todo:
            frame, slot = todo.pop(0)
            index = self._makers_of(frame.plan).get(slot)
            further: list[tuple[Frame, int]] = []
            if index is None:
                outer = [outside for outside, own in frame.plan.imports if own == slot]
                further = [(frame.parent, one) for one in outer if frame.parent is not None]
            elif not frame.plan.nodes[index].is_visible:
                feeds = frame.plan.nodes[index].feeds
                further = [(frame, one) for feed in feeds for one in feed.slots]
            elif (frame, index) not in found:
                found.add((frame, index))
                span = self._begun.get(frame, {}).get(index)
                if span is not None:
                    yield span
            todo += [one for one in further if one not in seen]
            seen.update(further)

    def _makers_of(self, plan: ScopePlan) -> Mapping[int, int]:
        if plan not in self._makers:
            made = {slot: node.index for node in plan.nodes for slot in node.outputs.values()}
            self._makers[plan] = made
        return self._makers[plan]
