"""Write the parts of a native document: free ids, edges, sources and model names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from dataflow.core.wiring import Reference, write_reference

if TYPE_CHECKING:
    from collections.abc import Container

    from dataflow.formats.foreign import JsonDict

__all__ = ["free_name", "qualified_model", "write_edge", "write_source"]

_NAMED: Final = re.compile(r"([\w.-]+)[/:](\S+)")
#: Names of providers in other systems, and the names used here.
_PROVIDERS: Final = {"google": "gemini", "amazon-bedrock": "bedrock"}
#: Prefixes of model names that imply a provider.
_KNOWN: Final = {
    r"gpt-|chatgpt|o\d": "openai",
    "claude": "anthropic",
    "gemini": "gemini",
    "mistral|magistral|codestral": "mistral",
    "deepseek": "deepseek",
    "grok": "xai",
}


def free_name(name: str, taken: Container[str], between: str = "_") -> str:
    """Return a name that is not taken: the given one, or the first of `name_2`, `name_3` and so on."""
    number, found = 1, name
    while found in taken:
        number += 1
        found = f"{name}{between}{number}"
    return found


def write_edge(source: str, source_port: str, target: str, target_port: str, **more: Any) -> JsonDict:
    """Write the edge of a native document from an output port to an input port.

    `more` are the other keys of the edge, such as `feedback=True` and `limit=100`.
    """
    ends = {"source": source, "source_port": source_port, "target": target, "target_port": target_port}
    return {**ends, **more}


def write_source(node: str, port: str = "out") -> str:
    """Write an output port as a source of a native document: `node.port`, and `node` for its port `out`.

    `$in`, `$carry` and `$item` in place of the node name an input of the flow, a loop variable and the item
    of a map. Characters with a meaning in sources are percent-encoded.
    """
    return write_reference(Reference(node, port))


def qualified_model(model: str) -> str | None:
    """Return the name of a model as `provider/name`: `openai/gpt-5` for `gpt-5`; None if it is unknown."""
    if named := _NAMED.fullmatch(model):
        return f"{_PROVIDERS.get(named[1], named[1])}/{named[2]}"
    if re.fullmatch(r"[^\s/:]+", model) is None:
        return None
    found = (provider for beginning, provider in _KNOWN.items() if re.match(beginning, model))
    provider = next(found, None)
    return f"{provider}/{model}" if provider else None
