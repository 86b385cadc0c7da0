"""Policies, run settings and sources in native documents."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from dataflow.core.functions import NamedFunction, is_function_name, name_of_function
from dataflow.core.limits import Limit
from dataflow.core.policy import CLEANUP, NO_POLICY, EachOptions, Memo, Policy, Retry, Settings
from dataflow.core.wiring import (
    All,
    Collect,
    Each,
    Every,
    Fallback,
    Gather,
    Literally,
    LoopBlock,
    Many,
    MapBlock,
    Merge,
    MergeContexts,
    PlacedNode,
    Race,
    Reference,
    parse_reference,
    write_reference,
)
from dataflow.diagnostics.documents import FIELD_MISPLACED, VALUE_UNWRITABLE
from dataflow.errors import ValueMismatch
from dataflow.expressions.expression import ExpressionOf, written_function
from dataflow.formats.native.parts import (
    AllSource,
    CollectSource,
    ConstantSource,
    EachSource,
    EverySource,
    FallbackSource,
    GatherSource,
    MemoPart,
    MergeContextsSource,
    MergeSource,
    RaceSource,
)
from dataflow.formats.native.values import as_json, constant_as_json, unnamed, unwritable
from dataflow.formats.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from dataflow.core.wiring import Block, Source
    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.formats.native.document import MapPart
    from dataflow.formats.native.parts import LimitPart, PolicyPart, RetryPart, UsingPart
    from dataflow.formats.native.parts import Source as SourcePart
    from dataflow.formats.tree import DocumentPath

__all__ = [
    "SourceReader",
    "SourceWriter",
    "read_options",
    "read_policy",
    "read_settings",
    "shares_of",
    "write_policy",
    "write_settings",
]


def read_policy(part: PolicyPart) -> Policy:
    """Read the settings of a policy."""
    if not part.model_fields_set:
        return NO_POLICY
    given: dict[str, Any] = {name: getattr(part, name) for name in part.model_fields_set}
    if "retry" in given:
        given["retry"] = _read_retry(part.retry)
    if isinstance(part.memo, MemoPart):
        given["memo"] = Memo(part.memo.reach, ttl=part.memo.ttl, environment=part.memo.environment)
    return Policy(**given)


def _read_retry(part: RetryPart) -> Retry:
    return Retry(part.retries, on=tuple(part.on), backoff=part.backoff, first=part.first, jitter=part.jitter)


def write_policy(policy: Policy, where: str, problems: list[Diagnostic]) -> dict[str, object]:
    """Write the settings that are given; a setting without document form is a problem."""
    written = policy.given()
    if isinstance(policy.retry, Retry):
        written["retry"] = _write_retry(policy.retry)
        if policy.retry.before is not None:
            problems.append(VALUE_UNWRITABLE(f"{where}.policy.retry", what="`before`"))
    if written.pop("cutoff", None) is not None:
        problems.append(VALUE_UNWRITABLE(f"{where}.policy", what="`cutoff`"))
    if isinstance(policy.memo, Memo):
        written["memo"] = _write_memo(policy.memo)
    if "default" in written:
        try:
            written["default"] = as_json(written["default"])
        except ValueMismatch as mismatch:
            problems.append(unwritable(f"{where}.policy", "`default`", mismatch))
    return written


def _write_retry(retry: Retry) -> dict[str, object]:
    written: dict[str, object] = {"retries": retry.retries}
    if retry.on:
        written["on"] = [name if isinstance(name, str) else name.__name__ for name in retry.on]
    plain = Retry()
    for name in ("backoff", "first", "jitter"):
        if getattr(retry, name) != getattr(plain, name):
            written[name] = getattr(retry, name)
    return written


def _write_memo(memo: Memo) -> dict[str, object]:
    written: dict[str, object] = {"reach": memo.reach}
    if memo.ttl is not None:
        written["ttl"] = memo.ttl
    if memo.environment:
        written["environment"] = list(memo.environment)
    return written


def read_settings(part: UsingPart) -> Settings:
    """Read the settings for the runs of a flow."""
    limits = (
        None if part.limits is None else {name: _read_limit(limit) for name, limit in part.limits.items()}
    )
    errors = part.errors if "errors" in part.model_fields_set else None
    return Settings(errors, part.max_concurrency, limits, part.timeout, part.cleanup, part.check_values)


def _read_limit(part: LimitPart) -> Limit | int:
    """Read a limit; slots alone are per run, like a number in `using` (S15.1)."""
    if part.slots is not None and part.per_second is None:
        return part.slots
    return Limit(part.slots, per_second=part.per_second)


def write_settings(settings: Settings) -> dict[str, object]:
    """Write the settings that differ from the defaults of a run."""
    written: dict[str, object] = {}
    if settings.errors is not None:
        written["errors"] = settings.errors
    if settings.max_concurrency is not None:
        written["max_concurrency"] = settings.max_concurrency
    if settings.limits is not None:
        written["limits"] = {name: _write_limit(limit) for name, limit in settings.limits.items()}
    if settings.timeout is not None:
        written["timeout"] = settings.timeout
    if settings.cleanup != CLEANUP:
        written["cleanup"] = settings.cleanup
    if settings.check_values:
        written["check_values"] = True
    return written


def _write_limit(limit: Limit | int) -> dict[str, object]:
    if not isinstance(limit, Limit):
        return {"slots": limit}
    given = {"slots": limit.slots, "per_second": limit.per_second}
    return {name: value for name, value in given.items() if value is not None}


def read_options(part: EachSource | MapPart) -> EachOptions:
    """Read the options of a map."""
    key = None if part.key is None else written_function(part.key, "item")
    return EachOptions(key, part.max_concurrency, part.on_error)


class SourceReader:
    """Converts the sources of one document to the graph definition; invalid ones become problems."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.mapped: dict[str, Literally] = {}  # constant lists inside `each`: equal ones open one map

    def read(self, part: SourcePart, path: DocumentPath, mapped: bool = False) -> Source:
        """Read a source; `mapped` means that it is inside an `each`."""
        match part:
            case str():
                return parse_reference(part)
            case ConstantSource():
                return self._constant(part.value, mapped)
            case MergeSource():
                return Merge(self._all(part.merge, (*path, "merge"), mapped))
            case GatherSource():
                return Gather(self._all(part.gather, (*path, "gather"), mapped))
            case RaceSource():
                return Race(self._all(part.race, (*path, "race"), mapped))
            case FallbackSource():
                return Fallback.chain(self._all(part.fallback, (*path, "fallback"), mapped))
            case CollectSource():
                return Collect(self.read(part.collect, (*path, "collect"), mapped))
            case EachSource():
                inner = self.read(part.each, (*path, "each"), mapped=True)
                return Each(inner, read_options(part), object() if part.share is None else part.share)
            case EverySource():
                return Every(self._all(part.every, (*path, "every"), mapped))
            case MergeContextsSource(how=how):
                sources = self._all(part.merge_contexts, (*path, "merge_contexts"), mapped)
                return MergeContexts(sources, NamedFunction(how) if is_function_name(how) else how)
            case AllSource():
                self.problems.append(Problem((*path, "all"), FIELD_MISPLACED(where="in outputs of a loop")))
                return Literally(None, is_json=True)

    def read_output_of_loop(self, part: SourcePart, path: DocumentPath) -> Source:
        """Read an output of a loop, which may be `all` values of a port."""
        if isinstance(part, AllSource):
            return All(self.read(part.all, (*path, "all")))
        return self.read(part, path)

    def _all(self, parts: Sequence[SourcePart], path: DocumentPath, mapped: bool) -> tuple[Source, ...]:
        return tuple(self.read(part, (*path, index), mapped) for index, part in enumerate(parts))

    def _constant(self, value: object, mapped: bool) -> Literally:
        constant = Literally(value, is_json=True, is_source=True)
        return self.mapped.setdefault(json.dumps(value), constant) if mapped else constant


class SourceWriter:
    """Converts sources to parts of a document; those without document form become problems."""

    def __init__(self, problems: list[Diagnostic]) -> None:
        self.problems = problems
        self.shares: Mapping[object, str] = {}  # the names of shared calls of `each`

    def write(self, source: Source, where: str) -> object:
        """Write a source inline."""
        match source:
            case Reference():
                return write_reference(source)
            case Literally():
                return {"value": self.constant(source, where)}
            case Merge(sources):
                return {"merge": self.write_all(sources, where)}
            case Gather(sources):
                return {"gather": self.write_all(sources, where)}
            case Race(sources):
                return {"race": self.write_all(sources, where)}
            case MergeContexts(sources, how):
                written = how if isinstance(how, str) else self.function(how, where)
                return {"merge_contexts": self.write_all(sources, where), "how": written}
            case Fallback(first, default):
                return {"fallback": self.write_all((first, default), where)}
            case Each(inner, options, call):
                share = {"share": self.shares[call]} if call in self.shares else {}
                return {"each": self.write(inner, where), **self.options(options, where), **share}
            case Every(sources):
                return {"every": self.write_all(sources, where)}
            case Collect(inner):
                return {"collect": self.write(inner, where)}
            case All(inner):
                return {"all": self.write(inner, where)}

    def write_all(self, sources: tuple[Source, ...], where: str) -> list[object]:
        """Write several sources in order."""
        return [self.write(source, where) for source in sources]

    def constant(self, source: Literally, where: str, expected: object = Any) -> object:
        """Write a constant for a port of a type."""
        try:
            return constant_as_json(source.value, Any if source.is_json else expected)
        except ValueMismatch as mismatch:
            self.problems.append(unwritable(where, "the constant", mismatch))
            return None

    def options(self, options: EachOptions, where: str) -> dict[str, object]:
        """Write the options of a map that are given."""
        written: dict[str, object] = {}
        if options.key is not None:
            written["key"] = self.function(options.key, where)
        if options.max_concurrency is not None:
            written["max_concurrency"] = options.max_concurrency
        if options.on_error != "fail":
            written["on_error"] = options.on_error
        return written

    def function(self, function: Callable[..., Any], where: str) -> str | None:
        """Write the name of a function, or its expression."""
        if isinstance(function, ExpressionOf):
            return function.source
        name = function.name if isinstance(function, NamedFunction) else name_of_function(function)
        if name is None:
            self.problems.append(unnamed(function).within(where))
        return name


def shares_of(block: Block) -> dict[object, str]:
    """Name the calls of `each` that several sources of a block, or of those inside it, are made of."""
    counts = Counter(source.call for source in _sources_in(block) if isinstance(source, Each))
    shares: dict[object, str] = {call: call for call in counts if isinstance(call, str)}
    numbered = (f"items_{number}" for number in itertools.count(1))
    free = (name for name in numbered if name not in counts)
    several = [call for call, count in counts.items() if count > 1 and call not in shares]
    return shares | dict(zip(several, free, strict=False))


def _whole_sources_in(block: Block) -> Iterator[Source | Many]:
    """Yield what each port in a block and in those inside it reads."""
    blocks: list[Block] = [block]
    for inner in blocks:  # grows during the iteration
        for placed in inner.nodes.values():
            match placed:
                case PlacedNode(inputs=inputs):
                    yield from inputs.values()
                case LoopBlock(carries=carries, test=test, body=body):
                    yield from (one for carry in carries.values() for one in (carry.first, carry.next) if one)
                    yield from () if test is None else (test.source,)
                    blocks.append(body)
                case MapBlock(over=over, body=body):
                    yield from over.values()
                    blocks.append(body)
        yield from inner.outputs.values()


def _sources_in(block: Block) -> Iterator[Source]:
    """Yield each source in a block and in those inside it, and those that it combines."""
    todo = [*_whole_sources_in(block)]
    for source in todo:  # grows during the iteration
        match source:
            case Many(sources) | Merge(sources) | Gather(sources) | Race(sources) | Every(sources):
                todo += sources
            case MergeContexts(sources):
                todo += sources
            case Fallback(first, default):
                todo += (first, default)
            case Each(read) | Collect(read) | All(read):
                todo.append(read)
            case Reference() | Literally():
                pass
        if not isinstance(source, Many):
            yield source
