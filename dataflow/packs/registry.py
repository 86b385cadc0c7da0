"""Find the installed packs, and a node type by its id.

A pack is loaded when a flow names one of its types; a pack that cannot be used does not affect the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Final

from dataflow.builder.builtin import BUILT_IN
from dataflow.core.discovery import GROUP, OURS, Fault, PackStatus, fault_of, offers
from dataflow.core.distributions import is_same_distribution
from dataflow.core.functions import import_node, importing, is_function_name
from dataflow.diagnostics.packs import (
    DISTRIBUTION_UNKNOWN,
    PACK_API_UNSUPPORTED,
    PACK_NAME_DIFFERS,
    PACK_OF_OTHER_TYPE,
    PACK_UNKNOWN,
    TYPE_AMBIGUOUS,
    TYPE_ID_INVALID,
    TYPE_UNKNOWN,
)
from dataflow.errors import PackError
from dataflow.packs.pack import Pack, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataflow.core.discovery import Offer
    from dataflow.core.nodetype import NodeType
    from dataflow.diagnostics.diagnostic import Diagnostic, Kind

__all__ = [
    "InstalledPack",
    "find_type",
    "installed_diagnostics",
    "installed_packs",
    "is_offered",
    "shared_ids",
    "unknown_pack",
]

#: The version of the interface between the engine and packs.
API: Final = 1


@dataclass(frozen=True, slots=True)
class InstalledPack:
    """An installed pack: the ids of its node types, or why it cannot be used."""

    offer: Offer
    status: PackStatus
    types: Sequence[str] = ()
    fault: Fault | None = None


def find_type(id: str) -> NodeType:
    """Look up a node type by its id: a built-in, `pack.name`, or `module:qualname`.

    `distribution:pack.name` picks one of the distributions that offer it. Raises PackError.
    """
    distribution, _, rest = id.rpartition(":")
    if rest in BUILT_IN and (not distribution or is_same_distribution(distribution, OURS)):
        return BUILT_IN[rest]
    offering = _offering(id)
    if not offering and is_function_name(id):
        return type_of(import_node(id))
    pack, dot, name = rest.partition(".")
    if not dot or not pack:
        raise PackError(id, TYPE_ID_INVALID())
    if not offering:
        raise PackError(id, _unknown(pack, distribution))
    return _find_in(id, name, offering)


def is_offered(id: str) -> bool:
    """Return whether an id names an installed pack, also in the form `distribution:pack.name`."""
    return bool(_offering(id))


def _offering(id: str) -> list[Offer]:
    """List the offers of the pack of an id; with a distribution in front, only its own."""
    distribution, colon, rest = id.rpartition(":")
    pack = rest.partition(".")[0]
    return [
        offer
        for offer in offers()
        if offer.pack == pack and (not colon or is_same_distribution(offer.distribution, distribution))
    ]


def _unknown(pack: str, distribution: str) -> Diagnostic:
    if distribution:
        known = {offer.distribution for offer in offers() if offer.pack == pack}
        return DISTRIBUTION_UNKNOWN(distribution=distribution, pack=pack, available=sorted(known))
    return unknown_pack(pack)


def unknown_pack(pack: str) -> Diagnostic:
    """Return the problem that a pack does not exist, with the names of those that do."""
    return PACK_UNKNOWN(pack=pack, available={offer.pack for offer in offers()}, near=pack)


def _find_in(id: str, name: str, offering: Iterable[Offer]) -> NodeType:
    """Return the type of the one pack that has it; a faulty pack is reported only if no pack has it."""
    usable: list[tuple[Offer, Pack]] = []
    faults: list[Diagnostic] = []
    for offer in offering:
        loaded = _loaded(offer)
        if isinstance(loaded, Pack):
            usable.append((offer, loaded))
        else:
            faults.append(loaded.problem.within(f"pack {offer.pack!r} of {offer.label}"))
    having = [(offer, pack) for offer, pack in usable if pack.current(name) in pack.nodes]
    if len(having) > 1:
        labels = " and ".join(offer.label for offer, _ in having)
        ids = " or ".join(f"{offer.distribution}:{offer.pack}.{name}" for offer, _ in having)
        raise PackError(id, TYPE_AMBIGUOUS(offered_by=labels, ids=ids))
    if having:
        offer, pack = having[0]
        return pack.find(name, offer.label)
    raise PackError(id, faults[0] if faults else _without(name, usable))


def _without(name: str, usable: Iterable[tuple[Offer, Pack]]) -> Diagnostic:
    """Return the problem that no pack of an id has the type, with the types that exist."""
    known = {one for _, pack in usable for one in pack.nodes}
    packs = {pack.name for _, pack in usable}
    known |= {one for pack, _, one in (id.partition(".") for id in BUILT_IN) if pack in packs}
    labels = " and ".join(offer.label for offer, _ in usable)
    return TYPE_UNKNOWN(pack=f"pack {packs.pop()!r} of {labels}", available=known, near=name)


def _loaded(offer: Offer) -> Pack | Fault:
    """Load an offered pack without importing its types, or return why it cannot be used."""
    fault = fault_of(offer)
    if fault is None:
        try:
            return _imported(offer)
        except PackError as error:
            fault = Fault(PackStatus.ERROR, error.problem, error)
    return fault


def _imported(offer: Offer) -> Pack:
    """Import a pack; raises PackError, also for exceptions raised while it is read."""
    with importing(offer.pack, offer.value):
        pack = EntryPoint(offer.pack, offer.value, GROUP).load()
        fault = _fault_in(pack, offer)
    if fault is not None:
        raise PackError(offer.pack, fault)
    assert isinstance(pack, Pack), "as just checked"
    return pack


def _fault_in(pack: object, offer: Offer) -> Diagnostic | None:
    if not isinstance(pack, Pack):
        return PACK_OF_OTHER_TYPE(value=offer.value, found=type(pack).__name__)
    sorted(pack.nodes)  # a replaced attribute may raise here
    if pack.name != offer.pack:
        return PACK_NAME_DIFFERS(expected=repr(offer.pack), found=repr(pack.name))
    if pack.api != API:
        return PACK_API_UNSUPPORTED(expected=API, found=repr(pack.api))
    return pack.clash


def installed_packs(name: str | None = None) -> list[InstalledPack]:
    """Load every installed pack, or those of a name, and return the state of each.

    No module of a node type is imported.
    """
    return [_installed(offer) for offer in offers() if name in (None, offer.pack)]


def installed_diagnostics() -> dict[str, tuple[Kind, ...]]:
    """Return the kinds of problems that each installed pack reports, by the name of the pack in messages."""
    packs = {f"pack {offer.pack!r} of {offer.label}": _loaded(offer) for offer in offers()}
    return {name: pack.diagnostics for name, pack in packs.items() if isinstance(pack, Pack)}


def _installed(offer: Offer) -> InstalledPack:
    loaded = _loaded(offer)
    if not isinstance(loaded, Pack):
        return InstalledPack(offer, loaded.status, fault=loaded)
    types = sorted(f"{offer.pack}.{name}" for name in loaded.nodes)
    return InstalledPack(offer, PackStatus.OK if types else PackStatus.EMPTY, types)


def shared_ids(packs: Iterable[InstalledPack]) -> dict[str, list[str]]:
    """List the ids that several distributions offer, with their names and versions."""
    offering: dict[str, list[str]] = {}
    for pack in packs:
        for id in pack.types:
            offering.setdefault(id, []).append(pack.offer.label)
    return {id: labels for id, labels in offering.items() if len(labels) > 1}
