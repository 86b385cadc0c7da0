"""The packs that are installed, and finding a node type by its id.

A pack is loaded when a flow names one of its types; one that cannot be used takes nothing else along.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from importlib import metadata
from typing import TYPE_CHECKING, Final

from dataflow.built_in import BUILT_IN
from dataflow.errors import PackError, choices
from dataflow.functions import import_function, importing, is_function_name
from dataflow.offers import GROUP, fault_of, is_disabled, is_same_distribution, offers
from dataflow.packs import Pack, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dataflow.nodetype import NodeType
    from dataflow.offers import Offer

__all__ = ["InstalledPack", "PackStatus", "find_type", "installed_packs", "is_offered", "shared_ids"]

#: The version of the interface between the engine and packs.
API: Final = 1


class PackStatus(Enum):
    """What has become of an installed pack."""

    OK = "ok"
    EMPTY = "empty"
    DISABLED = "disabled"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class InstalledPack:
    """An installed pack: the ids of its node types, or why it cannot be used."""

    name: str
    distribution: str
    version: str
    status: PackStatus
    types: Sequence[str] = ()
    error: PackError | None = None


def find_type(id: str) -> NodeType:
    """Look a node type up: a built-in, `pack.name`, or `module:qualname` (S1.2).

    `distribution:pack.name` picks one of the distributions that offer it. Raises PackError.
    """
    if id in BUILT_IN:
        return BUILT_IN[id]
    offering = _offering(id)
    if not offering and is_function_name(id):
        return type_of(import_function(id))
    distribution, _, rest = id.rpartition(":")
    pack, dot, name = rest.partition(".")
    if not dot or not pack:
        raise PackError(id, "is no node type: write pack.name, prefix.function or module:qualname")
    if not offering:
        raise PackError(id, _unknown(pack, distribution))
    return _of_one(id, name, offering)


def is_offered(id: str) -> bool:
    """Tell whether an id names an installed pack, the form `distribution:pack.name` included."""
    return bool(_offering(id))


def _offering(id: str) -> list[Offer]:
    """List those who offer the pack of an id; with a distribution in front, only that one."""
    distribution, colon, rest = id.rpartition(":")
    pack = rest.partition(".")[0]
    return [
        offer
        for offer in offers()
        if offer.pack == pack and (not colon or is_same_distribution(offer.distribution, distribution))
    ]


def _unknown(pack: str, distribution: str) -> str:
    if distribution:
        known = {offer.distribution for offer in offers() if offer.pack == pack}
        return f"no installed distribution {distribution!r} offers a pack {pack!r}; {choices(sorted(known))}"
    return f"no installed pack is called {pack!r}; {choices(sorted({offer.pack for offer in offers()}))}"


def _of_one(id: str, name: str, offering: Iterable[Offer]) -> NodeType:
    """Return the type of the one pack that has it; a pack that cannot be used counts only where none has."""
    usable: list[tuple[Offer, Pack]] = []
    errors: list[PackError] = []
    for offer in offering:
        try:
            usable.append((offer, load_pack(offer)))
        except PackError as error:
            errors.append(error)
    having = [(offer, pack) for offer, pack in usable if name in pack.nodes]
    if len(having) > 1:
        named = " and ".join(offer.label for offer, _ in having)
        ways = " or ".join(f"{offer.distribution}:{offer.pack}.{name}" for offer, _ in having)
        raise PackError(id, f"is offered by {named}; write {ways}")
    if not having and errors:
        raise PackError(id, str(errors[0])) from errors[0]
    offer, pack = (having or usable)[0]
    return pack.find(name, offer.label)


def load_pack(offer: Offer) -> Pack:
    """Load what is offered, without importing its types; raises PackError naming distribution and version."""
    wanted = f"pack {offer.pack!r} of {offer.label}"
    fault = fault_of(offer)
    if fault:
        raise PackError(wanted, fault)
    with importing(wanted, offer.value):
        pack = metadata.EntryPoint(offer.pack, offer.value, GROUP).load()
    if not isinstance(pack, Pack):
        raise PackError(wanted, f"{offer.value} is of type {type(pack).__name__}; expected a dataflow.Pack")
    if pack.name != offer.pack:
        raise PackError(wanted, f"calls itself {pack.name!r}; its entry point has to bear the same name")
    if pack.api != API:
        raise PackError(wanted, f"needs pack API {pack.api!r}, this release has {API}")
    return pack


def installed_packs() -> list[InstalledPack]:
    """Load every installed pack and tell what has become of it; no module of a node type is imported."""
    return [_installed(offer) for offer in offers()]


def _installed(offer: Offer) -> InstalledPack:
    types: list[str] = []
    error = None
    try:
        names = load_pack(offer).nodes
    except PackError as found:
        error = found
        status = PackStatus.DISABLED if is_disabled(offer.pack) else PackStatus.ERROR
    else:
        types = sorted(f"{offer.pack}.{name}" for name in names)
        status = PackStatus.OK if types else PackStatus.EMPTY
    return InstalledPack(offer.pack, offer.distribution, offer.version, status, types, error)


def shared_ids(packs: Iterable[InstalledPack]) -> dict[str, list[str]]:
    """List the ids that several distributions offer, with their names and versions."""
    offering: dict[str, list[str]] = {}
    for pack in packs:
        for id in pack.types:
            offering.setdefault(id, []).append(f"{pack.distribution} {pack.version}")
    return {id: labels for id, labels in offering.items() if len(labels) > 1}
