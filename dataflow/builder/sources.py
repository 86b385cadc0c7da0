"""The sources that a port can be connected to: output ports of steps, expressions and joins."""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NoReturn, TypeAlias, TypeVar, overload

from dataflow.base.copies import own_copy
from dataflow.base.markers import Marker, Valueless
from dataflow.core.keywords import naming_settings
from dataflow.core.policy import EachOptions
from dataflow.core.ports import DONE, ERROR
from dataflow.core.wiring import (
    PARAMETERS,
    Collect,
    Each,
    Fallback,
    Gather,
    Literally,
    Merge,
    MergeContexts,
    Race,
    Reference,
)
from dataflow.diagnostics.wiring import JOIN_TOO_LARGE
from dataflow.errors import ArgumentInvalid, PortMisuse
from dataflow.maximums import maximum
from dataflow.types.shapes import type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dataflow.base.failure import Failure
    from dataflow.builder.blocks import OpenBlock
    from dataflow.core.context import ExecutionContext, MergePolicy
    from dataflow.core.ports import Signal
    from dataflow.core.wiring import Source

__all__ = [
    "Expression",
    "Handle",
    "Operand",
    "Placeholder",
    "PortRef",
    "Step",
    "cannot_be_constant",
    "collect",
    "each",
    "fallback",
    "gather",
    "literally",
    "merge",
    "merge_contexts",
    "ports_within",
    "race",
]

#: The maximum depth of nested joins.
DEEPEST: Final = 100
#: The maximum number of joins in an expression, each counted as often as it is used.
LARGEST: Final = maximum("JOINS", 10_000)
_BRANCH = "decide with f.when(port, predicate) or inside a node"
_NODE = "do it inside a node and wire the port into it"
_EACH = "wire each(port) into a node to run it once per item"
_PARTS = f"{_EACH}; of a result with several fields name each: step.out.title"
_ADVICE = {
    "bool": _BRANCH, "==": _BRANCH, "!=": _BRANCH, "<": _BRANCH, "<=": _BRANCH, ">": _BRANCH, ">=": _BRANCH,
    "in": _BRANCH, "iteration": _PARTS, "len": _NODE, "str": _NODE, "an f-string": _NODE, "a call": _NODE,
    "[...]": "give the node a result with named fields, or take the item inside a node",
    "await": "a port is wired, not awaited; its value is in the result of the run", "with": _NODE,
    "int": _NODE, "float": _NODE, "index": _NODE, "arithmetic": _NODE,
}  # fmt: skip
R_co = TypeVar("R_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")
D = TypeVar("D")


def _refusal(use: str) -> Callable[..., NoReturn]:
    def refuse(self: Placeholder, *_: object, **__: object) -> NoReturn:
        raise PortMisuse(repr(self), use, _ADVICE[use])

    return refuse


class Placeholder(Valueless):
    """Something that carries a value when the flow runs, and has none yet."""

    __slots__ = ()

    __bool__ = _refusal("bool")
    __iter__ = _refusal("iteration")
    __aiter__ = _refusal("iteration")
    __len__ = _refusal("len")
    __contains__ = _refusal("in")
    __str__ = _refusal("str")
    __format__ = _refusal("an f-string")
    __call__ = _refusal("a call")
    __await__ = _refusal("await")
    __enter__ = __exit__ = __aenter__ = __aexit__ = _refusal("with")
    __getitem__ = __setitem__ = __delitem__ = _refusal("[...]")
    __int__ = _refusal("int")
    __float__ = _refusal("float")
    __index__ = _refusal("index")
    __eq__ = _refusal("==")
    __ne__ = _refusal("!=")
    __lt__ = _refusal("<")
    __le__ = _refusal("<=")
    __gt__ = _refusal(">")
    __ge__ = _refusal(">=")
    __hash__ = object.__hash__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refusal("arithmetic")
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refusal("arithmetic")
    __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refusal("arithmetic")
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refusal("arithmetic")
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refusal("arithmetic")
    __divmod__ = __rdivmod__ = __round__ = _refusal("arithmetic")
    __floor__ = __ceil__ = __trunc__ = _refusal("arithmetic")
    __neg__ = __pos__ = __abs__ = __invert__ = _refusal("arithmetic")


class PortRef(Placeholder):
    """A port of a placed node, an input of the flow or a loop variable.

    The fields of a result with named fields are ports too: `step.out.title`.
    """

    __slots__ = ("_block", "_reference")

    def __init__(self, block: OpenBlock, reference: Reference) -> None:
        self._block = block
        self._reference = reference

    def __repr__(self) -> str:
        return f"'{self._reference}'"

    def __getitem__(self, name: object) -> PortRef:  # type: ignore[override]  # refused but for some ports
        """Return the port of a key if the result is a TypedDict."""
        if isinstance(name, str) and self._block.has_keys(self._reference):
            return PortRef(self._block, Reference(self._reference.node, name))
        raise PortMisuse(repr(self), "[...]", _ADVICE["[...]"])

    def __getattr__(self, name: str) -> PortRef:
        if name.startswith("_"):
            raise AttributeError(name)
        reference = self._reference
        if reference.port != "out" or reference.node in PARAMETERS:
            raise PortMisuse(
                repr(self),
                f"the attribute {name!r}",
                "a source never reaches into a value; only a node's `out` has its result's fields as ports",
            )
        return PortRef(self._block, Reference(reference.node, name))


class Expression(Placeholder):
    """A join, the item of a map or a collected list; `build` combines the sources of the operands."""

    __slots__ = ("_build", "_depth", "_home", "_name", "_operands", "_size")

    def __init__(
        self, name: str, operands: tuple[Operand, ...], build: Callable[[tuple[Source, ...]], Source]
    ) -> None:
        inner = [operand for operand in operands if isinstance(operand, Expression)]
        self._depth: int = 1 + max((one._depth for one in inner), default=0)  # noqa: SLF001 - of its own class
        self._size: int = 1 + sum(one._size for one in inner)  # noqa: SLF001 - as above
        if self._size > LARGEST or self._depth > DEEPEST:
            expected = f"at most {LARGEST:,} joins, nested at most {DEEPEST} deep"
            raise ArgumentInvalid(JOIN_TOO_LARGE(f"{name}(...)", expected=expected))
        self._home: OpenBlock | None = None  # of the item of a map: the block that read it first
        self._name = name
        self._operands = operands
        self._build = build

    def __repr__(self) -> str:
        return f"{self._name}(...)"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise PortMisuse(repr(self), f"the attribute {name!r}", "a source never reaches into a value")


Operand: TypeAlias = PortRef | Expression | Literally


class Handle:
    """An object returned while a flow is built that is not a port itself: a step, a branch, a loop."""

    __slots__ = ()


def literally(value: object) -> Operand:
    """Return a placeholder unchanged; wrap a copy of any other value as a constant."""
    return value if isinstance(value, PortRef | Expression) else Literally(own_copy(value))


def cannot_be_constant(value: object) -> bool:
    """Return whether a value is a handle, a marker, a coroutine, or a container of ports."""
    return isinstance(value, Handle) or type(value) in (Marker, CoroutineType) or ports_within(value)


def ports_within(value: object) -> bool:
    """Return whether a constant contains a placeholder or a handle in its lists, tuples, sets and dicts."""
    todo: list[object] = [value]
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if isinstance(one, Placeholder | Handle):
            return True
        if isinstance(one, dict | list | tuple | set | frozenset) and id(one) not in seen:
            seen.add(id(one))
            todo.extend([*one.keys(), *one.values()] if isinstance(one, dict) else one)
    return False


class Step(Handle, Generic[R_co]):
    """A placed node: its ports are read from `out`, `done` and `error`."""

    __slots__ = ("_block", "_id")

    def __init__(self, block: OpenBlock, id: str) -> None:
        self._block = block
        self._id = id

    def _port(self, name: str) -> Any:
        return PortRef(self._block, Reference(self._id, name))

    @property
    def out(self) -> R_co:
        """The result; a result with named fields has a port for each: `step.out.title`."""
        port: R_co = self._port("out")
        return port

    @property
    def error(self) -> Failure:
        """The failure of the node, a skip if it succeeded. Connecting it handles the failure."""
        port: Failure = self._port(ERROR)
        return port

    @property
    def done(self) -> Signal:
        """The signal that the node has succeeded, or failed with a `default=`."""
        port: Signal = self._port(DONE)
        return port

    if not TYPE_CHECKING:  # so that a type checker refuses any other name

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            advice = (
                f"a field of the result is step.out.{name}, an input for connect the text '{self._id}.{name}'"
            )
            raise PortMisuse(self._id, f"the attribute {name!r}", advice)

    def __repr__(self) -> str:
        return f"<step {self._id}>"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Show the step in a notebook: its node type and its ports."""
        from dataflow.base.pages import bundle, caption, table  # only notebooks show steps

        kind: Any = getattr(self._block.block.nodes.get(self._id), "type", "")
        kind = getattr(kind, "node_type", kind)  # of a flow that is a node
        ports = [
            (word, name, type_name(port.type))
            for word, some in (("input", "inputs"), ("output", "outputs"))
            for name, port in getattr(kind, some, {}).items()
        ]
        head = caption(f"step {self._id}: {getattr(kind, 'id', kind)}")
        return bundle(repr(self), filter(None, [head, table(("", "port", "type"), ports)]))


def _expression(
    name: str, operands: tuple[object, ...], build: Callable[[tuple[Source, ...]], Source]
) -> Any:
    return Expression(name, tuple(literally(operand) for operand in operands), build)


@naming_settings("each")
def each(
    xs: Iterable[T],
    *,
    key: Callable[[T], str] | None = None,
    max_concurrency: int | None = None,
    on_error: Literal["fail", "collect", "skip"] = "fail",
) -> T:
    """Open a map over the list (fan-out): nodes that read the item run once per item, as do their dependents.

    With `key` the items are named by it instead of by position; equal keys fail. `max_concurrency` is the
    maximum number of items in flight. An item that fails fails the map; with `on_error="skip"` it is left
    out of the lists, with `"collect"` a `Failure` takes its place. Raises ValueError for an invalid option.

    Two calls over one list are two maps, unless a node depends on the items of both; one call used twice is
    one map.
    """
    options, call = EachOptions(key, max_concurrency, on_error), object()
    result: T = _expression("each", (xs,), lambda parts: Each(parts[0], options, call))
    return result


def collect(x: T) -> list[T]:
    """Close the innermost map (fan-in): the values of the items in item order, without skips."""
    result: list[T] = _expression("collect", (x,), lambda parts: Collect(parts[0]))
    return result


def gather(*xs: T) -> list[T]:
    """List the live values in declared order; if no source is live, the result is a skip."""
    result: list[T] = _expression("gather", xs, Gather)
    return result


def merge(*xs: T) -> T:
    """Take the first source in declared order that is not a skip, as soon as it is known.

    If no source is live, the result is a skip.
    """
    result: T = _expression("merge", xs, Merge)
    return result


@naming_settings("merge_contexts")
def merge_contexts(*contexts: ExecutionContext, how: MergePolicy | Callable[..., Any]) -> ExecutionContext:
    """Merge the live conversations into one.

    `pick` takes the first; `append` continues the first with the new messages of each other; `results`
    continues the messages that all have in common with the last answer of each. A function gets the list of
    contexts. In documents the node type `agent.merge_conversations` does the same.
    """
    result: ExecutionContext = _expression(
        "merge_contexts", contexts, lambda parts: MergeContexts(parts, how)
    )
    return result


def race(*xs: T) -> T:
    """Take the first source to settle with a value, and cancel nodes that only the others need.

    A source that fails does not win; if all fail, the failures count. If no source is live, the result is a
    skip.
    """
    result: T = _expression("race", xs, Race)
    return result


@overload
def fallback(x: T, default: D) -> T | D: ...
@overload
def fallback(x: T, other: U, default: D, /) -> T | U | D: ...
@overload
def fallback(x: T, other: T, /, *more: T) -> T: ...
def fallback(x: Any, default: Any, *more: Any) -> Any:
    """Take the value unless it is a skip, else the default; of more sources the first that is not a skip.

    A default that is a port is computed only then: nodes that nothing else needs do not run before.
    """
    *others, result = (x, default, *more)
    for source in reversed(others):
        result = _expression("fallback", (source, result), lambda parts: Fallback(*parts))
    return result
