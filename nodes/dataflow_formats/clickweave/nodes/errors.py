"""What can go wrong in a node besides the tools and models that it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dataflow import DataflowError
from dataflow.authoring import shortened

if TYPE_CHECKING:
    from dataflow import Failure

__all__ = ["AppNotFound", "ElementNotFound", "WalkFailed"]

#: How much of an answer is quoted.
MOST_CHARACTERS: Final = 120


class AppNotFound(DataflowError):
    """Raised where no running app is the one that is wanted."""

    def __init__(self, wanted: str, reason: str) -> None:
        self.wanted = wanted
        super().__init__(f"the app {wanted!r} was not found: {reason}")


class ElementNotFound(DataflowError):
    """Raised where nothing on the screen is what a click aims at; quotes what the search has said."""

    def __init__(self, target: str, answer: str) -> None:
        self.target = target
        quoted = shortened(answer, MOST_CHARACTERS)
        super().__init__(f"nothing to click on was found for {target!r}; find_text said: {quoted}")


class WalkFailed(DataflowError):
    """Raised where a walk with checks ends by a failure, once the checks have been judged."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        error = ": ".join(filter(None, (failure.type, failure.message)))
        super().__init__(f"the walk has failed at {failure.path}: {error}")
