"""The exceptions that the engine raises.

DataflowError
├── FlowInvalid        a flow has problems; all of them are listed
│   └── PortMisuse     a port was used as a value while wiring
├── ValueMismatch      a value does not have the type of the port or config field it enters
├── NodeFailed         a node broke its contract (S3.2) or ended in a way the engine cannot accept
│   └── LoopLimit      a loop reached its limit and `on_limit` is "fail"
├── NodeTimeout        a node, or a whole run, took longer than it may; also a TimeoutError
├── RunFailed          a run ended as failed; carries the result and every failure
├── Paused             a run has paused where its value was requested; carries the result with its asks
├── ConversationInvalid  a conversation, or a turn of one, is incomplete or inconsistent
├── BudgetExceeded     the messages that a conversation must keep do not fit the budget
├── ValueRefused       a value cannot be stored so that an equal value is read back
├── SecretMissing      a secret is not found, or not text
├── StoreError         a store cannot be read or written, or does not have the run
│   └── RunTaken       the run is being executed elsewhere, or has ended
├── FlowEdited         the flow has changed in parts that a run has already settled
├── AnswerRefused      an answer matches no open ask, or not its type
├── ExpressionError    an expression or template cannot be parsed or evaluated
├── ArgumentInvalid    a function was called with an argument that it cannot take; also a ValueError
├── NameUnknown        a mapping does not have a name; also a KeyError
├── PackError          a pack cannot be found, imported or used
└── FormatError        a file is not a flow document; carries line and column where known
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final, Literal

from dataflow.base.failure import error_line
from dataflow.base.wording import conceal, counted, shortened, visible
from dataflow.diagnostics.arguments import REPORTED
from dataflow.diagnostics.changes import FLOW_EDITED
from dataflow.diagnostics.conversations import OVER_BUDGET
from dataflow.diagnostics.diagnostic import Diagnostic, Kind, Location
from dataflow.diagnostics.runs import LOOP_LIMIT, RUN_FAILED, RUN_PAUSED, TOOK_TOO_LONG
from dataflow.diagnostics.stores import RUN_TAKEN
from dataflow.diagnostics.values import VALUE_MISMATCH
from dataflow.diagnostics.wiring import PORT_USED_AS_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.base.failure import Failure
    from dataflow.runtime.result import Result

__all__ = [
    "AnswerRefused",
    "ArgumentInvalid",
    "BudgetExceeded",
    "ConversationInvalid",
    "DataflowError",
    "ExpressionError",
    "FlowEdited",
    "FlowInvalid",
    "FormatError",
    "LoopLimit",
    "NameUnknown",
    "NodeFailed",
    "NodeTimeout",
    "PackError",
    "Paused",
    "PortMisuse",
    "RunFailed",
    "RunTaken",
    "SecretMissing",
    "StoreError",
    "ValueMismatch",
    "ValueRefused",
]


#: The maximum number of problems in the message of a FlowInvalid; all are in `problems`.
MOST_PROBLEMS: Final = 100
#: The maximum number of characters of an expression in a message.
MOST_SHOWN: Final = 100


class DataflowError(Exception):
    """The base class of all exceptions that the engine raises on purpose.

    `diagnostics` are the problems as data; `code` is the code of the first. Each class keeps its arguments as
    attributes with the names of its parameters, so that it can be copied. Its message has secrets masked.
    """

    def __init__(self, problem: Diagnostic | str) -> None:
        self.problem = as_diagnostic(problem)
        self.diagnostics: tuple[Diagnostic, ...] = (self.problem,)
        super().__init__(visible(conceal(str(self.problem))))

    @property
    def code(self) -> str:
        """The code of the first problem."""
        return self.diagnostics[0].code if self.diagnostics else ""

    @property
    def reason(self) -> str:
        """The problem in words, without its code and place."""
        return self.problem.problem

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        parameters = list(inspect.signature(type(self).__init__).parameters)[1:]
        if not all(hasattr(self, name) for name in parameters):
            return type(self), self.args
        return type(self), tuple(getattr(self, name) for name in parameters)


class FlowInvalid(DataflowError):
    """Raised once per check with every problem found in a flow."""

    def __init__(self, flow: str, problems: Sequence[Diagnostic | str], what: str = "flow") -> None:
        self.flow = flow
        self.problems = tuple(map(as_diagnostic, problems))
        self.what = what  # "flow", or "node type" for a function that cannot be one
        count = len(self.problems)
        head = f"{what} {flow!r} has {counted(count, 'problem')}:"
        shown = [f"  - {problem}" for problem in self.problems[:MOST_PROBLEMS]]
        rest = count - len(shown)
        text = "\n".join([head, *shown, *([f"  - and {rest} more"] if rest else [])])
        super().__init__(self.problems[0] if self.problems else head)
        self.diagnostics = self.problems
        self.args = (text,)


class PortMisuse(FlowInvalid):
    """Raised when a port is used as a value while a flow is being wired."""

    def __init__(self, port: str, use: str, advice: str) -> None:
        self.port = port
        self.use = use
        self.advice = advice
        problem = PORT_USED_AS_VALUE(port.strip("'"), use=use, advice=advice)
        super().__init__("(being wired)", [problem])
        self.args = (str(problem),)  # raised immediately, with this problem alone


class ValueMismatch(DataflowError):
    """Raised when a value does not have the type of the port or config field that it enters."""

    def __init__(self, found: str, expected: str, place: str = "") -> None:
        self.found = found
        self.expected = expected
        self.place = place
        super().__init__(VALUE_MISMATCH(place, expected=expected, found=found))


class NodeFailed(DataflowError):
    """Raised when a node ends in a way that its declaration does not allow."""

    def __init__(self, node: str, problem: Diagnostic | str) -> None:
        self.node = node
        super().__init__(as_diagnostic(problem).within(node))
        self.problem = as_diagnostic(problem)


class LoopLimit(NodeFailed):
    """Raised when a loop with `on_limit="fail"` reaches its limit of iterations."""

    def __init__(self, loop: str, limit: int, asks: str = "its test") -> None:
        self.loop = loop
        self.limit = limit
        self.asks = asks
        super().__init__(loop, LOOP_LIMIT(rounds=counted(limit, "round"), asks=asks))


class NodeTimeout(DataflowError, TimeoutError):
    """Raised when a node, or the run of a flow, takes longer than its `timeout` or `deadline`."""

    def __init__(
        self,
        node: str,
        seconds: float,
        bound: Literal["timeout", "deadline"] = "timeout",
        what: Literal["node", "flow"] = "node",
    ) -> None:
        self.node = node
        self.seconds = seconds
        self.bound = bound
        self.what = what
        super().__init__(TOOK_TOO_LONG(node, what=what, bound=bound, seconds=f"{seconds:g}"))


class RunFailed(DataflowError):
    """Raised once for a failed run; `__cause__` is the exception of the node."""

    def __init__(self, result: Result, failures: Sequence[Failure]) -> None:
        self.result = result
        self.failures = tuple(failures)
        first = [_described(one) for one in self.failures[:5]]
        rest = len(self.failures) - len(first)
        more = [f"and {rest} more"] if rest > 0 else []
        super().__init__(RUN_FAILED(f"run {result.run_id}", failures="; ".join([*first, *more])))


class Paused(DataflowError):
    """Raised where the value of a run was requested, as by `pull`, and the run has paused.

    `result` contains the open asks; pass it to `flow.resume`.
    """

    def __init__(self, result: Result) -> None:
        self.result = result
        asks = ", ".join(f"{ask.id!r} ({ask.prompt})" for ask in result.asks)
        super().__init__(RUN_PAUSED(f"run {result.run_id}", asks=asks))


class ExpressionError(DataflowError):
    """Raised for an expression or template that cannot be parsed or evaluated."""

    def __init__(self, source: str, problem: Diagnostic | str, kind: str = "expression") -> None:
        self.source = source
        self.kind = kind  # of source: "expression" or "template"
        place = f"{kind} {shortened(source, MOST_SHOWN)!r}"
        super().__init__(as_diagnostic(problem).within(place))
        self.problem = as_diagnostic(problem)


class PackError(DataflowError):
    """Raised when a pack or one of its node types cannot be found, imported or used."""

    def __init__(self, name: str, problem: Diagnostic | str) -> None:
        self.name = name
        super().__init__(as_diagnostic(problem).within(name))
        self.problem = as_diagnostic(problem)


class FormatError(DataflowError):
    """Raised when a file is not a flow document; line and column count from 1 where known."""

    def __init__(
        self, place: str, problem: Diagnostic | str, line: int | None = None, column: int | None = None
    ) -> None:
        self.place = place
        super().__init__(as_diagnostic(problem).at(Location(place, line or 0, column or 0)))
        location = self.diagnostics[0].location
        self.line = location.line or None
        self.column = location.column or None
        self.problem = as_diagnostic(problem)


class ConversationInvalid(DataflowError):
    """Raised for a conversation, or a part of one, in which tool calls and results do not match.

    `position` is the index of the message at fault, from 0, among those that are sent.
    """

    def __init__(self, context_id: str, position: int, problem: Diagnostic | str, part: str = "") -> None:
        self.context_id = context_id
        self.position = position
        self.part = part
        place = f"message {position} of {part}conversation {context_id!r}"
        super().__init__(as_diagnostic(problem).within(place))
        self.problem = as_diagnostic(problem)


class BudgetExceeded(DataflowError):
    """Raised when a conversation cannot be trimmed any further and is still too large."""

    def __init__(self, context_id: str, needed: int, budget: int) -> None:
        self.context_id = context_id
        self.needed = needed
        self.budget = budget
        super().__init__(
            OVER_BUDGET(f"conversation {context_id!r}", needed=f"{needed:,}", budget=f"{budget:,}")
        )


class ValueRefused(DataflowError):
    """Raised for a value that cannot be stored so that an equal value is read back.

    `place` is its location, beginning with node and port: `a.out["h"][1]`. `found` names its type.
    """

    def __init__(self, place: str, found: str, problem: Diagnostic | str) -> None:
        self.place = place
        self.found = found
        super().__init__(as_diagnostic(problem).within(place))
        self.problem = as_diagnostic(problem)


class SecretMissing(DataflowError):
    """Raised for a secret that cannot be looked up by its name, or is not text."""

    def __init__(self, name: str, problem: Diagnostic | str) -> None:
        self.name = name
        super().__init__(as_diagnostic(problem).within(f"secret {name!r}"))
        self.problem = as_diagnostic(problem)


class StoreError(DataflowError):
    """Raised when a store cannot be read or written, or does not have the run."""

    def __init__(self, store: str, problem: Diagnostic | str) -> None:
        self.store = store
        super().__init__(as_diagnostic(problem).within(f"store {store}"))
        self.problem = as_diagnostic(problem)


class RunTaken(StoreError):
    """Raised for a run that another process or task is executing or has resumed, or that has ended."""

    def __init__(self, store: str, run: str, problem: Diagnostic | str | None = None) -> None:
        self.run = run
        found = RUN_TAKEN() if problem is None else problem
        super().__init__(store, as_diagnostic(found).within(f"run {run}"))
        self.problem = as_diagnostic(found)


class FlowEdited(DataflowError):
    """Raised on resume when the flow has changed in parts that the run has already settled.

    Each part is a sequence of strings: `added` and `removed` nodes, `changed` ones with the difference,
    renamed `modules` of node types, and nodes that were in the map of another call of `each`, in `maps`.
    """

    def __init__(
        self,
        run: str,
        added: Sequence[str],
        removed: Sequence[str],
        changed: Sequence[str],
        modules: Sequence[str] = (),
        maps: Sequence[str] = (),
    ) -> None:
        self.run = run
        self.added = tuple(added)
        self.removed = tuple(removed)
        self.changed = tuple(changed)
        self.modules = tuple(modules)
        self.maps = tuple(maps)
        super().__init__(FLOW_EDITED(f"run {run}", edits=self.edits))

    @property
    def edits(self) -> str:
        """All changes, as one string."""
        parts = {"added": self.added, "removed": self.removed, "changed": self.changed}
        texts = [f"{name}: {', '.join(some)}" for name, some in parts.items() if some]
        if self.modules:
            texts.append(f"node types are called after their module, renamed: {', '.join(self.modules)}")
        if self.maps:
            texts.append(f"each call of `each` is a map now, unless it is used twice: {', '.join(self.maps)}")
        return "; ".join(texts)


class AnswerRefused(DataflowError):
    """Raised for an answer that matches no open ask, is too late, or does not have the type of its ask."""

    def __init__(self, ask: str, problem: Diagnostic | str) -> None:
        self.ask = ask
        super().__init__(as_diagnostic(problem).within(f"answer to {ask!r}"))
        self.problem = as_diagnostic(problem)


class ArgumentInvalid(DataflowError, ValueError, TypeError):
    """Raised for an argument that a function cannot take; also a ValueError and a TypeError."""


class NameUnknown(DataflowError, KeyError):
    """Raised for a name that a mapping of the engine does not have; also a KeyError."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError shows the repr of its argument


def _described(failure: Failure) -> str:
    """Describe a failure with the firing that failed, if any, and its attempt if it was not the first."""
    place = failure.path if failure.attempt == 1 else f"{failure.path} (attempt {failure.attempt})"
    return f"{place}: {error_line(failure)}" if place else error_line(failure)


def as_diagnostic(problem: Diagnostic | str) -> Diagnostic:
    """Return a problem as data; a text, as from code of a user, becomes one of a general kind."""
    return problem if isinstance(problem, Diagnostic) else REPORTED(error=problem)


def problem_of(error: BaseException, other: Kind = REPORTED) -> Diagnostic:
    """Return the problem that an exception was raised for; `other` is the kind of one that has none."""
    return error.problem if isinstance(error, DataflowError) else other(error=error)
