"""What tests of telemetry share: a provider that keeps the spans in memory, and what they tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dataflow import Flow, Result, Telemetry


class Spans:
    """The spans that have ended, in the order in which they did. `settings` go to `using`."""

    def __init__(self, *, content: bool = False) -> None:
        self._kept = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.settings: dict[str, Any] = {"telemetry": Telemetry(content=content, provider=self.provider)}

    @property
    def all(self) -> Sequence[ReadableSpan]:
        return self._kept.get_finished_spans()

    def clear(self) -> None:
        self._kept.clear()

    def names(self) -> list[str]:
        return [self.label(span) for span in self.all]

    def label(self, span: ReadableSpan) -> str:
        """Name a span by its path, with the attempt from the second on; one that has none by its name."""
        told = span.attributes or {}
        attempt = told.get("dataflow.attempt", 1)
        path = str(told.get("dataflow.path", span.name))
        return path if attempt == 1 else f"{path}#{attempt}"

    def one(self, label: str) -> ReadableSpan:
        found = [span for span in self.all if self.label(span) == label]
        assert len(found) == 1, f"expected one span {label!r}, found {self.names()}"
        return found[0]

    def told(self, label: str, name: str) -> object:
        return (self.one(label).attributes or {}).get(name)

    def states(self) -> dict[str, object]:
        """Tell the states that spans ended with, those of a node's own have none."""
        pairs = ((self.label(span), (span.attributes or {}).get("dataflow.state")) for span in self.all)
        return {label: state for label, state in pairs if state is not None}

    def parents(self) -> dict[str, str | None]:
        labels = {span.context.span_id: self.label(span) for span in self.all if span.context is not None}
        return {
            self.label(span): None if span.parent is None else labels.get(span.parent.span_id)
            for span in self.all
        }

    def links(self, label: str) -> list[str | None]:
        labels = {span.context.span_id: self.label(span) for span in self.all if span.context is not None}
        return [labels.get(link.context.span_id) for link in self.one(label).links]

    def text(self) -> str:
        return "\n".join(span.to_json() for span in self.all)


async def traced(flow: Flow, **inputs: Any) -> tuple[Spans, Result]:
    spans = Spans()
    return spans, await flow.using(**spans.settings).run(**inputs)
