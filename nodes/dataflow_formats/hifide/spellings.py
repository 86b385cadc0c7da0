"""How nodes and ports are spelled in files of HiFide: in many ways, of which each means one thing. Pure."""

from __future__ import annotations

import re
from typing import Any, Final

from dataflow.authoring import get_mapping

__all__ = ["is_of_a_kind", "kind_of_node", "port_name", "spelled_type"]

#: The kinds of nodes by their names without case, blanks, - and _.
_KINDS: Final = {
    "defaultcontextstart": "defaultContextStart",
    "userinput": "userInput",
    "llmrequest": "llmRequest",
    "chat": "llmRequest",
    "tools": "tools",
    "manualinput": "manualInput",
    "newcontext": "newContext",
    "injectmessages": "injectMessages",
    "intentrouter": "intentRouter",
    "cache": "cache",
    "portalinput": "portalInput",
    "portaloutput": "portalOutput",
    "readfile": "readFile",
}
_PORTS: Final = {
    "context": ("", "context", "contextin", "contextout", "ctx", "ctxin", "ctxout"),
    "data": ("data", "datain", "dataout", "value", "output"),
    "tools": ("tools", "toolsin", "toolsout"),
}
_BY_SPELLING: Final = {spelling: name for name, spellings in _PORTS.items() for spelling in spellings}
_BLANKS: Final = re.compile(r"[\s_-]+")
_PREFIX: Final = re.compile(r"[A-Za-z]+")


def _plain(text: str) -> str:
    return _BLANKS.sub("", text).lower()


def spelled_type(node: dict[str, Any]) -> str | None:
    """Return the type of a node as its file spells it, None where it says none.

    It stands under `nodeType`, in `data`, under `type` or `kind`; else the id begins with it.
    """
    for found in (
        node.get("nodeType"),
        get_mapping(node, "data").get("nodeType"),
        node.get("type"),
        node.get("kind"),
    ):
        if isinstance(found, str) and found.strip():
            return found.strip()
    id = node.get("id")
    prefix = _PREFIX.match(id) if isinstance(id, str) else None
    return prefix[0] if prefix and _plain(prefix[0]) in _KINDS else None


def is_of_a_kind(node: dict[str, Any]) -> bool:
    """Tell whether a node is of a kind of HiFide, wherever its type stands, and is none of Clickweave's."""
    if "node_type" in node or "params" in node:  # where its id says nothing, nor its `kind`
        return False
    spelled = spelled_type(node)
    return spelled is not None and _plain(spelled) in _KINDS


def kind_of_node(spelled: str) -> str | None:
    """Return the kind that a type means: one of HiFide, or a node type of a pack, whose id has a dot."""
    return _KINDS.get(_plain(spelled), spelled if "." in spelled else None)


def port_name(spelled: str) -> str:
    """Bring the name of a port to one spelling; names that are none of the usual ones stay as they are."""
    return _BY_SPELLING.get(_plain(spelled), spelled)
