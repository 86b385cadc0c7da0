"""What a raw node returns: its outputs by name, its context, what is recorded, and how it went (S3.2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from dataflow.base.wording import choices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataflow.core.context import ExecutionContext

__all__ = ["NodeOutput"]

OutputStatus: TypeAlias = Literal["success", "paused", "error"]
STATUSES: Final[tuple[str, ...]] = get_args(OutputStatus)


@dataclass(frozen=True, slots=True)
class NodeOutput:
    """The outcome of a raw node: `outputs` by the names of its ports, `context` for the port `context`.

    `metadata` is recorded with the firing. With the status `error` the node has failed, and
    `metadata["error"]` is the text of the failure. With `paused` it opens an ask that `metadata["ask"]`
    describes: `prompt`, `show`, `schema`, `expires` in seconds, `default`. What it returned stands, the
    answer fills the ports that are left, and the node is not called again (S11.1). A memo does not remember
    what is not to be `remembered`.
    """

    outputs: Mapping[str, Any] = field(default_factory=dict)
    _: KW_ONLY
    context: ExecutionContext | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    status: OutputStatus = "success"
    remembered: bool = True

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"the status of a NodeOutput cannot be {self.status!r}; {choices(STATUSES)}")
