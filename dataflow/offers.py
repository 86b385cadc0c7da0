"""What installed distributions offer: packs by entry point, read from the metadata alone."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GROUP", "OURS", "SWITCH", "Offer", "fault_of", "is_disabled", "is_same_distribution", "offers"]

GROUP: Final = "dataflow.packs"
#: The environment variable with the names of packs that are not to be used, `*` for all.
SWITCH: Final = "DATAFLOW_DISABLE_PACKS"
OURS: Final = "dataflow-engine"
#: The packs that come with the engine, whose names nobody else may take (S1.2).
OWN_PACKS: Final = ("agent", "control", "desktop")

_Environment: TypeAlias = tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """A pack as a distribution offers it; `value` is where it is, as `module:object`."""

    pack: str
    value: str
    distribution: str
    version: str
    fault: str = ""  # what is wrong with the metadata themselves

    @property
    def label(self) -> str:
        """The distribution with its version."""
        return f"{self.distribution} {self.version}"


def offers() -> tuple[Offer, ...]:
    """List what is offered, by pack; read again when a folder of the search path has changed."""
    return _read(tuple((place, _changed(place)) for place in sys.path))


def fault_of(offer: Offer) -> str:
    """Say what keeps a pack from being imported, as far as the metadata tell; empty for nothing."""
    if is_disabled(offer.pack):
        return f"is disabled by {SWITCH}={os.environ[SWITCH]}"
    if offer.fault or is_same_distribution(offer.distribution, OURS):
        return offer.fault
    if offer.pack in OWN_PACKS:
        return f"has the name of a pack that comes with {OURS}; those cannot be replaced"
    for file in _files_of(offer.value.partition(":")[0]):
        installing = _installing(file, tuple(sys.path))
        if len(installing) > 1:
            return f"its file {file} is installed by {' and by '.join(installing)}; uninstall one of them"
    return ""


def is_disabled(pack: str) -> bool:
    """Tell whether the environment says that a pack is not to be used."""
    names = [name.strip() for name in os.environ.get(SWITCH, "").split(",")]
    return pack in names or "*" in names


def is_same_distribution(name: str, other: str) -> bool:
    """Compare names of distributions as package indexes do: without case, `-`, `_` and `.` alike."""
    return _plain(name) == _plain(other)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _changed(place: str) -> int | None:
    try:
        return Path(place).stat().st_mtime_ns
    except (OSError, ValueError):  # what leads nowhere holds nothing
        return None


@lru_cache(maxsize=1)
def _read(_: _Environment) -> tuple[Offer, ...]:
    found: dict[tuple[str, str], Offer] = {}
    for distribution in _distributions("entry_points.txt", GROUP):
        for offer in _offers_of(distribution):
            key = offer.distribution, offer.pack
            found[key] = _twice(found[key], offer) if key in found else offer
    return tuple(sorted(found.values(), key=lambda offer: (offer.pack, offer.distribution)))


def _twice(first: Offer, second: Offer) -> Offer:
    return replace(first, fault=f"is offered twice by it: as {first.value} and as {second.value}")


def _offers_of(distribution: metadata.Distribution) -> Iterator[Offer]:
    name, version = distribution.metadata["Name"], distribution.version
    try:
        entries = distribution.entry_points.select(group=GROUP)
    except Exception as error:  # noqa: BLE001 - whatever a malformed file makes the parser raise
        yield Offer("(unreadable)", "", name, version, f"entry_points.txt cannot be read: {error}")
        return
    for entry in entries:
        yield Offer(entry.name, entry.value, name, version)


def _distributions(file: str, text: str) -> Iterator[metadata.Distribution]:
    """Yield the distributions in whose metadata file a text stands: of each the one that is in use."""
    seen: set[str] = set()
    for distribution in metadata.distributions():
        if text in f"\n{distribution.read_text(file) or ''}":
            name = _plain(distribution.metadata["Name"] or "")
            if name and name not in seen:
                seen.add(name)
                yield distribution


def _files_of(module: str) -> Iterator[str]:
    """Yield the files that importing a module may execute; a namespace package has none of its own."""
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        place = "/".join(parts[:count])
        yield f"{place}/__init__.py"
        yield f"{place}.py"


@lru_cache(maxsize=64)
def _installing(file: str, _: tuple[str, ...]) -> list[str]:
    """List the distributions that have installed a file."""
    found = _distributions("RECORD", f"\n{file},")
    return [f"{distribution.metadata['Name']} {distribution.version}" for distribution in found]
