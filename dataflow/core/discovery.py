"""Find installed packs and formats by entry point, from the metadata of distributions, without imports."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from importlib.machinery import PathFinder
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from dataflow.core.distributions import (
    MOST_PLACES,
    Place,
    SearchPath,
    current_path,
    distributions_in,
    files_of,
    is_same_distribution,
    label_of,
    name_of,
    plain_name,
    version_of,
)
from dataflow.core.public_names import OWN_PACKS
from dataflow.diagnostics.packs import (
    ENGINE_UNSUPPORTED,
    ENTRY_POINT_INVALID,
    FILE_SHARED,
    METADATA_UNREADABLE,
    MODULE_HIDDEN,
    OFFERED_TWICE,
    PACK_DISABLED,
    PACK_NAME_RESERVED,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from importlib import metadata

    from dataflow.diagnostics.diagnostic import Diagnostic

__all__ = [
    "FORMATS",
    "GROUP",
    "OURS",
    "OWN_PACKS",
    "UNREADABLE",
    "Fault",
    "Offer",
    "PackStatus",
    "defect_of",
    "fault_of",
    "offers",
]

T = TypeVar("T", "_Found", "_Installed")
#: The groups of entry points: packs of node types, and formats of documents.
GROUP: Final = "dataflow.packs"
FORMATS: Final = "dataflow.formats"
#: The environment variable that disables packs: their names, or `*` for all.
SWITCH: Final = "DATAFLOW_DISABLE_PACKS"
OURS: Final = "dataflow-engine"
UNREADABLE: Final = "(unreadable)"
_PLACE: Final = re.compile(r"\w+(\.\w+)*\s*:\s*\w+(\.\w+)*\s*(\[.*\])?")


class PackStatus(Enum):
    """The status of an installed pack."""

    OK = "ok"
    EMPTY = "empty"
    DISABLED = "disabled"
    ERROR = "error"


class Fault(NamedTuple):
    """Why a pack cannot be used."""

    status: PackStatus
    problem: Diagnostic
    error: Exception | None = None  # raised by importing it, with its traceback

    @property
    def reason(self) -> str:
        """The problem as text, with its code."""
        return str(self.problem)


@dataclass(frozen=True, slots=True)
class Offer:
    """A pack, or a format, as a distribution offers it; `value` is its entry point, `module:object`."""

    pack: str
    value: str
    distribution: str
    version: str
    fault: Fault | None = None  # in the metadata
    engine: str = ""  # the versions of the engine that the distribution requires

    @property
    def label(self) -> str:
        """The name and version of the distribution."""
        return f"{self.distribution} {self.version}"


def offers(group: str = GROUP) -> tuple[Offer, ...]:
    """List what a group offers, sorted by name; a folder of the search path is read again if it changes."""
    return _read(current_path(), group)


def fault_of(offer: Offer) -> Fault | None:
    """Return why a pack must not be imported, as far as the metadata show; None if it may be."""
    if _is_disabled(offer.pack):
        return Fault(PackStatus.DISABLED, PACK_DISABLED(setting=f"{SWITCH}={os.environ[SWITCH]}"))
    return defect_of(offer)


def defect_of(offer: Offer) -> Fault | None:
    """Return why a pack must not be imported although no one has disabled it; None if it may be."""
    if offer.fault is not None or is_same_distribution(offer.distribution, OURS):
        return offer.fault
    if offer.pack in OWN_PACKS:
        return Fault(PackStatus.ERROR, PACK_NAME_RESERVED(distribution=OURS))
    if _PLACE.fullmatch(offer.value) is None:
        return Fault(PackStatus.ERROR, ENTRY_POINT_INVALID(found=repr(offer.value)))
    problem = _unsupported(offer.engine) or _clash_of(offer)
    return None if problem is None else Fault(PackStatus.ERROR, problem)


def _unsupported(required: str) -> Diagnostic | None:
    """Return the problem that a distribution requires another version of the engine."""
    if not required:
        return None
    from packaging.specifiers import SpecifierSet

    version = version_of(OURS)
    if not version or SpecifierSet(required).contains(version, prereleases=True):
        return None
    return ENGINE_UNSUPPORTED(expected=f"{OURS} {required}", found=version)


def _clash_of(offer: Offer) -> Diagnostic | None:
    """Return the problem that a module of a pack is not the one that an import finds."""
    search_path = current_path()
    installing = _installing(search_path)
    own = installing.modules.get(plain_name(offer.distribution), ())
    for file in chain(_files_of(offer.value.partition(":")[0]), own):
        labels = installing.labels.get(file, [])
        if len(labels) > 1:
            return FILE_SHARED(file=file, distributions=" and by ".join(labels))
    folder = installing.folders.get(plain_name(offer.distribution), "")
    if any(_hiding(folder, file, search_path) for file in _files_of(offer.value.partition(":")[0])):
        return None  # the pack itself is found elsewhere, as where it is developed
    for file in own:
        other = _hiding(folder, file, search_path)
        if other is not None:
            return MODULE_HIDDEN(module=file, other=other)
    return None


def _hiding(folder: str, file: str, search_path: SearchPath) -> str | None:
    """Return the file that is imported instead of a top-level module of a folder; None if the module is."""
    name, _, rest = file.partition("/")
    own = Path(folder, file)
    if rest not in ("", "__init__.py") or not own.is_file():
        return None
    spec = PathFinder.find_spec(name.removesuffix(".py"), [place for place, _ in search_path])
    found = None if spec is None else spec.origin
    return None if found is None or own.samefile(found) else found


def _is_disabled(pack: str) -> bool:
    names = {name.strip() for name in os.environ.get(SWITCH, "").split(",")} - {""}
    return pack in names or "*" in names


@lru_cache(maxsize=2)
def _read(search_path: SearchPath, group: str) -> tuple[Offer, ...]:
    found: dict[tuple[str, str], Offer] = {}
    for one in _first_of_each_name(_found_in(place, group) for place in search_path):
        for offer in one.offers:
            key = offer.distribution, offer.pack
            found[key] = _twice(found[key], offer) if key in found else offer
    return tuple(sorted(found.values(), key=lambda offer: (offer.pack, offer.distribution)))


def _twice(first: Offer, second: Offer) -> Offer:
    problem = OFFERED_TWICE(first=first.value, second=second.value)
    return replace(first, fault=Fault(PackStatus.ERROR, problem))


def _offers_of(distribution: metadata.Distribution, group: str) -> Iterator[Offer]:
    name = name_of(distribution)
    version = "of unknown version"
    try:
        version = distribution.version or version
        entries = list(distribution.entry_points.select(group=group))
        engine = _engine_of(distribution) if entries else ""
    except Exception as error:  # noqa: BLE001 - whatever malformed files make the parsers raise
        problem = METADATA_UNREADABLE(error=f"{type(error).__name__}: {error}")
        yield Offer(UNREADABLE, "", name, version, Fault(PackStatus.ERROR, problem))
        return
    for entry in entries:
        yield Offer(entry.name, entry.value, name, version, engine=engine)


def _engine_of(distribution: metadata.Distribution) -> str:
    """Return which versions of the engine a distribution requires, as a specifier; empty for any."""
    if is_same_distribution(name_of(distribution), OURS):
        return ""
    lines = [line for line in distribution.requires or () if plain_name(line).startswith(OURS)]
    if not lines:
        return ""
    from packaging.requirements import Requirement

    return ",".join(
        str(one.specifier)
        for one in map(Requirement, lines)
        if is_same_distribution(one.name, OURS)
        and one.specifier
        and (one.marker is None or one.marker.evaluate({"extra": ""}))
    )


class _Found(NamedTuple):
    """A distribution in a folder, with the packs that it offers."""

    name: str  # normalised for comparison
    offers: tuple[Offer, ...]


@lru_cache(maxsize=MOST_PLACES)
def _found_in(place: Place, group: str) -> tuple[_Found, ...]:
    return tuple(
        _Found(plain_name(name_of(one)), tuple(_offers_of(one, group))) for one in distributions_in(place)
    )


def _first_of_each_name(places: Iterable[Iterable[T]]) -> Iterator[T]:
    """Yield the first distribution of each name on the search path, which is the one in use."""
    seen: set[str] = set()
    for found in places:
        for one in found:
            if one.name not in seen:
                seen.add(one.name)
                yield one


def _files_of(module: str) -> Iterator[str]:
    """Yield the files that importing a module may execute; a namespace package has no file."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        place = "/".join(parts[:count])
        yield f"{place}/__init__.py"
        yield f"{place}.py"


class _Installing(NamedTuple):
    """What distributions have installed, as far as packs are concerned."""

    labels: Mapping[str, list[str]]  # of those that have installed a file
    modules: Mapping[str, Sequence[str]]  # the files of the modules of each distribution with packs
    folders: Mapping[str, str]  # where it is


@lru_cache(maxsize=1)
def _installing(search_path: SearchPath) -> _Installing:
    offered = [*_read(search_path, GROUP), *_read(search_path, FORMATS)]
    entries = frozenset(file for offer in offered for file in _files_of(offer.value.partition(":")[0]))
    packs = frozenset(plain_name(offer.distribution) for offer in offered if offer.fault is None)
    found = [*_first_of_each_name(_installed_in(place, entries, packs) for place in search_path)]
    labels: dict[str, list[str]] = {}
    for one in found:
        for file in one.files:
            labels.setdefault(file, []).append(one.label)
    with_packs = [one for one in found if one.name in packs]
    return _Installing(
        labels,
        {one.name: sorted(one.files) for one in with_packs},
        {one.name: one.folder for one in with_packs},
    )


class _Installed(NamedTuple):
    """A distribution in a folder, with those of its files that matter."""

    name: str
    label: str
    folder: str
    files: frozenset[str]


@lru_cache(maxsize=MOST_PLACES)
def _installed_in(place: Place, entries: frozenset[str], packs: frozenset[str]) -> tuple[_Installed, ...]:
    return tuple(_installed(one, entries, packs) for one in distributions_in(place))


def _installed(
    distribution: metadata.Distribution, entries: frozenset[str], packs: frozenset[str]
) -> _Installed:
    """Return a distribution with its files that packs are imported from, and all modules if it has packs."""
    files = files_of(distribution)
    name = name_of(distribution)
    if plain_name(name) in packs:
        kept = frozenset(file for file in files if file.endswith(".py") and not file.startswith(("..", "/")))
    else:
        kept = entries & files
    label = label_of(distribution) if kept else ""
    return _Installed(plain_name(name), label, str(distribution.locate_file("")), kept)
