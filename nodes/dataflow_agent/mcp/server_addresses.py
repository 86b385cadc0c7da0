"""Addresses of tool servers: what is refused of them, and what is shown, which is no query (S10.6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Final
from urllib.parse import urlsplit

__all__ = [
    "host_of",
    "is_address",
    "make_query_hook",
    "problems_of_address",
    "shown_address",
    "without_query",
]

#: Where what says who is calling belongs.
EXPECTED: Final = "`headers` with `${NAME}` in them, by the name of a variable of this process"


def is_address(word: object) -> bool:
    """Tell whether a word of a command is written as an address is."""
    return isinstance(word, str) and word.strip().lower().startswith(("http://", "https://"))


def problems_of_address(url: str) -> list[str]:
    """List what is wrong with an address, without all of it: it may have a key."""
    try:
        scheme, host, *_ = urlsplit(url)
    except ValueError:  # which may quote a password
        return ["its address cannot be read; expected http:// or https://, a host and a path"]
    if "://" not in url:
        return ["its address has no protocol; expected http:// or https:// before it"]
    if scheme not in ("http", "https"):
        return [f"its address begins with {scheme!r}; expected http or https"]
    if "@" in host:
        return [f"its address has a user or password, which would be stored; expected {EXPECTED}"]
    if not host:
        return ["its address has no host; expected one behind //"]
    return (
        ["its address has a port that is none; expected a number up to 65535"] if _has_bad_port(url) else []
    )


def _has_bad_port(url: str) -> bool:
    """Tell whether what is in the place of a port can be none; it may be a part of a password."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        return True
    return False


def host_of(url: str) -> str:
    """Return the host and port of an address."""
    return urlsplit(url).netloc.rpartition("@")[2]


def shown_address(url: str) -> str:
    """Return an address without what may be secret in it: a user with a password, and a query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{host_of(url)}{parts.path}"


def without_query(url: str) -> str:
    """Return an address as the library is given it, which logs it and quotes it in errors."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def make_query_hook(url: str) -> Callable[[Any], Awaitable[None]]:
    """Make the hook that puts the query of an address on each request to it, where no text shows it."""
    import httpx2  # loaded by now

    whole, plain = _unshown()(url), httpx2.URL(without_query(url))

    async def put(request: Any) -> None:
        request.url = whole if request.url == plain else _unshown()(request.url)  # of a redirection

    return put


@cache
def _unshown() -> Any:
    """Make the class of addresses whose text has no query, which is sent all the same."""
    import httpx2  # loaded by now

    class Unshown(httpx2.URL):
        """An address that keeps its query out of its text."""

        def __str__(self) -> str:
            return str(self.copy_with(query=None))

        def __repr__(self) -> str:
            return repr(self.copy_with(query=None))

    return Unshown
