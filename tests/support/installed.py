"""Distributions as an installer leaves them behind, written by hand, for tests of what is found."""

from __future__ import annotations

from pathlib import Path


def install(
    folder: Path,
    name: str,
    entries: str,
    version: str = "1.0",
    files: tuple[str, ...] = (),
    group: str = "dataflow.packs",
    requires: str = "",
) -> None:
    """Write the metadata of a distribution with its entry points and the files it has installed."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    head += f"Requires-Dist: {requires}\n" if requires else ""
    (info / "METADATA").write_text(head, encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entries}", encoding="utf-8")
    record = "".join(f"{file},sha256=0,1\n" for file in files)
    (info / "RECORD").write_text(record, encoding="utf-8")
