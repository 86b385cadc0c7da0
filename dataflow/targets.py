"""Targets: what the command line calls FILE, a document or a flow in Python (S20)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from dataflow.errors import PackError
from dataflow.flows import Flow
from dataflow.functions import importing, is_function_name
from dataflow.loading import import_file, read_document
from dataflow.typed_flows import TypedFlow
from dataflow.wording import choices

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

__all__ = ["find_flow", "told", "with_options"]


def find_flow(target: str, *, imports: bool = True) -> Flow:
    """Find what the command line calls FILE: a document, `path.py[:flow]` or `module:flow`.

    Behind the path of a document may stand what its format is told: `duet.json#branch=nightly`. Raises
    FormatError, FlowInvalid or PackError; Python targets are imported in any case.
    """
    path, colon, name = target.rpartition(":")
    if Path(target).suffix == ".py" or (colon and path.endswith(".py")):
        file = target if Path(target).suffix == ".py" else path
        return _only_flow(target, import_file(Path(file), target), name if file == path else "")
    if colon and is_function_name(target) and not Path(target).exists():
        with importing(target, path):
            module = importlib.import_module(path)
        return _only_flow(target, module, name)
    file, options = with_options(target)
    return Flow.from_wiring(*read_document(file, Flow.from_wiring, options=options, imports=imports))


def with_options(target: str) -> tuple[str, dict[str, str]]:
    """Part the path of a document from what its format is told: `flow.json#branch=nightly`."""
    file, mark, written = target.rpartition("#")
    if not mark or Path(target).exists():  # a name may have the sign in it
        return target, {}
    return file, dict(parse_qsl(written, keep_blank_values=True))


def told(target: str, options: Mapping[str, str]) -> str:
    """Write a target with more options behind it."""
    if not options:
        return target
    file, given = with_options(target)
    return f"{file}#{urlencode({**given, **options})}"


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
