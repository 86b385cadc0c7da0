"""Place node types of installed packs by their ids, without importing the pack."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dataflow.builder.declare import Node
from dataflow.core.nodetype import never_called
from dataflow.diagnostics.packs import CONFIG_MISSING
from dataflow.errors import PackError
from dataflow.packs.registry import find_type

if TYPE_CHECKING:
    from dataflow.core.config import Config
    from dataflow.core.nodetype import NodeType

__all__ = ["InstalledNode"]


class InstalledNode(Node[..., Any]):
    """A node type of an installed pack by its id, such as `agent.chat`, placed with `Flow.add`.

    `with_` gives it a name and settings as for any node. The pack is loaded on first use; `type`, `config`
    and placing raise PackError if no installed pack has the type.
    """

    def __init__(self, id: str) -> None:
        super().__init__(never_called, name=id.rpartition(".")[2])
        self._id = id

    @cached_property
    def type(self) -> NodeType:
        """The node type; raises PackError if it does not exist."""
        found = find_type(self._id)
        return replace(found, policy=self._policy.over(found.policy))

    def config(self, **settings: Any) -> Config:
        """Return a config of the type; raises PackError without one, ValidationError for invalid settings."""
        config = self.type.parameters.config
        if config is None:
            raise PackError(self._id, CONFIG_MISSING())
        return config(**settings)
