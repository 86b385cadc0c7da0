"""What stands for a value while a flow is wired: ports, and expressions over ports.

A type checker sees the type of the value that will flow. At run time these objects hold no value, so
every use as one is refused with advice (S20).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from dataflow.base.copies import separate
from dataflow.base.markers import Marker, Valueless
from dataflow.core.wiring import PARAMETERS, Literally, Reference
from dataflow.errors import PortMisuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataflow.builder.blocks import OpenBlock
    from dataflow.core.wiring import Source

__all__ = [
    "Expression",
    "Handle",
    "Operand",
    "Placeholder",
    "PortRef",
    "is_no_constant",
    "literally",
    "ports_within",
]

#: How deep joins may be nested in one another.
DEEPEST: Final = 100
#: How many joins an expression may hold, one counted as often as it is used.
LARGEST: Final = 10_000

_BRANCH = "decide with f.when(port, predicate) or inside a node"
_NODE = "do it inside a node and wire the port into it"
_EACH = "wire each(port) into a node to run it once per item"
_ADVICE = {
    "bool": _BRANCH, "==": _BRANCH, "!=": _BRANCH, "<": _BRANCH, "<=": _BRANCH, ">": _BRANCH, ">=": _BRANCH,
    "in": _BRANCH, "iteration": _EACH, "len": _NODE, "str": _NODE, "an f-string": _NODE, "a call": _NODE,
    "[...]": "give the node a result with named fields, or take the item inside a node",
    "await": "a port is wired, not awaited; its value is in the result of the run", "with": _NODE,
    "int": _NODE, "float": _NODE, "index": _NODE, "arithmetic": _NODE,
}  # fmt: skip


def _refusal(use: str) -> Callable[..., NoReturn]:
    def refuse(self: Placeholder, *_: object, **__: object) -> NoReturn:
        raise PortMisuse(repr(self), use, _ADVICE[use])

    return refuse


class Placeholder(Valueless):
    """Something that will carry a value when the flow runs, and has none yet."""

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
    """A port of a placed node, an input of the flow or a carried port of a loop.

    The field of a result that has named fields is a port too: `step.out.title`.
    """

    __slots__ = ("_block", "_reference")

    def __init__(self, block: OpenBlock, reference: Reference) -> None:
        self._block = block
        self._reference = reference

    def __repr__(self) -> str:
        return f"'{self._reference}'"

    def __getitem__(self, name: object) -> PortRef:  # type: ignore[override]  # refused but for some ports
        """Return the port of a key, where the result is a TypedDict."""
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
    """A join, a map's item or a collected list; `build` makes the source of the operands' sources."""

    __slots__ = ("_build", "_depth", "_home", "_name", "_operands", "_size")

    def __init__(
        self, name: str, operands: tuple[Operand, ...], build: Callable[[tuple[Source, ...]], Source]
    ) -> None:
        inner = [operand for operand in operands if isinstance(operand, Expression)]
        self._depth: int = 1 + max((one._depth for one in inner), default=0)  # noqa: SLF001 - of its own class
        self._size: int = 1 + sum(one._size for one in inner)  # noqa: SLF001 - as above
        if self._size > LARGEST:
            raise ValueError(f"{name}(...) holds more than {LARGEST} joins; put a node in between")
        if self._depth > DEEPEST:
            raise ValueError(f"{name}(...) is nested more than {DEEPEST} deep; put a node in between")
        self._home: OpenBlock | None = None  # of a map's item: the block in which it was read first
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
    """Something that wiring hands back and that is no port itself: a step, a branch, a loop."""

    __slots__ = ()


def literally(value: object) -> Operand:
    """Return a placeholder as it is; wrap a copy of anything else as a constant, which then stays so."""
    return value if isinstance(value, PortRef | Expression) else Literally(separate(value))


def is_no_constant(value: object) -> bool:
    """Tell whether a value can be no constant: a handle, a marker, or a container of ports."""
    return isinstance(value, Handle) or type(value) is Marker or ports_within(value)


def ports_within(value: object) -> bool:
    """Tell whether a constant holds a placeholder or a handle in its lists, tuples, sets and dicts."""
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
