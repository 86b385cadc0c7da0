"""Descriptions of tool servers: command or address, headers, and the tools that may be called."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import urlsplit

from dataflow import ArgumentInvalid, Diagnostic, Secret, SecretMissing
from dataflow_agent.diagnostics.servers import (
    ADDRESS_HAS_PASSWORD,
    ADDRESS_INVALID,
    COMMAND_INVALID,
    COMMAND_OR_ADDRESS,
    DEADLINE_INVALID,
    HEADER_NAME_INVALID,
    HEADER_REPEATED,
    HEADER_RESERVED,
    HEADER_SHOWS_SECRET,
    HEADER_VALUE_INVALID,
    SETTING_OF_OTHER,
    SETTING_TYPE,
    VALUE_MISSING,
    VARIABLE_NAME_INVALID,
)
from dataflow_agent.models.request import ToolSpec
from dataflow_agent.servers.results import ServerFailed
from dataflow_agent.toolkit.policies import Policy

__all__ = [
    "CALL_SECONDS",
    "CONNECT_SECONDS",
    "MAX_MESSAGE",
    "Server",
    "ServerTool",
    "environment_of",
    "headers_of",
    "is_address",
    "make_query_hook",
    "marks_of",
    "problems_of",
    "revealed",
    "secrets_of",
    "shown_address",
    "without_query",
]

#: The placeholder of a secret in a string.
_PLACE: Final = re.compile(r"\$\{([^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[ -~]*")
#: Names of headers with credentials; a description is stored, and must not contain their values.
_SECRET: Final = re.compile(
    r"auth|cookie|credential|jwt|key|passw|secret|session|signature|token|(^|[-_])(pat|pwd|sid)([-_]|$)",
    re.IGNORECASE,
)
#: A literal credential, whatever the name of the header.
_SCHEME: Final = re.compile(r"\s*(basic|bearer)\s+[^\s$]", re.IGNORECASE)
#: Headers that the protocol sets.
_TAKEN: Final = re.compile(
    r"accept(-encoding)?|connection|content-.*|host|last-event-id|mcp-.*|transfer-encoding", re.IGNORECASE
)
#: The default deadlines of a call and of the start of a server, in seconds.
CALL_SECONDS: Final = 60.0
CONNECT_SECONDS: Final = 30.0
#: The default maximum size of a message of a server, in bytes.
MAX_MESSAGE: Final = 16 * 2**20
#: How many characters of a hash distinguish servers whose tools would have the same name.
DIGITS: Final = 8
#: Shorter values, and lines of values, occur in any text by chance.
SHORTEST_HIDDEN: Final = 8
_WORD: Final = re.compile(r"[A-Za-z0-9_-]+")
#: The settings with secrets, as problems name them.
ENV: Final = "env"
HEADERS: Final = "headers"


@dataclass(frozen=True, slots=True)
class Header:
    """A header of each request to a server; `${NAME}` in its text is replaced by the secret of that name."""

    name: str
    text: str
    secrets: tuple[Secret, ...] = ()


def headers_of(given: object) -> tuple[Header, ...]:
    """Read a mapping to headers: each a secret, or a string that may name secrets.

    Raises ValueError, which does not quote a value: it could be a secret.
    """
    if not isinstance(given, Mapping):
        raise ArgumentInvalid(SETTING_TYPE(HEADERS, expected="a mapping", found=type(given).__name__))
    found = next((type(name).__name__ for name in given if not isinstance(name, str)), None)
    if found is not None:
        raise ArgumentInvalid(SETTING_TYPE(HEADERS, expected="names that are strings", found=found))
    return tuple(_header(name, value) for name, value in given.items())


def _header(name: str, value: object) -> Header:
    if isinstance(value, Secret):
        return Header(name, f"${{{value.name}}}", (value,))
    if not isinstance(value, str):
        found, expected = type(value).__name__, "a string or a Secret"
        raise ArgumentInvalid(SETTING_TYPE(f"{HEADERS}.{name}", expected=expected, found=found))
    names = dict.fromkeys(_PLACE.findall(value))
    return Header(name, value, tuple(_secret(one, HEADERS, f"the header {name!r}") for one in names))


def _secret(name: str, place: str, what: str) -> Secret:
    """Return the secret of a name; an invalid one is not quoted, since it could be the secret itself."""
    try:
        return Secret(name)
    except ValueError:
        raise ArgumentInvalid(VARIABLE_NAME_INVALID(place, what=what)) from None


def problems_of_headers(headers: Sequence[Header]) -> list[Diagnostic]:
    """List the problems of headers, without their texts, which could contain secrets."""
    problems: list[Diagnostic] = []
    often = Counter(header.name.lower() for header in headers)
    for number, header in enumerate(headers, 1):
        if _NAME.fullmatch(header.name) is None:  # which could be a value by mistake
            problems.append(HEADER_NAME_INVALID(HEADERS, number=number))
            continue
        if _TAKEN.fullmatch(header.name):
            problems.append(HEADER_RESERVED(HEADERS, name=header.name))
        if often[header.name.lower()] > 1:
            problems.append(HEADER_REPEATED(HEADERS, name=header.name, times=often[header.name.lower()]))
        if _VALUE.fullmatch(header.text) is None:
            problems.append(HEADER_VALUE_INVALID(HEADERS, name=header.name))
        if _SCHEME.match(header.text) or (not header.secrets and _SECRET.search(header.name)):
            problems.append(HEADER_SHOWS_SECRET(HEADERS, name=header.name))
        problems += [
            VARIABLE_NAME_INVALID(HEADERS, what=f"the header {header.name!r}")
            for secret in header.secrets
            if not secret.name.isidentifier()
        ]
    return problems


def revealed(headers: Sequence[Header], server: str) -> dict[str, str]:
    """Return headers with the values of secrets; raises SecretMissing, and ServerFailed for a bad value."""
    return {header.name: _revealed(header, server) for header in headers}


def _revealed(header: Header, server: str) -> str:
    values = {secret.name: _value(secret, header, server) for secret in header.secrets}
    text = _PLACE.sub(lambda place: values.get(place[1], place[0]), header.text)
    if _VALUE.fullmatch(text) is None:
        raise ServerFailed(server, HEADER_VALUE_INVALID(HEADERS, name=header.name), is_lasting=True)
    return text


def _value(secret: Secret, header: Header, server: str) -> str:
    """Return the value of a secret; the error omits its name, which could be a value by mistake."""
    try:
        return secret.reveal()
    except SecretMissing:
        missing = SecretMissing(header.name, VALUE_MISSING(server=server, setting=HEADERS))
    raise missing


@dataclass(frozen=True, slots=True)
class Server:
    """The description of a tool server that speaks MCP: its command or address, and the policy of its tools.

    `env` are pairs of a variable of the server's process and its secret; in JSON, and in stores, a secret is
    represented by its name. `name` is the name in errors. `deadline` limits each call, `connect_deadline` the
    start, in seconds, and `max_message` the size of each message that it sends, in bytes. `headers` are sent
    to its address with each request.
    """

    command: tuple[str, ...] = ()
    url: str = field(default="", repr=False)  # its query may be a key
    env: tuple[tuple[str, Secret], ...] = ()
    name: str = ""
    policy: Policy = Policy()
    deadline: float = CALL_SECONDS
    connect_deadline: float = CONNECT_SECONDS
    headers: tuple[Header, ...] = ()
    max_message: int = field(default=MAX_MESSAGE, compare=False)  # as in the config

    @property
    def key(self) -> tuple[object, ...]:
        """The key of the session: descriptions with the same key share one."""
        return ("dataflow_agent.servers", self.command, self.url, self.env, self.headers)

    @property
    def label(self) -> str:
        """The name, or one that is derived from the command or address."""
        if self.name:
            return self.name
        if self.url:
            return host_of(self.url)
        words = [PurePath(word).stem for word in self.command if not word.startswith("-")]
        first, *words = words or ["server"]
        return next((word for word in words if _WORD.fullmatch(word) and not word.isdigit()), first)

    @property
    def address(self) -> str:
        """The address without secret parts."""
        return shown_address(self.url)

    @property
    def digest(self) -> str:
        """A short hash of the description, stable across processes."""
        named = [(variable, secret.name) for variable, secret in self.env]
        sent = [(header.name.lower(), header.text) for header in self.headers]
        parts = (self.command, self.url, named, *([sent] if sent else []))
        return sha256(repr(parts).encode()).hexdigest()[:DIGITS]

    @property
    def place(self) -> str:
        """The prefix of the references of its tools, independent of policy and deadlines."""
        return f"{self.label} {self.digest}"


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool of a server, by its name at the server."""

    server: Server
    own_name: str
    description: str
    schema: str  # as JSON, so that equal schemas compare equal

    @property
    def reference(self) -> str:
        """The reference: the server, distinguished from all others, and the name."""
        return f"{self.server.place}:{self.own_name}"

    def spec(self, name: str) -> ToolSpec:
        """Describe the tool to a model, under a name; not all providers accept a `$schema`."""
        schema = {key: value for key, value in json.loads(self.schema).items() if key != "$schema"}
        return ToolSpec(name, self.description, schema)


def problems_of(server: Server) -> list[Diagnostic]:
    """List the problems of a description."""
    problems = [
        COMMAND_INVALID("command", found=type(word).__name__)
        for word in server.command
        if not isinstance(word, str)  # type: ignore[redundant-expr]  # the caller may not be type-checked
    ]
    if server.command and is_address(server.command[0]):
        expected = "the name of a program, or the address as `url`"
        problems.append(COMMAND_INVALID("command", expected=expected, found="an address"))
    if bool(server.command) == bool(server.url):
        problems.append(COMMAND_OR_ADDRESS(found="both" if server.command else "neither"))
    problems += problems_of_address(server.url) if server.url else []
    if server.url and server.env:
        problems.append(SETTING_OF_OTHER(ENV, what="a command"))
    if server.command and server.headers:
        problems.append(SETTING_OF_OTHER(HEADERS, what="an address"))
    problems += problems_of_headers(server.headers)
    problems += [
        VARIABLE_NAME_INVALID(ENV, what=f"the value of {variable!r}")
        for variable, secret in server.env
        if not secret.name.isidentifier()
    ]
    problems += [
        DEADLINE_INVALID(what, found=f"{number:g}")
        for what in ("deadline", "connect_deadline", "max_message")
        if not 0 < (number := getattr(server, what)) < float("inf")
    ]
    return problems


def environment_of(server: Server) -> dict[str, str]:
    """Return the additional variables of the process of a server; raises SecretMissing.

    A value that is too short to be masked is allowed too, such as the name of a display.
    """
    return {variable: _revealed_variable(server, variable, secret) for variable, secret in server.env}


def marks_of(server: Server, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the mask of each secret of a server, and of each line of it.

    A server may write one line of a secret, which the masking of whole secrets does not recognize.
    """
    return {
        part: f"[secret:{secret.name}]"
        for variable, secret in server.env
        for part in (environment[variable], *map(str.strip, environment[variable].splitlines()))
        if len(part) >= SHORTEST_HIDDEN
    }


def _revealed_variable(server: Server, variable: str, secret: Secret) -> str:
    """Return the value of a secret; the error omits its name, which could be a value by mistake."""
    given = os.environ.get(secret.name)
    if given is not None and len(given) < SHORTEST_HIDDEN:
        return given
    with suppress(SecretMissing):
        return secret.reveal()
    if given is not None:  # bytes that are not text
        return given
    raise SecretMissing(variable, VALUE_MISSING(server=server.label, setting=ENV))


def secrets_of(env: Mapping[str, str | Secret] | Sequence[str]) -> tuple[tuple[str, Secret], ...]:
    """Read the variables of a server: each with a secret or the name of one, or only its name.

    Raises ValueError, which does not quote a value: it could be a secret.
    """
    if isinstance(env, str):
        raise ArgumentInvalid(SETTING_TYPE(ENV, expected="a list or a mapping of names", found="a string"))
    given = env if isinstance(env, Mapping) else dict(zip(env, env, strict=True))
    return tuple(
        (variable, value if isinstance(value, Secret) else _secret(value, ENV, f"the value of {variable!r}"))
        for variable, value in given.items()
    )


def is_address(word: object) -> bool:
    """Return whether a word of a command looks like an address."""
    return isinstance(word, str) and word.strip().lower().startswith(("http://", "https://"))


def problems_of_address(url: str) -> list[Diagnostic]:
    """List the problems of an address without quoting it, as it may contain a key."""
    try:
        scheme, host, *_ = urlsplit(url)
    except ValueError:  # which may quote a password
        return [_invalid("http:// or https://, a host and a path")]
    if "://" not in url:
        return [_invalid("http:// or https:// in front", "an address without a protocol")]
    if scheme not in ("http", "https"):
        return [_invalid("http or https", repr(scheme))]
    if "@" in host:
        return [ADDRESS_HAS_PASSWORD("url")]
    if not host:
        return [_invalid("a host after //", "nothing")]
    return [_invalid("a number up to 65535 as port")] if _has_bad_port(url) else []


def _invalid(expected: str, found: str = "") -> Diagnostic:
    return ADDRESS_INVALID("url", expected=expected, found=found)


def _has_bad_port(url: str) -> bool:
    """Return whether the port is invalid; it may be a part of a password."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        return True
    return False


def host_of(url: str) -> str:
    """Return the host and port of an address."""
    return urlsplit(url).netloc.rpartition("@")[2]


def shown_address(url: str) -> str:
    """Return an address without its parts that may be secret: user, password and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{host_of(url)}{parts.path}"


def without_query(url: str) -> str:
    """Return an address without its query, for the library, which logs it and quotes it in errors."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def make_query_hook(url: str) -> Callable[[Any], Awaitable[None]]:
    """Return the hook that adds the query of an address to each request, hidden from all texts."""
    import httpx2  # loaded by now

    whole, plain = _unshown()(url), httpx2.URL(without_query(url))

    async def put(request: Any) -> None:
        request.url = whole if request.url == plain else _unshown()(request.url)  # a redirection

    return put


@cache
def _unshown() -> Any:
    """Create the class of addresses whose text omits the query, which is sent nevertheless."""
    import httpx2  # loaded by now

    class Unshown(httpx2.URL):
        """An address whose text omits its query."""

        def __str__(self) -> str:
            return str(self.copy_with(query=None))

        def __repr__(self) -> str:
            return repr(self.copy_with(query=None))

    return Unshown
