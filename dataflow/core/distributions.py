"""Read the metadata of installed distributions; malformed files of one do not affect the others.

The functions of `importlib.metadata` that go through all distributions fail at the first malformed file.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = [
    "MOST_PLACES",
    "Place",
    "SearchPath",
    "current_path",
    "distributions_in",
    "files_of",
    "installed",
    "is_same_distribution",
    "label_of",
    "name_of",
    "plain_name",
    "version_of",
    "versions_of_module",
]

#: A folder of the module search path, with the time of its last change.
Place: TypeAlias = tuple[str, int | None]
SearchPath: TypeAlias = tuple[Place, ...]
#: The maximum number of cached folders: more than a search path has.
MOST_PLACES: Final = 256


def current_path() -> SearchPath:
    """Return the search path without the entries that imports ignore."""
    found: list[object] = [*sys.path]
    places = [place for place in found if isinstance(place, str) and "\0" not in place]
    return tuple((place, _changed(place)) for place in places)


def _changed(place: str) -> int | None:
    try:
        return os.stat(place or ".").st_mtime_ns  # noqa: PTH116 - of each folder for each type
    except OSError:  # the folder does not exist
        return None


def distributions_in(place: Place) -> Iterator[metadata.Distribution]:
    """Find the distributions in a folder with the finder of the standard library.

    Other finders may read malformed entry points differently, as that of `importlib_metadata` does, which
    many libraries load.
    """
    context = metadata.DistributionFinder.Context(path=[place[0]])
    yield from metadata.MetadataPathFinder.find_distributions(context)


def installed() -> Iterator[metadata.Distribution]:
    """Yield the first distribution of each name on the search path, which is the one in use."""
    seen: set[str] = set()
    for place in current_path():
        for one in distributions_in(place):
            name = plain_name(name_of(one))
            if name not in seen:
                seen.add(name)
                yield one


def name_of(distribution: metadata.Distribution) -> str:
    """Return the name of a distribution, or a substitute if its metadata is unreadable."""
    try:
        name = distribution.metadata["Name"]
    except Exception:  # noqa: BLE001 - whatever malformed files make the parsers raise
        name = None
    return name or f"a distribution in {distribution.locate_file('')}"


def label_of(distribution: metadata.Distribution) -> str:
    """Return the name and the version of a distribution, as far as its metadata are readable."""
    try:
        version = distribution.version
    except Exception:  # noqa: BLE001 - as above
        version = None
    return f"{name_of(distribution)} {version or 'of unknown version'}"


def files_of(distribution: metadata.Distribution) -> frozenset[str]:
    """Return the files that a distribution has installed; none if their list is unreadable."""
    return frozenset(line.partition(",")[0] for line in _text_of(distribution, "RECORD").splitlines())


def _text_of(distribution: metadata.Distribution, file: str) -> str:
    try:
        return distribution.read_text(file) or ""
    except (OSError, UnicodeError):  # nothing is known from it
        return ""


def plain_name(name: str) -> str:
    """Return the name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_same_distribution(name: str, other: str) -> bool:
    """Compare names of distributions as package indexes do: case-insensitive, `-`, `_` and `.` are equal."""
    return plain_name(name) == plain_name(other)


def version_of(distribution: str) -> str:
    """Return the version of the distribution of a name; empty if it is not installed or not readable."""
    try:
        return metadata.version(distribution) or ""
    except Exception:  # noqa: BLE001 - as above, also if it is not found
        return ""


@lru_cache(maxsize=1_000)
def versions_of_module(module: str) -> str:
    """Return the version of the distribution of a top-level module, empty if it cannot be found.

    Distributions of other names than the module, or several, are given with their names.
    """
    labels = (label_of(one) for one in installed() if module in _modules_of(one))
    return version_of(module) or ", ".join(sorted(labels))


def _modules_of(distribution: metadata.Distribution) -> Collection[str]:
    """Return the top-level modules of a distribution: as listed, otherwise those of its Python files."""
    listed = _text_of(distribution, "top_level.txt").split()
    files = () if listed else map(PurePosixPath, files_of(distribution))
    return listed or {
        file.parts[0] if len(file.parts) > 1 else file.stem for file in files if file.suffix == ".py"
    }
