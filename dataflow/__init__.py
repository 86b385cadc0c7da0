"""A reactive dataflow engine with named ports.

A flow is a graph of nodes; a node is an async function with named, typed inputs and outputs. The public
names stand in the stub beside this file; each is imported when it is first used, so importing the package
costs little.
"""

from __future__ import annotations

from logging import NullHandler as _NullHandler
from logging import getLogger as _getLogger

from lazy_loader import attach_stub as _attach_stub

__getattr__, __dir__, __all__ = _attach_stub(__name__, __file__)

_getLogger("dataflow").addHandler(_NullHandler())
