"""Headers of requests to tool servers, which name their secrets and are filled in when sent (S10.6)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dataflow import Secret, SecretMissing
from dataflow_agent.mcp.server_errors import ServerFailed

__all__ = ["Header", "headers_of", "problems_of_headers", "revealed"]

#: Where a secret stands in a text.
_PLACE: Final = re.compile(r"\$\{([^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[ -~]*")
#: Headers that tell who is calling, by their names; a description is stored, and has none of their values.
_SECRET: Final = re.compile(
    r"auth|cookie|credential|jwt|key|passw|secret|session|signature|token|(^|[-_])(pat|pwd|sid)([-_]|$)",
    re.IGNORECASE,
)
#: A credential that is written down, whatever the name of the header.
_SCHEME: Final = re.compile(r"\s*(basic|bearer)\s+[^\s$]", re.IGNORECASE)
#: Headers that the protocol sets.
_TAKEN: Final = re.compile(
    r"accept|connection|content-.*|host|last-event-id|mcp-.*|transfer-encoding", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Header:
    """A header of each request to a server; `${NAME}` in its text stands for the secret of that name."""

    name: str
    text: str
    secrets: tuple[Secret, ...] = ()


def headers_of(given: object) -> tuple[Header, ...]:
    """Read a mapping to headers: each a secret, or a text that may name some.

    Raises ValueError, which does not tell what was found: it could be a value.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"expected headers in a mapping, found {type(given).__name__}")
    found = next((type(name).__name__ for name in given if not isinstance(name, str)), None)
    if found is not None:
        raise ValueError(f"a header has a name of type {found}; expected a text")
    return tuple(_header(name, value) for name, value in given.items())


def _header(name: str, value: object) -> Header:
    if isinstance(value, Secret):
        return Header(name, f"${{{value.name}}}", (value,))
    if not isinstance(value, str):
        found = type(value).__name__
        raise ValueError(f"the header {name!r} has a value of type {found}; expected a text or a Secret")
    return Header(name, value, tuple(Secret(one) for one in dict.fromkeys(_PLACE.findall(value))))


def problems_of_headers(headers: Sequence[Header]) -> list[str]:
    """List what is wrong with headers, without their texts: there could be values in them."""
    problems: list[str] = []
    often = Counter(header.name.lower() for header in headers)
    for number, header in enumerate(headers, 1):
        if _NAME.fullmatch(header.name) is None:  # which could be a value by mistake
            problems.append(f"header {number} has no name that a header may have; expected such as X-Key")
            continue
        if _TAKEN.fullmatch(header.name):
            problems.append(f"the header {header.name!r} is set by the protocol; expected others")
        if often[header.name.lower()] > 1:
            problems.append(
                f"the header {header.name!r} is there {often[header.name.lower()]} times; expected once"
            )
        if _VALUE.fullmatch(header.text) is None:
            problems.append(f"the header {header.name!r} has what no header may; expected ASCII in one line")
        if _SCHEME.match(header.text) or (not header.secrets and _SECRET.search(header.name)):
            expected = "`${NAME}` in it, by the name of a variable of this process, or a Secret"
            problems.append(f"the header {header.name!r} could show a secret; expected {expected}")
        problems += [
            f"the header {header.name!r} names no variable; expected the name of one of this process"
            for secret in header.secrets
            if not secret.name.isidentifier()
        ]
    return problems


def revealed(headers: Sequence[Header], server: str) -> dict[str, str]:
    """Return headers as they are sent; raises SecretMissing, and ServerFailed for what cannot be sent."""
    return {header.name: _revealed(header, server) for header in headers}


def _revealed(header: Header, server: str) -> str:
    values = {secret.name: _value(secret, header, server) for secret in header.secrets}
    text = _PLACE.sub(lambda place: values.get(place[1], place[0]), header.text)
    if _VALUE.fullmatch(text) is None:
        problem = f"cannot be sent its header {header.name!r}: its value is not ASCII in one line"
        raise ServerFailed(server, problem, is_lasting=True)
    return text


def _value(secret: Secret, header: Header, server: str) -> str:
    """Return the value of a secret; the error does not have its name, which could be a value by mistake."""
    try:
        return secret.reveal()
    except SecretMissing:
        expected = "the name of a variable that is set in this process, or a Secret, of at least 8 characters"
        reason = f"of tool server {server!r} has no value; expected in `headers` {expected}"
    raise SecretMissing(header.name, reason)
