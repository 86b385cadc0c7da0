"""Names in configs that become input ports: which there may be."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["checked_names"]


def checked_names(names: Sequence[str], *taken: str) -> Sequence[str]:
    """Return names that differ and can be ports; raises ValueError for one that cannot, or is taken."""
    seen: set[str] = set()
    for name in names:
        if not name.isidentifier() or name in taken:
            expected = f"letters, digits and _, and not {' or '.join(taken)}"
            raise ValueError(f"{name!r} is no name of an input; expected {expected}")
        if name in seen:
            raise ValueError(f"{name!r} is there twice; expected names that differ")
        seen.add(name)
    return names
