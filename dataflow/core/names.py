"""Names in paths and references: which characters are encoded, and reading `node.port` (S2.2)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from dataflow.base.wording import choices
from dataflow.core.wiring import PARAMETERS, Reference

__all__ = ["encode", "node_of_path", "parse_reference", "write_reference"]

_UNSAFE: Final = re.compile(r"[./\[\]~$%\s]")


def encode(name: str) -> str:
    """Percent-encode what has a meaning in paths and references."""
    if name.isidentifier():  # as most are; that is told in no time
        return name
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), name)


def _decoded(text: str) -> str:
    return unquote(text) if "%" in text else text  # which few have; that is told in no time


def node_of_path(path: str) -> str:
    """Return the id of the node at the end of a path, such as that of an event; rounds are left out."""
    return unquote(path.rpartition("/")[2].partition("[")[0])


@lru_cache(maxsize=4096)  # documents name the same ports again and again, also in the flows that they nest
def parse_reference(text: str) -> Reference:
    """Read `node.port`, or `node` for its port `out`; raises ValueError for anything else."""
    node, dot, port = text.partition(".")
    if not node or (dot and not port):
        raise ValueError(f"{text!r} is no source: write `node.port`, `node` or `$in.name`")
    if node in PARAMETERS:
        if not dot:
            raise ValueError(f"{text!r} is no source: write `{node}.name`")
        return Reference(node, _decoded(port))
    if node.startswith("$"):
        raise ValueError(f"{text!r} is no source: there is no {node!r}; {choices(PARAMETERS)}")
    return Reference(_decoded(node), port if port.startswith("$") else _decoded(port) or "out")


def write_reference(reference: Reference) -> str:
    """Write a reference so that `parse_reference` reads the same."""
    node = reference.node if reference.node in PARAMETERS else encode(reference.node)
    if reference.port == "out" and node not in PARAMETERS:
        return node
    port = reference.port if reference.port.startswith("$") else encode(reference.port)
    return f"{node}.{port}"
