"""Ports of node types: their kinds, markers such as `Maybe` and `Lazy`, signals, and `NodeOutput`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from enum import Enum
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
)

from dataflow.base.failure import takes_failure
from dataflow.base.markers import MISSING, SKIP
from dataflow.core.context import ExecutionContext, Tools
from dataflow.diagnostics.arguments import ARGUMENT_NOT_AVAILABLE
from dataflow.errors import ArgumentInvalid

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CONTEXT",
    "DONE",
    "ERROR",
    "LAZY",
    "MISSING",
    "SKIP",
    "InPort",
    "Lazy",
    "Maybe",
    "NodeOutput",
    "OutPort",
    "Port",
    "PortKind",
    "Ports",
    "Signal",
    "field_advice",
    "in_port",
    "is_maybe",
    "kind_of",
    "out_port",
    "plain_type",
    "port_type",
]

T = TypeVar("T")
CONTEXT: Final = "context"
DONE: Final = "$done"
ERROR: Final = "$error"
MAYBE: Final = "dataflow: may be left out"
Maybe = Annotated[T, MAYBE]
LAZY: Final = "dataflow: demanded only when its reader will fire"
Lazy = Annotated[T, LAZY]
#: Frequent types: ports of these with the same name and settings are shared.
PLAIN: Final = frozenset({bool, float, int, str})
#: The maximum number of cached ports.
MOST_PLAIN: Final = 4096
OutputStatus: TypeAlias = Literal["success", "paused", "error"]
STATUSES: Final[tuple[str, ...]] = get_args(OutputStatus)


class Signal:
    """The value of a signal port, which carries no data: it only says that something has happened."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "Signal()"


class PortKind(Enum):
    """What the edges of a port carry (S1.4)."""

    DATA = "data"
    CONTEXT = "context"
    TOOLS = "tools"
    SIGNAL = "signal"


@dataclass(frozen=True, slots=True)
class InPort:
    """An input port. `default` is MISSING exactly if the port is required.

    Derived fields are computed once, as many nodes have the same port.
    """

    name: str
    type: object
    kind: PortKind
    default: object = MISSING
    many: bool = False
    lazy: bool = False  # demanded only when all other ports of its reader have settled (S8.3)
    required: bool = field(init=False, repr=False, compare=False)
    takes_failure: bool = field(init=False, repr=False, compare=False)  # an error is a value to it (S4.2)

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", self.default is MISSING)
        object.__setattr__(self, "takes_failure", takes_failure(plain_type(self.type)))


@dataclass(frozen=True, slots=True)
class OutPort:
    """An output port. `same_as` names the input whose value and type it passes on.

    `exit` is the branch output to which the port belongs: one firing sets ports of one exit only.
    """

    name: str
    type: object
    kind: PortKind
    conditional: bool = False
    same_as: str | None = None
    exit: str | None = None


class Port:
    """Describe a port of a node whose ports depend on its config.

    `default`, `many` and `lazy` apply to inputs, `conditional` and `exit` to outputs: an input without a
    default is required, `many` takes any number of edges, `lazy` runs its source only if the node will fire;
    a conditional output may be left out. A node whose outputs have an `exit` is a branch: a firing sets the
    outputs of one exit only, so they are conditional.
    """

    __slots__ = ("conditional", "default", "exit", "lazy", "many", "type")

    def __init__(
        self,
        type: Any,
        *,
        default: object = MISSING,
        many: bool = False,
        lazy: bool = False,
        conditional: bool = False,
        exit: str | None = None,
    ) -> None:
        self.type = type
        self.default = default
        self.many = many
        self.lazy = lazy
        self.conditional = conditional or exit is not None
        self.exit = exit


class Ports(NamedTuple):
    """The ports of a node for one config, by name, for `node(ports=)`; a value is a type or a `Port`."""

    inputs: Mapping[str, Any] = {}
    outputs: Mapping[str, Any] = {}


def plain_type(annotation: object) -> object:
    """Strip `Annotated` from the outside of an annotation."""
    if type(annotation) is type:  # as most are
        return annotation
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation


def port_type(annotation: object) -> object:
    """Strip what says nothing about values, such as `Maybe` and descriptions; constraints remain."""
    if type(annotation) is type or get_origin(annotation) is not Annotated:
        return annotation
    inner, *metadata = get_args(annotation)
    given = [item for item in metadata if not isinstance(item, str)]
    if not given:
        return inner
    from dataflow.types.mismatches import is_constraint  # few ports have constraints

    kept = tuple(filter(is_constraint, given))
    return Annotated[(inner, *kept)] if kept else inner


def is_maybe(annotation: object) -> bool:
    """Return whether the annotation is `Maybe[...]`."""
    return _is_marked(annotation, MAYBE)


def _is_marked(annotation: object, marker: str) -> bool:
    if type(annotation) is type:  # as above
        return False
    return get_origin(annotation) is Annotated and marker in get_args(annotation)[1:]


def kind_of(annotation: object) -> PortKind:
    """Derive a port's kind from its type (S1.4)."""
    plain = plain_type(annotation)
    if isinstance(plain, type):
        if issubclass(plain, ExecutionContext):
            return PortKind.CONTEXT
        if issubclass(plain, Tools):
            return PortKind.TOOLS
        if issubclass(plain, Signal):
            return PortKind.SIGNAL
    return PortKind.DATA


def in_port(
    name: str, annotation: object, default: object = MISSING, *, many: bool = False, lazy: bool = False
) -> InPort:
    """Return an input port for an annotation; one marked `Lazy`, or of the kind tools, is lazy (S8.3)."""
    # Cached for string defaults only: 1, True and 1.0 would be one key, and lists have no hash.
    if type(annotation) is type and annotation in PLAIN and (default is MISSING or type(default) is str):
        return _plain_in_port(name, annotation, default, many, lazy)
    kind = kind_of(annotation)
    is_lazy = lazy or kind is PortKind.TOOLS or _is_marked(annotation, LAZY)
    return InPort(name, port_type(annotation), kind, default, many, is_lazy)


def out_port(name: str, annotation: object, conditional: bool = False, exit: str | None = None) -> OutPort:
    """Return an output port for an annotation."""
    if type(annotation) is type and annotation in PLAIN:
        return _plain_out_port(name, annotation, conditional, exit)
    return OutPort(name, port_type(annotation), kind_of(annotation), conditional, exit=exit)


@lru_cache(maxsize=MOST_PLAIN)
def _plain_in_port(name: str, annotation: type, default: object, many: bool, lazy: bool) -> InPort:
    return InPort(name, annotation, PortKind.DATA, default, many, lazy)


@lru_cache(maxsize=MOST_PLAIN)
def _plain_out_port(name: str, annotation: type, conditional: bool, exit: str | None) -> OutPort:
    return OutPort(name, annotation, PortKind.DATA, conditional, exit=exit)


def field_advice(outputs: Mapping[str, OutPort], name: str) -> str:
    """Return what to do about an output that is missing, if it is a field of a result that has no ports."""
    kind = outputs["out"].type if "out" in outputs else None
    bases = kind.__mro__ if isinstance(kind, type) else ()
    has_field = any(name in vars(base).get("__annotations__", ()) for base in bases)
    return "only a NamedTuple, a dataclass or a TypedDict has a port for each field" if has_field else ""


@dataclass(frozen=True, slots=True)
class NodeOutput:
    """The result of a raw node: `outputs` by the names of its ports, `context` for the port `context`.

    `metadata` is recorded with the firing. With the status `error` the node has failed, and
    `metadata["error"]` is the message of the failure. With `paused` it opens an ask, a human-in-the-loop
    request that `metadata["ask"]` describes: `prompt`, `show`, `schema`, `expires` in seconds, `default`. Its
    outputs are kept, the answer fills the remaining ports, and the node is not called again. A result with
    `remembered=False` is not cached.
    """

    outputs: Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    context: ExecutionContext | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: OutputStatus = "success"
    remembered: bool = True

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            problem = ARGUMENT_NOT_AVAILABLE(name="status", found=repr(self.status), available=STATUSES)
            raise ArgumentInvalid(problem)
