"""Drawing programs: each statement reads what stands above it in its block or around it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

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
)

__all__ = ["programs"]


@dataclass
class _Seen:
    """What a statement may read: all ports in sight, and those among them that lie in the innermost map."""

    numbers: list[Port]
    lists: list[Port]
    branches: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    inner: list[Port] | None = None  # None outside maps: then any port will do
    inner_lists: list[Port] = field(default_factory=list)

    def add(self, statement: Statement) -> None:
        numbers, lists = ports_of(statement)
        self.numbers += numbers
        self.lists += lists
        if self.inner is not None:
            self.inner += numbers
            self.inner_lists += lists
        if isinstance(statement, Branch):
            self.branches.append(statement.name)
        if isinstance(statement, Apply | Sum | Listing):
            self.steps.append(statement.name)


class _Making:
    """Draws one program; every name is used once."""

    def __init__(self, draw: st.DrawFn, most: int, breaking: bool) -> None:
        self.draw = draw
        self.left = most
        self.breaking = breaking
        self.count = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def pick(self, ports: list[Port]) -> Port:
        return self.draw(st.sampled_from(ports))

    def source(self, seen: _Seen) -> Source:
        """Draw a port, or a join of ports of which one is in the innermost map."""
        first = self.pick(seen.numbers if seen.inner is None else seen.inner)
        kind = self.draw(st.sampled_from(["port", "port", "port", "merge", "fallback"]))
        if kind == "port":
            return first
        others = tuple(self.pick(seen.numbers) for _ in range(self.draw(st.integers(1, 2))))
        if kind == "fallback":
            return Fallback(first, others[0] if self.draw(st.booleans()) else 3)
        return Merge((others[0], first, *others[1:]) if self.draw(st.booleans()) else (first, *others))

    def block(self, seen: _Seen, depth: int, most: int) -> Block:
        made: list[Statement] = []
        for _ in range(self.draw(st.integers(1, most))):
            if self.left <= 0:
                break
            statement = self.statement(seen, depth)
            made.append(statement)
            seen.add(statement)
        return tuple(made)

    def statement(self, seen: _Seen, depth: int) -> Statement:
        lists = seen.lists if seen.inner is None else seen.inner_lists
        kinds: list[str] = ["apply", "apply", "apply", "branch", "branch", "sum", "listing"]
        if depth < 2:
            kinds += ["loop", *(["map", "map", "map"] if lists else [])]
        self.left -= 1
        kind: str = self.draw(st.sampled_from(kinds))
        match kind:
            case "branch":
                source = self.pick(seen.numbers if seen.inner is None else seen.inner)
                return Branch(self.name("b"), source, self.draw(st.integers(2, 3)))
            case "sum":
                if self.draw(st.booleans()) and lists:
                    return Sum(self.name("s"), self.pick(lists))
                first = self.pick(seen.numbers if seen.inner is None else seen.inner)
                return Sum(self.name("s"), (first, self.pick(seen.numbers), self.pick(seen.numbers)))
            case "listing":
                source = self.pick(seen.numbers if seen.inner is None else seen.inner)
                return Listing(self.name("x"), source)
            case "map":
                return self.map(seen, self.pick(lists), depth)
            case "loop":
                return self.loop(seen, depth)
        return self.apply(seen)

    def apply(self, seen: _Seen) -> Apply:
        if seen.branches and self.draw(st.integers(0, 3)) == 0:
            return Apply(self.name("e"), (Either(self.draw(st.sampled_from(seen.branches))),))
        required, optional, many = self.draw(
            st.sampled_from(
                [(1, 0, 0), (2, 0, 0), (1, 1, 0), (0, 1, 0), (0, 2, 0), (0, 0, 2), (0, 0, 3), (1, 0, 2)]
            )
        )
        wired = [self.source(seen) for _ in range(required + optional + many)]
        steps = seen.steps if seen.inner is None and seen.steps else []
        after = (self.draw(st.sampled_from(steps)),) if steps and self.draw(st.integers(0, 4)) == 0 else ()
        gap = self.draw(st.sampled_from([0, 0, 0, 2, 3]))
        breaks = self.draw(st.sampled_from([0, 0, 0, 2, 3])) if self.breaking else 0
        return Apply(
            self.name("n"),
            tuple(wired[:required]),
            tuple(wired[required : required + optional]),
            tuple(wired[required + optional :]),
            after,
            gap,
            breaks,
        )

    def map(self, seen: _Seen, over: Port, depth: int) -> Map:
        name = self.name("m")
        item = f"{name}.item"
        inside = _Seen([*seen.numbers, item], list(seen.lists), inner=[item])
        body = self.block(inside, depth + 1, 3)
        assert inside.inner is not None
        outputs = tuple(self.pick(inside.inner) for _ in range(self.draw(st.integers(0, 2))))
        return Map(name, over, body, outputs)

    def loop(self, seen: _Seen, depth: int) -> Loop:
        name = self.name("l")
        is_until = self.draw(st.booleans())
        firsts: list[Source | int] = [self.source(seen)]
        if self.draw(st.booleans()):
            firsts.append(self.draw(st.integers(0, 5)) if self.draw(st.booleans()) else self.source(seen))
        carried = [f"{name}.carry{number}" for number in range(len(firsts))]
        numbers = [
            port for port in seen.numbers if not port.endswith(".item")
        ]  # a map is read in its own block
        inside = _Seen([*numbers, *carried], [port for port in seen.lists if "." not in port])
        body = self.block(inside, depth + 1, 4)
        own = [*carried, *(port for statement in body for port in ports_of(statement)[0])]
        return Loop(
            name,
            "until" if is_until else "while",
            tuple(firsts),
            tuple(self.pick(own) for _ in firsts),
            self.pick(own if is_until else carried),
            self.draw(st.integers(2, 4)),
            self.draw(st.integers(1, 4)),
            body,
            tuple(self.pick(own) for _ in range(self.draw(st.integers(0, 2)))),
        )


@st.composite
def programs(draw: st.DrawFn, most: int = 24, breaking: bool = False) -> Program:
    """Draw a program of at most so many statements; `breaking` lets some nodes fail."""
    inputs = tuple(draw(st.lists(st.integers(0, 9), min_size=1, max_size=2)))
    names = [f"in{number}" for number in range(len(inputs))]
    return Program(inputs, _Making(draw, most, breaking).block(_Seen(names, []), 0, most))
