"""The ids of steps: those that a file gives stand once, and steps without one get one that is free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow_formats.cagent.parts import BACK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dataflow.authoring import DocumentPath

__all__ = ["StepNames"]


class StepNames:
    """The ids of the steps of a list and of the branches in it, which differ.

    seen: the ids so far, and where the steps stand that have them
    """

    def __init__(self, steps: Sequence[Any]) -> None:
        self.given = {id for id in _given_ids(steps) if isinstance(id, str)}
        self.seen: dict[str, DocumentPath] = {}

    def leads_back(self, id: str) -> bool:
        """Tell whether an agent step of this id leads back to a step."""
        return id.startswith(BACK) and id[len(BACK) :] in self.given

    def unique(self, name: str, path: DocumentPath, *, is_own: bool = False) -> str:
        """Return a name, or the next of it, that no step has; `is_own` says that the file gives it."""
        found, number = name, 1
        while found in self.seen or (found in self.given and not (is_own and found == name)):
            number += 1
            found = f"{name}_{number}"
        self.seen[found] = path
        return found


def _given_ids(steps: Sequence[Any]) -> Iterator[Any]:
    """List the ids that a list of steps gives, and the branches in it; files may hold anything."""
    todo: list[Any] = [*steps]
    while todo:
        step = todo.pop()
        if not isinstance(step, dict):
            continue
        yield step.get("id")
        for key in ("true", "false"):
            todo += step[key] if isinstance(step.get(key), list) else ()
