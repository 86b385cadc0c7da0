"""The options of commands that execute a run: their declarations and their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.flows import Flow
    from dataflow.stores import Store

__all__ = [
    "EventsOption",
    "FullOption",
    "InputOption",
    "JsonOption",
    "LogFormatOption",
    "MaxConcurrencyOption",
    "NoStoreOption",
    "Options",
    "OutputOption",
    "PromptArgument",
    "PullOption",
    "TraceOption",
    "TracebackOption",
]

PromptArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="PROMPT",
        help="The input 'prompt', or the only required one; - reads standard input.",
        show_default=False,
    ),
]
InputOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="K=V",
        help="Input K: plain text for an input of type str, else JSON; "
        "K=@FILE takes the text of a file, K=- standard input.",
    ),
]
JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Write only the result to standard output, as one JSON object.")
]
EventsOption: TypeAlias = Annotated[
    bool, typer.Option("--events", help="Before it write each event as a JSON object; implies --json.")
]
OutputOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="NAME",
        help="Write only this output; of a single one the bare value. Every node runs all the same.",
    ),
]
PullOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PORT",
        help="Run only what this port (node.port) or output needs, and write its bare value.",
        show_default=False,
    ),
]
MaxConcurrencyOption: TypeAlias = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Run at most N nodes at a time.", show_default=False)
]
TraceOption: TypeAlias = Annotated[
    bool, typer.Option("--trace", help="Show the inputs and outputs of each node, shortened.")
]
TracebackOption: TypeAlias = Annotated[
    bool, typer.Option("--traceback", help="Show the tracebacks of failures.")
]
FullOption: TypeAlias = Annotated[
    bool, typer.Option("--full", help="Write long values in full, also to a terminal.")
]
NoStoreOption: TypeAlias = Annotated[
    bool,
    typer.Option("--no-store", help="Do not store the run: it can hold any value, and cannot be resumed."),
]


LogFormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SYSTEM",
        help="Report the progress in the words of the system that the flow was written for.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The values of the options of a command that executes a run."""

    as_json: bool = False
    events: bool = False
    trace: bool = False
    tracebacks: bool = False
    full: bool = False  # long values are not shortened
    outputs: Sequence[str] = ()
    pulled: Sequence[str] = ()
    max_concurrency: int | None = None
    store: str | None = None  # the path that was given
    flow: str | None = None  # the file that replaces the target of the run
    log_format: str | None = None  # the system whose format the progress has
    is_kept: bool = True  # the run is stored

    @property
    def is_bare(self) -> bool:
        """Whether a single value is requested, which is written without a name."""
        return len(self.pulled) == 1 or len(self.outputs) == 1

    @property
    def port(self) -> str | None:
        """The pulled port, if any."""
        return self.pulled[0] if self.pulled else None

    def wanted(self, declared: Sequence[str]) -> Sequence[str]:
        """Return the names of the outputs to write."""
        return self.outputs or declared

    def settled(self, flow: Flow, store: Store | None) -> Flow:
        """Return the flow with this store and the requested concurrency, its other settings unchanged."""
        changes: dict[str, Any] = {"store": store, "progress": False}  # the command shows its own
        if self.max_concurrency is not None:
            changes["max_concurrency"] = self.max_concurrency
        return flow.using(**changes)
