"""The outputs of a stored run, from its journal: the tokens of the ports that they are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dataflow.compiler.addresses import address_of
from dataflow.core.wiring import INPUT
from dataflow.durable.storable import CONSTANT

if TYPE_CHECKING:
    from dataflow.durable.journal_view import Past
    from dataflow.durable.storable import Source

__all__ = ["UNKNOWN", "Token", "settled", "token_of"]

#: An encoded value, the reason of a skip, or a failure.
Token: TypeAlias = Mapping[str, Any]
#: The token of a constant whose value the run has not stored.
UNKNOWN: Final[Token] = {"unknown": None}


def token_of(past: Past, source: Source) -> Token | None:
    """Return the token of an output that has this source; None if it is not settled.

    Merged contexts are not stored: they are shown as the list of what they were merged from.
    """
    if isinstance(source, str):
        return _of_port(past, source)
    mode, *sources = source
    if mode == CONSTANT:
        return {"value": sources[0]} if sources else UNKNOWN
    tokens = [token_of(past, one) for one in sources]
    if mode == "fallback":
        return next((one for one in tokens if one is None or "skip" not in one), tokens[0])
    if mode == "race":
        won = [token for one, token in zip(sources, tokens, strict=True) if one in past.races.values()]
        tokens = won or tokens
    live = [one for one in tokens if one is not None and "value" in one]
    if mode in ("merge", "race"):
        return live[0] if live else None if None in tokens else tokens[0]
    if None in tokens:
        return None
    if failed := [one for one in tokens if one is not None and "error" in one]:
        return failed[0]
    if live and (mode == "gather" or len(live) > 1):
        return {"value": [one["value"] for one in live]}
    return live[0] if live else tokens[0]


def _of_port(past: Past, source: str) -> Token | None:
    node, _, port = source.partition(".")
    if node == INPUT:
        given = past.told.get("inputs", {})
        return {"value": given[port]} if port in given else None
    return settled(past, source)[1]


def settled(past: Past, port: str) -> tuple[str, Token | None]:
    """Return the firing that settles a port, and its token.

    A loop of feedback edges records what leaves it as `node.port`; else the last iteration counts.
    """
    address, _, name = port.partition(".")
    token = _token(past, address, name)
    maker = address if address in past.firings else address.partition("/")[0]
    if token is not None or not past.has_ended(maker):
        return address, token
    inside = address[len(maker) + 1 :] or address.rpartition("/")[2]
    left = _token(past, maker, f"{inside}.{name}")
    if left is not None:
        return maker, left
    last = next((path for path in reversed(past.firings) if address_of(path) == address), address)
    return last, _token(past, last, name)


def _token(past: Past, path: str, port: str) -> Token | None:
    firing = past.firings.get(path)
    return None if firing is None else firing.ports.get(f"${port}" if port.startswith("$") else port)
