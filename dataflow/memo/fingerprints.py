"""Cache keys: content hashes of everything that determines the outcome of a firing."""

from __future__ import annotations

import os
from hashlib import blake2b
from operator import itemgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataflow.compiler.layout import inputs_of_call
from dataflow.core.ports import Signal
from dataflow.core.states import UNSETTLED, Errored, Remembered
from dataflow.diagnostics.values import NO_CONTENT_HASH
from dataflow.scheduler.arguments import checked, is_live
from dataflow.values.constants import Constant, is_plain
from dataflow.values.digest_leaves import Digested, listed, text
from dataflow.values.digest_parts import type_of
from dataflow.values.digests import NoDigest, digest
from dataflow.values.forms import caches_of
from dataflow.values.functions import NAME, PYTHON, FunctionGraph

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dataflow.compiler.plan import Call, Feed, PlanNode
    from dataflow.core.config import Config
    from dataflow.core.nodetype import NodeType
    from dataflow.scheduler.frames import Frame

__all__ = ["Fingerprint", "fingerprint", "input_digests"]

#: How many combinations of ports are kept of a node.
MOST_ORDERS: Final = 100
#: The prefix of the content hash of several values of one port, which differs from that of any single value.
SEVERAL: Final = b"Q"


class Fingerprint(NamedTuple):
    """A cache key and its parts; equal keys mean equal parts. Neither reveals a value."""

    key: str
    # the content hashes of constant parts by name; like the others they may contain short values
    fixed: Mapping[str, bytes]
    names: Sequence[str]
    digests: Sequence[bytes]

    def __repr__(self) -> str:
        return f"Fingerprint({self.key!r})"

    @property
    def parts(self) -> Mapping[str, str]:
        """The content hash of each part, by the name that `why` prints."""
        named = {**self.fixed, **dict(zip(self.names, self.digests, strict=True))}
        return {name: _shown(made) for name, made in named.items()}


def fingerprint(
    call: Call, ports: tuple[str, ...], inputs: Sequence[bytes], environment: tuple[str, ...] = ()
) -> Fingerprint:
    """Return the cache key of a call: of its code and captured objects, config, environment and inputs.

    `inputs` are the content hashes of the ports, in the order of `ports`; `environment` names environment
    variables. Raises NoDigest, whose place begins with the name of the part.
    """
    known: Any = call.common.known
    if known is None or not known.graph.is_same():
        known = call.common.known = _Known(call)
    names, header = known.orders.get((ports, environment)) or known.order(ports, environment)
    digests = inputs
    if known.open or environment:
        variables = [digest(os.environ.get(name)) for name in environment]
        digests = [*(_digest_of(part, held) for part, held in known.open.items()), *variables, *inputs]
    made = blake2b(b"".join((header, bytes(map(len, digests)), *digests)), digest_size=20)
    return Fingerprint(made.hexdigest(), known.fixed, names, digests)


class _Known:
    """The constant parts of a call's cache key, valid while its functions refer to the same objects.

    fixed: the content hashes of constant parts, by name
    open: the values of the other parts, which are hashed each time
    """

    __slots__ = ("fixed", "graph", "head", "open", "orders")

    def __init__(self, call: Call) -> None:
        root = call.type.documented or call.type.call
        self.graph = FunctionGraph(root)
        if not any(isinstance(one, FunctionType) for one in self.graph.functions):
            why = "it is not written in Python"
            raise NoDigest("code", NO_CONTENT_HASH(found=type_of(root), why=why, advice=""))
        parts: dict[str, list[Any]] = {}
        for each in self.graph.held:
            if each.label != NAME:
                parts.setdefault(each.part, []).append(each.value)
        parts |= {f"config {name!r}": [value] for name, value in _settings(call.common.config)}
        self.open = {part: values for part, values in parts.items() if not all(map(_is_fixed, values))}
        self.fixed = {
            "type": text(call.type.id),
            "version": text(call.type.version),
            "Python": text(PYTHON),
            "result": _result(call.type),
            **{part: _digest_of(part, values) for part, values in parts.items() if part not in self.open},
        }
        labelled = [made for part, one in sorted(self.fixed.items()) for made in (text(part), one)]
        self.head = listed(b"V", labelled)
        self.orders: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[list[str], bytes]] = {}

    def order(self, ports: tuple[str, ...], environment: tuple[str, ...]) -> tuple[list[str], bytes]:
        """Return the names of the variable parts, and the header that a key begins with."""
        variables = [f"environment {name!r}" for name in environment]
        names = [*self.open, *variables, *(f"input {name!r}" for name in ports)]
        if len(self.orders) >= MOST_ORDERS:
            self.orders.clear()
        header = self.head + listed(b"V", list(map(text, names)))
        found = self.orders[ports, environment] = names, header
        return found


def _result(kind: NodeType) -> bytes:
    """Hash how the return value of a function becomes values of ports."""
    return digest((kind.shape.value, {port.name: port.conditional for port in kind.outputs.values()}))


def _is_fixed(value: object) -> bool:
    return type(value) in (Constant, Digested) or is_plain(value)


def _settings(config: Config | None) -> Iterator[tuple[str, Any]]:
    if config is None:
        return
    caches = caches_of(type(config))
    held = {**vars(config), **(config.__pydantic_private__ or {})}
    yield from ((name, value) for name, value in held.items() if name not in caches)


def _digest_of(part: str, values: Sequence[Any]) -> bytes:
    try:
        return digest(values[0]) if len(values) == 1 else listed(b"V", list(map(digest, values)))
    except NoDigest as error:
        raise error.within(part) from error


def _shown(made: bytes) -> str:
    return blake2b(made, digest_size=16).hexdigest()


def input_digests(frame: Frame, node: PlanNode, call: Call) -> tuple[tuple[str, ...], list[bytes]]:
    """Hash the inputs of a firing: the ports in the order of their names, and their content hashes.

    Raises NoDigest, and NodeFailed for a value that does not fit its port.
    """
    memo = frame.plan.memo
    assert memo is not None, "the node has a memo"
    reads = memo.reads.get(node.index)
    if reads is None or node.index in frame.dead_inputs:
        given = sorted(inputs_of_call(call), key=itemgetter(0))
        ports = tuple([port for port, _ in given])
        return ports, [_within(port, frame, node, one) for port, one in given]
    ports, slots = reads
    constant, known = memo.digests.get, frame.digests.get
    digests: list[bytes] = []
    for slot in slots:
        found = constant(slot) or known(slot)
        if type(found) is not bytes:  # in a live session a slot may be known to have none
            try:
                found = _of_slot(frame, slot)
            except NoDigest as refused:
                raise refused.within(f"input {ports[len(digests)]!r}") from refused
        digests.append(found)
    return ports, digests


def _within(port: str, frame: Frame, node: PlanNode, given: Feed | int) -> bytes:
    try:
        return _of_port(frame, node, given)
    except NoDigest as refused:
        raise refused.within(f"input {port!r}") from refused


def _of_port(frame: Frame, node: PlanNode, given: Feed | int) -> bytes:
    """Hash the input of a port, as `arguments.argument` returns it."""
    if isinstance(given, int):
        return _of_slot(frame, given)
    slots = [slot for slot in given.slots if is_live(frame.values[slot], given)]
    if not slots and not (given.many and given.required):
        return digest(given.default)
    if given.is_signal:
        digests = [digest(Signal())] * len(slots)
    elif given.check is not None:
        digests = [digest(checked(node, given, _seen(frame.values[slot]))) for slot in slots]
    else:
        digests = [_of_slot(frame, slot) for slot in slots]
    return listed(SEVERAL, digests) if given.many else digests[0]


def _seen(token: Any) -> Any:
    return token.failure if type(token) is Errored else token


def _of_slot(frame: Frame, slot: int) -> bytes:
    """Hash the value of a slot once for all its readers, including those in inner scope instances."""
    token, memo, home = frame.values[slot], frame.plan.memo, frame
    if memo is not None and frame.plan.initial[slot] is not UNSETTLED and is_plain(token):
        memo.digests[slot] = made = digest(token)
        return made
    while memo is not None and slot in memo.outer and home.parent is not None:
        slot, home = memo.outer[slot], home.parent
        memo = home.plan.memo
    known = home.digests.get(slot)
    if type(known) is bytes:  # else the slot has none, and NoDigest is raised again
        return known
    assert type(token) is not Remembered, "the digest of what stays in the store is known"
    made = digest(_seen(token))
    home.note_digest(slot, made)
    return made
