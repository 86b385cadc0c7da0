"""What a program means, said as plainly as can be: top to bottom, a loop is a loop."""

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

__all__ = ["DEFAULT", "Reference", "apply", "holds", "listing", "run"]


class Dead:
    """No value."""


NOTHING: Final = Dead()  # a skip
BROKEN: Final = Dead()  # an error
DEFAULT: Final = 5
Tokens: TypeAlias = dict[Port, Any]


def apply(name: str, values: list[int]) -> int:
    """Compute what a node gives."""
    return (sum((place + 2) * value for place, value in enumerate(values)) + len(name) + int(name[1:])) % 23


def listing(value: int) -> list[int]:
    return [value + place for place in range(value % 5)]


def holds(value: int, modulus: int) -> bool:
    return value % modulus == 0


def worst(tokens: list[Any]) -> Any:
    """Return the error among these tokens, else a skip if all of them are, else None."""
    if BROKEN in tokens:
        return BROKEN
    return NOTHING if tokens and all(token is NOTHING for token in tokens) else None


@dataclass
class Reference:
    """How often each node fired, how many failed, and what else happened."""

    fired: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    happened: Counter[str] = field(default_factory=Counter)

    def block(self, block: Block, tokens: Tokens, leave_out: frozenset[str] = frozenset()) -> bool:
        """Run a block; tells whether something in it failed."""
        failed = [self.statement(s, tokens) for s in block if s.name not in leave_out]
        return any(failed)

    def statement(self, statement: Statement, tokens: Tokens) -> bool:
        match statement:
            case Apply():
                return self.apply(statement, tokens)
            case Map():
                return self.map(statement, tokens)
            case Loop():
                return self.loop(statement, tokens)
            case Branch(name, source, modulus):
                self.branch(name, tokens[source], modulus, tokens)
            case Sum(name, source):
                self.sum(name, source, tokens)
            case Listing(name, source):
                value = tokens[source]
                tokens[name] = value if isinstance(value, Dead) else listing(value)
                tokens[f"done {name}"] = value
                self.fired[name] += not isinstance(value, Dead)
        return False

    def source(self, source: Source | int, tokens: Tokens) -> Any:
        match source:
            case int():
                return source
            case str():
                return tokens[source]
            case Merge(sources):
                known = [tokens[port] for port in sources if tokens[port] is not NOTHING]
                self.happened["a merge of which some are dead"] += 0 < len(known) < len(sources)
                return known[0] if known else NOTHING
            case Fallback(first, default):
                instead = default if isinstance(default, int) else tokens[default]
                self.happened["a fallback that is needed"] += tokens[first] is NOTHING
                return instead if tokens[first] is NOTHING else tokens[first]
            case Either(branch):
                exits = [tokens[f"{branch}.yes"], tokens[f"{branch}.no"]]
                live = [token for token in exits if not isinstance(token, Dead)]
                assert len(live) < 2
                self.happened["two exits on one port"] += len(live)
                return live[0] if live else worst(exits)

    def many(self, sources: tuple[Source, ...], tokens: Tokens) -> Any:
        found = [self.source(source, tokens) for source in sources]
        listed = [token for token in found if token is not NOTHING]
        self.happened["a many-port of which some are dead"] += 0 < len(listed) < len(sources)
        return worst(found) or listed

    def apply(self, node: Apply, tokens: Tokens) -> bool:
        required = [self.source(source, tokens) for source in node.required]
        optional = [self.source(source, tokens) for source in node.optional]
        many = [self.many(node.many, tokens)] if node.many else []
        signals = [worst([tokens[f"done {step}"] for step in node.after]) or 1] if node.after else []
        ports = [*required, *optional, *many, *signals]
        stop = worst(ports) or (NOTHING if NOTHING in (*required, *signals) else None)
        if stop is not None:
            self.happened["a join that is skipped"] += any(not isinstance(token, Dead) for token in ports)
            self.happened["a node behind a failure"] += stop is BROKEN
            tokens[node.name] = tokens[f"done {node.name}"] = stop
            return False
        self.happened["an optional port that is dead"] += NOTHING in optional
        values = [*required, *(DEFAULT if value is NOTHING else value for value in optional)]
        values += [value for listed in many if listed is not NOTHING for value in listed]
        value = apply(node.name, values)
        self.fired[node.name] += 1
        if node.breaks and value % node.breaks == 0:
            self.failures += 1
            tokens[node.name] = tokens[f"done {node.name}"] = BROKEN
            return True
        tokens[f"done {node.name}"] = 1
        tokens[node.name] = NOTHING if node.gap and value % node.gap == 0 else value
        return False

    def branch(self, name: str, value: Any, modulus: int, tokens: Tokens) -> None:
        is_dead = isinstance(value, Dead)
        tokens[f"{name}.yes"] = value if is_dead or holds(value, modulus) else NOTHING
        tokens[f"{name}.no"] = value if is_dead or not holds(value, modulus) else NOTHING

    def sum(self, name: str, source: Port | tuple[Port, ...], tokens: Tokens) -> None:
        if isinstance(source, str):
            values = tokens[source]
        else:
            found = [tokens[port] for port in source]
            values = worst(found) or [token for token in found if token is not NOTHING]
            self.happened["a gather of which some are dead"] += (
                not isinstance(values, Dead) and NOTHING in found
            )
        is_dead = isinstance(values, Dead)
        tokens[name] = tokens[f"done {name}"] = values if is_dead else apply(name, values)
        self.fired[name] += not is_dead

    def map(self, each: Map, tokens: Tokens) -> bool:
        items = tokens[each.over]
        if isinstance(items, Dead):
            tokens.update({f"{each.name}.{number}": items for number in range(len(each.outputs))})
            return False
        self.happened["a map over nothing"] += not items
        self.happened["a map over several items"] += len(items) > 1
        collected: list[list[Any]] = [[] for _ in each.outputs]
        failed = False
        for item in items:
            inside = {**tokens, f"{each.name}.item": item}
            failed |= self.block(each.body, inside)
            for values, port in zip(collected, each.outputs, strict=True):
                values.append(inside[port])
        for number, values in enumerate(collected):
            listed = [value for value in values if value is not NOTHING]
            tokens[f"{each.name}.{number}"] = BROKEN if BROKEN in values else listed
        self.happened["a map that fails"] += failed
        return failed

    def loop(self, loop: Loop, tokens: Tokens) -> bool:
        carried = [self.source(first, tokens) for first in loop.firsts]
        results: list[Any] = [NOTHING] * len(loop.results)
        stop = worst(carried)
        if stop is None:
            carried, results, failed = self.rounds(loop, tokens, carried, results)
        else:
            carried, results, failed = [stop] * len(carried), [stop] * len(results), False
        if failed:
            carried, results = [BROKEN] * len(carried), [BROKEN] * len(results)
            self.happened["a loop that fails"] += 1
        tokens.update({f"{loop.name}.final{number}": value for number, value in enumerate(carried)})
        tokens.update({f"{loop.name}.result{number}": value for number, value in enumerate(results)})
        return failed

    def rounds(
        self, loop: Loop, tokens: Tokens, carried: list[Any], results: list[Any]
    ) -> tuple[list[Any], list[Any], bool]:
        """Run round after round; the third part of the result tells whether one of them failed."""
        held = _only_for_next_values(loop) if loop.kind == "until" else frozenset[str]()
        rounds = 0
        while True:
            inside = {**tokens, **{f"{loop.name}.carry{n}": value for n, value in enumerate(carried)}}
            if loop.kind == "while" and self.ends(loop, inside[loop.test], rounds):
                return carried, results, inside[loop.test] is BROKEN
            rounds += 1
            failed = self.block(loop.body, inside, held)
            ends = loop.kind == "until" and self.ends(loop, inside[loop.test], rounds)
            if not ends:
                self.happened["a node that only next values need"] += bool(held)
                failed |= self.block(tuple(s for s in loop.body if s.name in held), inside)
            self.happened["a loop of several rounds"] += rounds > 1
            if failed or (ends and inside[loop.test] is BROKEN):
                return carried, results, True
            results = [
                old if isinstance(inside[port], Dead) and not isinstance(old, Dead) else inside[port]
                for old, port in zip(results, loop.results, strict=True)
            ]
            if ends:
                return carried, results, False
            carried = [inside[port] for port in loop.nexts]

    def ends(self, loop: Loop, tested: Any, rounds: int) -> bool:
        self.happened["a loop that is exhausted"] += tested is NOTHING
        if isinstance(tested, Dead) or holds(tested, loop.modulus):
            return True
        self.happened["a loop at its limit"] += rounds == loop.limit
        return rounds == loop.limit


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
    return {port: tokens[port] for port in own if not isinstance(tokens[port], Dead)}, reference
