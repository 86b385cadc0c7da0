"""Steps: what placing a node hands back, to read its ports from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from dataflow.builder.placeholders import Handle, PortRef
from dataflow.core.ports import DONE, ERROR
from dataflow.core.wiring import Reference
from dataflow.errors import PortMisuse

if TYPE_CHECKING:
    from dataflow.base.failure import Failure
    from dataflow.builder.blocks import OpenBlock
    from dataflow.core.ports import Signal

__all__ = ["Step"]

R_co = TypeVar("R_co", covariant=True)


class Step(Handle, Generic[R_co]):
    """A placed node: its ports are read from `out`, `done` and `error`."""

    __slots__ = ("_block", "_id")

    def __init__(self, block: OpenBlock, id: str) -> None:
        self._block = block
        self._id = id

    def _port(self, name: str) -> Any:
        return PortRef(self._block, Reference(self._id, name))

    @property
    def out(self) -> R_co:
        """The result; a result with named fields has a port a field: `step.out.title`."""
        port: Any = PortRef(self._block, Reference(self._id, "out"))
        return port  # type: ignore[no-any-return]  # a port is typed as its value

    @property
    def error(self) -> Failure:
        """The failure of the node, a skip if it succeeded. Wiring it handles the failure (S9.3)."""
        port: Failure = self._port(ERROR)
        return port

    @property
    def done(self) -> Signal:
        """The signal that the node has succeeded, or failed with a `default=` (S1.3)."""
        port: Signal = self._port(DONE)
        return port

    if not TYPE_CHECKING:  # a type checker is to refuse any other name

        def __getattr__(self, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            raise PortMisuse(
                repr(self), f"the attribute {name!r}", f"a field of the result is step.out.{name}"
            )

    def __repr__(self) -> str:
        return f"<step {self._id}>"
