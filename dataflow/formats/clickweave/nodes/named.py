"""Node types of packs, by their ids: this package imports no pack."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dataflow.declare import Node
from dataflow.nodetype import never_called
from dataflow.policy import policy_of
from dataflow.registry import find_type

if TYPE_CHECKING:
    from dataflow.config import Config
    from dataflow.nodetype import NodeType

__all__ = ["Named"]


class Named(Node[..., Any]):
    """A node type by its id, found when it is placed, under the id that the node has in its flow."""

    def __init__(self, id: str, placed_as: str, **policy: Any) -> None:
        super().__init__(never_called, name=placed_as, placed_as=placed_as, policy=policy_of(**policy))
        self._id = id

    @cached_property
    def type(self) -> NodeType:
        """The node type; raises PackError where there is none."""
        found = find_type(self._id)
        return replace(found, policy=self._policy.over(found.policy))

    def config(self, **settings: Any) -> Config:
        """Make a config of the type; raises ValidationError."""
        config = self.type.parameters.config
        assert config is not None, "types without a config are given none"
        return config(**settings)
