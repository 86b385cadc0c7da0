"""The node types that the engine brings with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow.builder.branching import IF, SWITCH
from dataflow.builder.conversations import CONTEXT
from dataflow.builder.questions import QUESTION, USER_INPUT

if TYPE_CHECKING:
    from dataflow.core.nodetype import NodeType

__all__ = ["BUILT_IN"]

BUILT_IN: Final[dict[str, NodeType]] = {made.id: made for made in (IF, SWITCH, CONTEXT, QUESTION, USER_INPUT)}
