"""What a program means, said as plainly as can be: top to bottom, a loop is a loop, a map is a comprehension."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.properties.flow_grammar import (
    Apply,
    Block,
    Branch,
    Either,
    Fallback,
    Listing,
    Loop,
    Map,
    Merge,
    Port,
    Program,
    Source,
    Statement,
    Sum,
    ports_of,
    reads_of,
)

__all__ = ["DEFAULT", "NOTHING", "Reference", "apply", "holds", "listing", "run"]


class Nothing:
    """The port has no value."""


NOTHING: Final = Nothing()
DEFAULT: Final = 5
Tokens: TypeAlias = dict[Port, Any]


def apply(name: str, values: list[int]) -> int:
    """Compute what a node gives."""
    return (sum((place + 2) * value for place, value in enumerate(values)) + len(name) + int(name[1:])) % 23


def listing(value: int) -> list[int]:
    return [value + place for place in range(value % 5)]


def holds(value: int, modulus: int) -> bool:
    return value % modulus == 0


@dataclass
class Reference:
    """How often each node fired, and what else happened."""

    fired: Counter[str] = field(default_factory=Counter)
    happened: Counter[str] = field(default_factory=Counter)

    def block(self, block: Block, tokens: Tokens, leave_out: frozenset[str] = frozenset()) -> None:
        for statement in block:
            if statement.name not in leave_out:
                self.statement(statement, tokens)

    def statement(self, statement: Statement, tokens: Tokens) -> None:
        match statement:
            case Apply():
                self.apply(statement, tokens)
            case Branch(name, source, modulus):
                self.branch(name, tokens[source], modulus, tokens)
            case Sum(name, source):
                self.sum(name, source, tokens)
            case Listing(name, source):
                value = tokens[source]
                tokens[name] = NOTHING if value is NOTHING else listing(value)
                tokens[f"done {name}"] = value
                self.fired[name] += value is not NOTHING
            case Map():
                self.map(statement, tokens)
            case Loop():
                self.loop(statement, tokens)

    def source(self, source: Source | int, tokens: Tokens) -> Any:
        match source:
            case int():
                return source
            case str():
                return tokens[source]
            case Merge(sources):
                live = [tokens[port] for port in sources if tokens[port] is not NOTHING]
                self.happened["a merge of which some are dead"] += 0 < len(live) < len(sources)
                return live[0] if live else NOTHING
            case Fallback(first, default):
                instead = default if isinstance(default, int) else tokens[default]
                self.happened["a fallback that is needed"] += tokens[first] is NOTHING
                return instead if tokens[first] is NOTHING else tokens[first]
            case Either(branch):
                live = [
                    tokens[f"{branch}.{e}"] for e in ("yes", "no") if tokens[f"{branch}.{e}"] is not NOTHING
                ]
                assert len(live) < 2
                self.happened["two exits on one port"] += len(live)
                return live[0] if live else NOTHING

    def apply(self, node: Apply, tokens: Tokens) -> None:
        required = [self.source(source, tokens) for source in node.required]
        optional = [self.source(source, tokens) for source in node.optional]
        listed = [value for source in node.many if (value := self.source(source, tokens)) is not NOTHING]
        many = [listed or NOTHING] if node.many else []
        signals = (
            [NOTHING if all(tokens[f"done {step}"] is NOTHING for step in node.after) else 1]
            if node.after
            else []
        )
        ports = [*required, *optional, *many, *signals]
        if any(token is NOTHING for token in (*required, *signals)) or all(
            token is NOTHING for token in ports
        ):
            self.happened["a join that is skipped"] += any(token is not NOTHING for token in ports)
            tokens[node.name] = tokens[f"done {node.name}"] = NOTHING
            return
        self.happened["an optional port that is dead"] += NOTHING in optional
        self.happened["a many-port of which some are dead"] += 0 < len(listed) < len(node.many)
        values = [*required, *(DEFAULT if value is NOTHING else value for value in optional), *listed]
        self.fired[node.name] += 1
        value = apply(node.name, values)
        tokens[f"done {node.name}"] = 1
        tokens[node.name] = NOTHING if node.gap and value % node.gap == 0 else value

    def branch(self, name: str, value: Any, modulus: int, tokens: Tokens) -> None:
        taken = value is not NOTHING and holds(value, modulus)
        tokens[f"{name}.yes"] = value if taken else NOTHING
        tokens[f"{name}.no"] = NOTHING if taken else value

    def sum(self, name: str, source: Port | tuple[Port, ...], tokens: Tokens) -> None:
        if isinstance(source, str):
            values = tokens[source]
        else:
            values = [tokens[port] for port in source if tokens[port] is not NOTHING] or NOTHING
            self.happened["a gather of which some are dead"] += values is not NOTHING and len(values) < 3
        tokens[name] = tokens[f"done {name}"] = NOTHING if values is NOTHING else apply(name, values)
        self.fired[name] += values is not NOTHING

    def map(self, each: Map, tokens: Tokens) -> None:
        items = tokens[each.over]
        if items is NOTHING:
            tokens.update({f"{each.name}.{number}": NOTHING for number in range(len(each.outputs))})
            return
        self.happened["a map over nothing"] += not items
        self.happened["a map over several items"] += len(items) > 1
        collected: list[list[Any]] = [[] for _ in each.outputs]
        for item in items:
            inside = {**tokens, f"{each.name}.item": item}
            self.block(each.body, inside)
            for values, port in zip(collected, each.outputs, strict=True):
                values.append(inside[port])
        for number, values in enumerate(collected):
            tokens[f"{each.name}.{number}"] = [value for value in values if value is not NOTHING]

    def loop(self, loop: Loop, tokens: Tokens) -> None:
        carried = [self.source(first, tokens) for first in loop.firsts]
        results: list[Any] = [NOTHING] * len(loop.results)
        rounds, is_skipped = 0, all(value is NOTHING for value in carried)
        held = _only_for_next_values(loop) if loop.kind == "until" else frozenset[str]()
        while not is_skipped:
            inside = {**tokens, **{f"{loop.name}.carry{n}": value for n, value in enumerate(carried)}}
            if loop.kind == "while":
                tested = inside[loop.test]
                self.happened["a loop that is exhausted"] += tested is NOTHING
                if tested is NOTHING or holds(tested, loop.modulus) or rounds == loop.limit:
                    break
            rounds += 1
            self.block(loop.body, inside, held)
            results = [
                old if inside[port] is NOTHING else inside[port]
                for old, port in zip(results, loop.results, strict=True)
            ]
            if loop.kind == "until":
                tested = inside[loop.test]
                self.happened["a loop that is exhausted"] += tested is NOTHING
                if tested is NOTHING or holds(tested, loop.modulus) or rounds == loop.limit:
                    break
                self.happened["a node that only next values need"] += bool(held)
                self.block(tuple(s for s in loop.body if s.name in held), inside)
            carried = [inside[port] for port in loop.nexts]
        self.happened["a loop of several rounds"] += rounds > 1
        self.happened["a loop at its limit"] += rounds == loop.limit
        for number, value in enumerate(carried):
            tokens[f"{loop.name}.final{number}"] = value
        for number, value in enumerate(results):
            tokens[f"{loop.name}.result{number}"] = value


def _only_for_next_values(loop: Loop) -> frozenset[str]:
    """Name the statements of the body that are read, and by nothing but next values and each other."""
    made_by = {port: s.name for s in loop.body for ports in ports_of(s) for port in ports}
    waited_for = {step for s in loop.body if isinstance(s, Apply) for step in s.after}
    read = {made_by.get(port) for s in loop.body for port in reads_of(s)} | waited_for
    read |= {made_by.get(port) for port in (*loop.nexts, loop.test, *loop.results)}
    needed = {s.name for s in loop.body if s.name not in read}
    needed |= {name for port in (loop.test, *loop.results) if (name := made_by.get(port))}
    for statement in reversed(loop.body):
        if statement.name in needed:
            needed |= {name for port in reads_of(statement) if (name := made_by.get(port))}
            needed |= set(statement.after) if isinstance(statement, Apply) else set()
    return frozenset(s.name for s in loop.body if s.name not in needed)


def run(program: Program) -> tuple[dict[Port, Any], Reference]:
    """Return the value of every port of the outermost block that has one, and what happened."""
    reference, tokens = Reference(), {f"in{number}": value for number, value in enumerate(program.inputs)}
    reference.block(program.block, tokens)
    own = [port for s in program.block for ports in ports_of(s) for port in ports]
    return {port: tokens[port] for port in own if tokens[port] is not NOTHING}, reference
