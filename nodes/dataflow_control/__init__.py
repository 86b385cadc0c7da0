"""The control pack: node types that every flow may need.

Their functions and configs stand in the stub beside this file; each is imported when it is first used.
"""

from __future__ import annotations

from lazy_loader import attach_stub as _attach_stub

__getattr__, __dir__, __all__ = _attach_stub(__name__, __file__)
