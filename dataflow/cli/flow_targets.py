"""Targets: what the command line calls FILE, a document or a flow in Python (S20)."""

from __future__ import annotations

import importlib
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, assert_never
from urllib.parse import quote, unquote, urlencode

from dataflow.base.wording import choices
from dataflow.core.functions import importing, is_function_name
from dataflow.errors import PackError
from dataflow.flows import Flow
from dataflow.formats.foreign import NO_OPTIONS
from dataflow.loading import import_file, read_document
from dataflow.typed_flows import TypedFlow

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["Kind", "Target", "find_flow", "target_of", "with_options"]

#: The option that says of which format a document is, in place of its content.
FORMAT: Final = "format"


class Kind(Enum):
    """What a target names a flow in."""

    DOCUMENT = auto()
    FILE = auto()
    MODULE = auto()


class Target(NamedTuple):
    """A target in its parts: the file or module, the name of a flow in Python, what a format is told."""

    kind: Kind
    place: str
    name: str = ""
    options: Mapping[str, str] = NO_OPTIONS


def target_of(written: str) -> Target:
    """Part what the command line calls FILE: `path.py[:flow]`, `module:flow`, or a document with options.

    Options stand behind a document that is there, whatever they are: `flow.json#model=openrouter/free:fast`.
    """
    file, mark, options = written.rpartition("#")
    if mark and not _is_there(written):  # a name may have the sign in it
        parted = _without_options(file)
        if parted.kind is Kind.DOCUMENT and (_is_there(file) or _is_document(written)):
            return parted._replace(options=_read_options(options))
    return _without_options(written)


def _without_options(written: str) -> Target:
    path, colon, name = written.rpartition(":")
    if Path(written).suffix == ".py":
        return Target(Kind.FILE, written)
    if colon and path.endswith(".py"):
        return Target(Kind.FILE, path, name)
    if colon and is_function_name(written) and not _is_there(written):
        return Target(Kind.MODULE, path, name)
    return Target(Kind.DOCUMENT, written)


def _is_document(written: str) -> bool:
    return _without_options(written).kind is Kind.DOCUMENT


def _is_there(file: str) -> bool:
    try:
        return Path(file).exists()
    except (OSError, ValueError):  # what is longer than a name may be
        return False


def _read_options(written: str) -> dict[str, str]:
    """Read `name=value&name=value`; only percent signs stand for other characters."""
    pairs = (one.partition("=") for one in written.split("&") if one)
    return {unquote(name): unquote(value) for name, _, value in pairs}


def find_flow(written: str, *, imports: bool = True) -> Flow:
    """Find what the command line calls FILE: a document, `path.py[:flow]` or `module:flow`.

    Behind the path of a document may stand its format, and what that is told: `duet.json#branch=nightly`,
    `flow.json#format=hifide`. Raises FormatError, FlowInvalid or PackError; Python targets are imported in
    any case.
    """
    target = target_of(written)
    match target.kind:
        case Kind.FILE:
            return _only_flow(written, import_file(Path(target.place), written), target.name)
        case Kind.MODULE:
            with importing(written, target.place):
                module = importlib.import_module(target.place)
            return _only_flow(written, module, target.name)
        case Kind.DOCUMENT:
            options = {**target.options}
            asked = options.pop(FORMAT, None)
            read = read_document(
                target.place, Flow.from_wiring, format=asked, options=options, imports=imports
            )
            return Flow.from_wiring(*read)
        case _:
            assert_never(target.kind)


def with_options(written: str, options: Mapping[str, str]) -> str:
    """Write a target with more options behind it."""
    if not options:
        return written
    target = target_of(written)
    return f"{target.place}#{urlencode({**target.options, **options}, quote_via=quote)}"


def _only_flow(target: str, module: ModuleType, name: str) -> Flow:
    flows = {key: value for key, value in vars(module).items() if isinstance(value, Flow)}
    if name:
        if name not in flows:
            raise PackError(target, f"there is no flow {name!r}; {choices(flows)}")
        return flows[name]
    if not flows:
        raise PackError(target, "holds no flow")
    plain = [flow for flow in flows.values() if not isinstance(flow, TypedFlow)]  # which are parts of others
    for found in (plain, [*flows.values()]):
        if len({id(flow) for flow in found}) == 1:
            return found[0]
    raise PackError(target, f"holds {len(flows)} flows, so name one, as in {target}:NAME; {choices(flows)}")
