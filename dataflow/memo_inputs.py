"""Memo inputs: the digests of what a firing is given, as its function sees it (S13.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from dataflow.binding import checked, is_live
from dataflow.digest_leaves import listed
from dataflow.digests import NoDigest, digest
from dataflow.function_graphs import is_plain
from dataflow.memo_slots import inputs_of_call
from dataflow.ports import Signal
from dataflow.tokens import UNSETTLED, Errored, Remembered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.frames import Frame
    from dataflow.plan import Call, Feed, PlanNode

__all__ = ["input_digests"]

#: Begins the digest of what several edges bring to one port, so that it is that of no single value.
SEVERAL: Final = b"Q"


def input_digests(frame: Frame, node: PlanNode, call: Call) -> Mapping[str, bytes]:
    """Digest what a firing is given, by port; raises NoDigest, and NodeFailed for what does not fit."""
    slots = frame.plan.memo
    assert slots is not None, "the node has a memo"
    digests = {}
    if (reads := slots.reads.get(node.index)) is not None and node.index not in frame.odd:
        constant, known = slots.digests.get, frame.digests.get
        for port, slot in reads:
            found = constant(slot) or known(slot)
            if type(found) is not bytes:  # in a live session it may be known that there is none
                try:
                    found = _of_slot(frame, slot)
                except NoDigest as refused:
                    raise refused.within(f"input {port!r}") from refused
            digests[port] = found
        return digests
    for port, given in inputs_of_call(call):
        digests[port] = _within(port, frame, node, given)
    return digests


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
    token, home, constants = frame.values[slot], frame, frame.plan.memo
    if constants is not None and frame.plan.initial[slot] is not UNSETTLED and is_plain(token):
        constants.digests[slot] = made = digest(token)
        return made
    while home.plan.memo is not None and slot in home.plan.memo.outer and home.parent is not None:
        slot, home = home.plan.memo.outer[slot], home.parent
    known = home.digests.get(slot)
    if isinstance(known, bytes):  # else it is known to have none, which is told once more
        return known
    assert type(token) is not Remembered, "the digest of what stays in the store is known"
    made = digest(_seen(token))
    home.note_digest(slot, made)
    return made
