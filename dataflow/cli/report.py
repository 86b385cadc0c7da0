"""Report the result of a run: as the object of `--json`, or as lines for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, assert_never

from dataflow.base.wording import counted, listed, on_one_line, shortened, visible
from dataflow.cli.asks import answers_needed, tell_ask
from dataflow.cli.json_output import write_json
from dataflow.cli.output import ExitCode, code_of_signal, duration, is_terminal, one_line, tell, write
from dataflow.cli.paths import path_text
from dataflow.cli.storage import command_for
from dataflow.errors import ValueRefused
from dataflow.inspection.json_values import json_value
from dataflow.inspection.open_asks import of_result
from dataflow.secrets.known import redacted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import TextIO

    from dataflow.base.failure import Failure
    from dataflow.cli.options import Options
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.runtime.result import Result

__all__ = [
    "Outcome",
    "code_of",
    "last_line",
    "output_text",
    "tell_outcome",
    "write_object",
    "write_outputs",
    "write_refusal",
]

MOST_TOLD: Final = 20  # warnings and failures
MOST_LINES: Final = 20  # of an output on a terminal
MOST_CHARACTERS: Final = 2_000  # of an output on a terminal, and of the message of a failure
MOST_TRACEBACK: Final = 20_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run, and its duration."""

    result: Result
    failures: Sequence[Failure]
    seconds: float
    reason: str = ""  # for its cancellation


def code_of(outcome: Outcome, caught: int | None) -> int:
    """Return the exit code of a run (S20); `caught` is the signal that was received, if any."""
    match outcome.result.status:
        case "completed":
            return ExitCode.COMPLETED
        case "paused":
            return ExitCode.PAUSED
        case "failed":
            return ExitCode.FAILED
        case "cancelled":
            return ExitCode.FAILED if caught is None else code_of_signal(caught)
        case status:
            assert_never(status)


def write_object(
    out: TextIO | None, outcome: Outcome, wanted: Sequence[str], failed: Mapping[str, Failure]
) -> None:
    """Write the object of `--json` (S20) on one line, with the requested outputs.

    In addition to S20 it has the warnings, the reasons of outputs without a value, the metadata of nodes, and
    the failures that were handled: of all firings that have failed, those that have not failed the run.
    """
    result = outcome.result
    unhandled = {failure.path for failure in outcome.failures}
    write_json(
        out,
        {
            "run": result.run_id,
            "status": result.status,
            "outputs": {name: json_value(value) for name, value in _values(result, wanted)},
            "asks": [of_result(result.run_id, ask).as_json() for ask in result.asks],
            "failures": [json_value(failure) for failure in outcome.failures],
            "handled": [json_value(one) for path, one in failed.items() if path not in unhandled],
            "checks": [],
            "warnings": list(result.warnings),
            "skipped": _without_value(result, wanted),
            "metadata": {path: json_value(dict(found)) for path, found in result.metadata.items()},
        },
    )


def write_refusal(
    out: TextIO | None, problems: Sequence[Diagnostic], type: str, run: str | None = None
) -> None:
    """Write the object of `--json` for a run that could not be started or resumed."""
    nowhere = {"node": "", "path": "", "attempt": 0, "type": type, "traceback": ""}
    failures = [{**nowhere, "message": str(one), "problem": one.as_json()} for one in problems]
    write_json(
        out,
        {
            "run": run,
            "status": "failed",
            "outputs": {},
            "asks": [],
            "failures": failures,
            "handled": [],
            "checks": [],
            "warnings": [],
            "skipped": {},
            "metadata": {},
        },
    )


def _values(result: Result, wanted: Iterable[str]) -> list[tuple[str, Any]]:
    return [(name, result.outputs[name]) for name in wanted if name in result.outputs]


def _without_value(result: Result, wanted: Iterable[str]) -> dict[str, str]:
    """Return the reason of each output without a value."""
    reasons = {}
    for name in wanted:
        try:
            _ = result[name]
        except KeyError as error:
            reasons[name] = str(error.args[0])
    return reasons


def write_outputs(out: TextIO | None, result: Result, wanted: Sequence[str], options: Options) -> None:
    """Write the outputs for people: shortened on a terminal, else in full; a single one without its name.

    `--full` writes them in full on a terminal, too.
    """
    bare, shorten = options.is_bare, is_terminal(out) and not options.full
    values = _values(result, wanted)
    for name, value in values:
        text = bare_text(value) if bare else output_text(name, value, shorten=shorten)
        if bare and is_terminal(out):
            text = "".join(_cut(text, value)) if shorten else visible(text)
        write(out, text)
    reasons = _without_value(result, wanted) if result.status == "completed" else {}
    if values and len(reasons) > 1:  # as behind the branch outputs that were not taken
        tell(_left_out(result.run_id, [*reasons], options))
    else:
        for reason in reasons.values():
            tell(one_line(reason))


def _left_out(run: str, names: Sequence[str], options: Options) -> str:
    """List the outputs without a value on one line, with the command that explains them."""
    why = command_for("why", run, names[0], store=options.store, flow=options.flow)
    hint = f"{why} says why" if options.is_kept else "--json says why"
    return on_one_line(f"no value for {listed(names, len(names))} ({hint})")


def bare_text(value: object) -> str:
    """Serialize a value for another program: a string unchanged, any other value as JSON."""
    if isinstance(value, str):
        return redacted(value)
    return json.dumps(redacted(json_value(value)), ensure_ascii=False)


def output_text(name: str, value: object, *, shorten: bool) -> str:
    """Format an output: on one line with its name, or indented below it."""
    text, note = bare_text(value), ""
    if shorten:
        name, (text, note) = visible(name), _cut(text, value)
    text = text.rstrip("\n")
    if "\n" not in text and not note:
        return f"{name}: {text}"
    lines = "\n".join(f"  {line}" if line else "" for line in text.split("\n"))
    return f"{name}:\n{lines}{note}"


def _cut(text: str, value: object) -> tuple[str, str]:
    """Return the first lines of a text, made visible, and a note with the size of a longer one."""
    kept = "\n".join(text[:MOST_CHARACTERS].splitlines()[:MOST_LINES])
    if len(kept) >= len(text.rstrip()):
        return visible(kept), ""
    count = f"{counted(len(value), 'item')}, " if isinstance(value, list | tuple | dict | set) else ""
    return visible(kept), f"\n  ... ({count}{len(text):,} characters; --full or --json gives them all)"


def tell_outcome(outcome: Outcome, options: Options, asked: Collection[str] = (), used: str = "") -> None:
    """Print warnings, failures, open asks and usage to standard error, and last how the run ended.

    `asked` are the asks that were printed when they opened.
    """
    warnings = outcome.result.warnings
    for warning in warnings[:MOST_TOLD]:
        tell(f"warning: {visible(warning)}")
    if len(warnings) > MOST_TOLD:
        tell(f"warning: and {len(warnings) - MOST_TOLD} more")
    if (
        options.tracebacks
        or len(outcome.failures) > 1
        or any("\n" in one.message for one in outcome.failures)
    ):
        _tell_failures(outcome.failures, options)
    if outcome.result.status == "paused":
        _tell_asks(outcome.result, options, asked)
    if options.is_kept and any(failure.type == ValueRefused.__name__ for failure in outcome.failures):
        tell("what cannot be stored can be run without keeping it: --no-store")
    if used:
        tell(f"used {used}")
    tell(last_line(outcome))


def _tell_asks(result: Result, options: Options, asked: Collection[str]) -> None:
    """Print the open asks, and the command that answers them and resumes the run."""
    asks = [of_result(result.run_id, ask) for ask in result.asks]
    new = [ask for ask in asks if ask.id not in asked]
    room = max(MOST_TOLD - (len(asks) - len(new)), 0)
    for ask in new[:room]:
        tell_ask(ask)
    if len(new) > room:
        tell(f"and {len(new) - room} more asks")
    if options.is_kept:
        command = command_for("resume", result.run_id, store=options.store, flow=options.flow)
        tell(f"go on with: {command} {visible(' '.join(answers_needed(asks[:MOST_TOLD])))}")
    else:
        tell("the run is not kept, so it cannot go on: run it without --no-store to answer")


def _tell_failures(failures: Sequence[Failure], options: Options) -> None:
    for failure in failures[:MOST_TOLD]:
        message, trace = failure.message, failure.traceback.rstrip()
        if not options.full:
            message, trace = shortened(message, MOST_CHARACTERS), shortened(trace, MOST_TRACEBACK)
        tell(f"{_place(failure)}: {failure.type}: {visible(message)}")
        if options.tracebacks:
            tell(visible(trace))
    if len(failures) > MOST_TOLD:
        tell(f"and {len(failures) - MOST_TOLD} more failures")


def _place(failure: Failure) -> str:
    """Return the path of the node, with the attempt unless it is the first."""
    again = f" (attempt {failure.attempt})" if failure.attempt > 1 else ""
    return f"{path_text(failure.path) or 'the run'}{again}"


def last_line(outcome: Outcome) -> str:
    """Return the line that says how the run ended."""
    match outcome.result.status:
        case "completed":
            return f"completed in {duration(outcome.seconds)}"
        case "paused":
            return f"paused: {counted(len(outcome.result.asks), 'open ask')}"
        case "cancelled":
            return "cancelled" + (f": {outcome.reason}" if outcome.reason else "")
        case "failed":
            first, *others = outcome.failures
            more = f" (and {len(others)} more)" if others else ""
            return f"failed: {_place(first)}: {first.type}: {one_line(first.message)}{more}"
        case status:
            assert_never(status)
