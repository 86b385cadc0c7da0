"""Memo inputs: the digests of what a firing is given, as its function sees it (S13.2)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from dataflow.compiler.layout import inputs_of_call
from dataflow.core.ports import Signal
from dataflow.core.states import UNSETTLED, Errored, Remembered
from dataflow.scheduler.arguments import checked, is_live
from dataflow.values.digest_leaves import listed
from dataflow.values.digests import NoDigest, digest
from dataflow.values.functions import is_plain

if TYPE_CHECKING:
    from dataflow.compiler.plan import Call, Feed, PlanNode
    from dataflow.scheduler.frames import Frame

__all__ = ["input_digests"]

#: Begins the digest of what several edges bring to one port, so that it is that of no single value.
SEVERAL: Final = b"Q"


def input_digests(frame: Frame, node: PlanNode, call: Call) -> tuple[tuple[str, ...], list[bytes]]:
    """Digest what a firing is given, by port in the order of the names.

    Raises NoDigest, and NodeFailed for what does not fit.
    """
    memo = frame.plan.memo
    assert memo is not None, "the node has a memo"
    reads = memo.reads.get(node.index)
    if reads is None or node.index in frame.odd:
        given = sorted(inputs_of_call(call), key=itemgetter(0))
        ports = tuple([port for port, _ in given])
        return ports, [_within(port, frame, node, one) for port, one in given]
    ports, slots = reads
    constant, known = memo.digests.get, frame.digests.get
    digests: list[bytes] = []
    for slot in slots:
        found = constant(slot) or known(slot)
        if type(found) is not bytes:  # in a live session it may be known that there is none
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
    """Digest what a port is given, as `binding.argument` gives it."""
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
    """Digest what a slot holds, once for all who read it, those in the frames inside included."""
    token, memo, home = frame.values[slot], frame.plan.memo, frame
    if memo is not None and frame.plan.initial[slot] is not UNSETTLED and is_plain(token):
        memo.digests[slot] = made = digest(token)
        return made
    while memo is not None and slot in memo.outer and home.parent is not None:
        slot, home = memo.outer[slot], home.parent
        memo = home.plan.memo
    known = home.digests.get(slot)
    if type(known) is bytes:  # else it is known to have none, which is told once more
        return known
    assert type(token) is not Remembered, "the digest of what stays in the store is known"
    made = digest(_seen(token))
    home.note_digest(slot, made)
    return made
