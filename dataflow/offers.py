"""What installed distributions offer: packs by entry point, read from the metadata alone."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "GROUP",
    "OURS",
    "OWN_PACKS",
    "Fault",
    "Offer",
    "PackStatus",
    "fault_of",
    "is_same_distribution",
    "offers",
]

GROUP: Final = "dataflow.packs"
#: The environment variable with the names of packs that are not to be used, `*` for all.
SWITCH: Final = "DATAFLOW_DISABLE_PACKS"
OURS: Final = "dataflow-engine"
#: The packs that come with the engine, whose names nobody else may take (S1.2).
OWN_PACKS: Final = ("agent", "agentflow", "agentron", "cagent", "clickweave", "control", "desktop", "hifide")
UNREADABLE: Final = "(unreadable)"

_PLACE: Final = re.compile(r"\w+(\.\w+)*\s*:\s*\w+(\.\w+)*\s*(\[.*\])?")

#: The folders in which modules are found, each with the time of its last change.
SearchPath: TypeAlias = tuple[tuple[str, int | None], ...]


class PackStatus(Enum):
    """What has become of an installed pack."""

    OK = "ok"
    EMPTY = "empty"
    DISABLED = "disabled"
    ERROR = "error"


class Fault(NamedTuple):
    """What keeps a pack from being used."""

    status: PackStatus
    reason: str
    error: Exception | None = None  # what importing it has raised, with its traceback


@dataclass(frozen=True, slots=True)
class Offer:
    """A pack as a distribution offers it; `value` is where it is, as `module:object`."""

    pack: str
    value: str
    distribution: str
    version: str
    fault: Fault | None = None  # of the metadata themselves

    @property
    def label(self) -> str:
        """The distribution with its version."""
        return f"{self.distribution} {self.version}"


def offers() -> tuple[Offer, ...]:
    """List what is offered, by pack; read again when a folder of the search path has changed."""
    return _read(_search_path())


def fault_of(offer: Offer) -> Fault | None:
    """Say what keeps a pack from being imported, as far as the metadata tell."""
    if _is_disabled(offer.pack):
        return Fault(PackStatus.DISABLED, f"is disabled by {SWITCH}={os.environ[SWITCH]}")
    if offer.fault is not None or is_same_distribution(offer.distribution, OURS):
        return offer.fault
    if offer.pack in OWN_PACKS:
        told = f"has the name of a pack that comes with {OURS}; those cannot be replaced"
        return Fault(PackStatus.ERROR, told)
    if _PLACE.fullmatch(offer.value) is None:
        return Fault(PackStatus.ERROR, f"its entry point is {offer.value!r}; expected module:object")
    installing = _installing(_search_path())
    for file in _files_of(offer.value.partition(":")[0]):
        labels = installing.get(file, [])
        if len(labels) > 1:
            told = f"its file {file} is installed by {' and by '.join(labels)}; uninstall one of them"
            return Fault(PackStatus.ERROR, told)
    return None


def is_same_distribution(name: str, other: str) -> bool:
    """Compare names of distributions as package indexes do: without case, `-`, `_` and `.` alike."""
    return _plain(name) == _plain(other)


def _is_disabled(pack: str) -> bool:
    names = [name.strip() for name in os.environ.get(SWITCH, "").split(",")]
    return pack in names or "*" in names


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _search_path() -> SearchPath:
    """Return the search path without what imports pass over: what is no text or leads nowhere."""
    found: list[object] = [*sys.path]
    places = [place for place in found if isinstance(place, str) and "\0" not in place]
    return tuple((place, _changed(place)) for place in places)


def _changed(place: str) -> int | None:
    try:
        return Path(place).stat().st_mtime_ns
    except OSError:  # what leads nowhere holds nothing
        return None


@lru_cache(maxsize=1)
def _read(search_path: SearchPath) -> tuple[Offer, ...]:
    found: dict[tuple[str, str], Offer] = {}
    for distribution in _distributions(search_path):
        for offer in _offers_of(distribution):
            key = offer.distribution, offer.pack
            found[key] = _twice(found[key], offer) if key in found else offer
    return tuple(sorted(found.values(), key=lambda offer: (offer.pack, offer.distribution)))


def _twice(first: Offer, second: Offer) -> Offer:
    told = f"is offered twice by it: as {first.value} and as {second.value}"
    return replace(first, fault=Fault(PackStatus.ERROR, told))


def _offers_of(distribution: metadata.Distribution) -> Iterator[Offer]:
    name = _name_of(distribution)
    version = "of unknown version"
    try:
        version = distribution.version or version
        entries = list(distribution.entry_points.select(group=GROUP))
    except Exception as error:  # noqa: BLE001 - whatever malformed files make the parsers raise
        told = f"its metadata cannot be read: {type(error).__name__}: {error}"
        yield Offer(UNREADABLE, "", name, version, Fault(PackStatus.ERROR, told))
        return
    for entry in entries:
        yield Offer(entry.name, entry.value, name, version)


def _distributions(search_path: SearchPath) -> Iterator[metadata.Distribution]:
    """Yield each distribution once: the first of its name on the search path is the one in use.

    They are found as the standard library finds them: others may read malformed entry points otherwise,
    as that of `importlib_metadata` does, which many libraries load.
    """
    seen: set[str] = set()
    context = metadata.DistributionFinder.Context(path=[place for place, _ in search_path])
    for distribution in metadata.MetadataPathFinder.find_distributions(context):
        name = _plain(_name_of(distribution))
        if name not in seen:
            seen.add(name)
            yield distribution


def _name_of(distribution: metadata.Distribution) -> str:
    """Return the name of a distribution, or what stands in for it where the metadata are unreadable."""
    try:
        name = distribution.metadata["Name"]
    except Exception:  # noqa: BLE001 - as above
        name = None
    return name or f"a distribution in {distribution.locate_file('')}"


def _files_of(module: str) -> Iterator[str]:
    """Yield the files that importing a module may execute; a namespace package has none of its own."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        place = "/".join(parts[:count])
        yield f"{place}/__init__.py"
        yield f"{place}.py"


@lru_cache(maxsize=1)
def _installing(search_path: SearchPath) -> Mapping[str, list[str]]:
    """List for each file that a pack is imported from which distributions have installed it."""
    wanted = {file for offer in _read(search_path) for file in _files_of(offer.value.partition(":")[0])}
    installing: dict[str, list[str]] = {}
    for distribution in _distributions(search_path):
        files = {line.partition(",")[0] for line in _record_of(distribution).splitlines()}
        for file in wanted & files:
            installing.setdefault(file, []).append(f"{_name_of(distribution)} {distribution.version}")
    return installing


def _record_of(distribution: metadata.Distribution) -> str:
    try:
        return distribution.read_text("RECORD") or ""
    except (OSError, UnicodeError):  # it says of no file that it is its own
        return ""
