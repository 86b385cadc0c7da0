"""What a model's judgement of checks comes to: a verdict for each check."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict

from dataflow_formats.clickweave.files import Check

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CheckedNode", "Verdict", "failed", "judged", "question_of"]

#: What the expected outcome of a node is called among its checks.
OUTCOME: Final = "Expected outcome"


class Verdict(StrEnum):
    """What has become of a check."""

    PASS = "Pass"  # noqa: S105 - a word, and no password
    WARN = "Warn"
    FAIL = "Fail"


class CheckedNode(BaseModel):
    """A node with its checks."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str
    checks: list[Check] = []
    expected_outcome: str = ""

    @property
    def kinds(self) -> list[tuple[str, str, bool]]:
        """The name, the type and whether it only warns, of each check and of the expected outcome."""
        own = [(check.name, str(check.check_type), check.on_fail == "WarnOnly") for check in self.checks]
        return [*own, *([(OUTCOME, OUTCOME, False)] if self.expected_outcome else [])]


def question_of(node: CheckedNode, lines: list[str]) -> str:
    """Ask for a judgement of what a node has done."""
    checks = [
        f"- {check.name}: {check.check_type} {json.dumps(check.params, ensure_ascii=False)}"
        for check in node.checks
    ]
    checks += [f"- {OUTCOME}: {node.expected_outcome}"] if node.expected_outcome else []
    done = "\n".join(lines)
    return (
        f"The step {node.name!r} of a workflow has called these tools:\n{done}\n\nJudge each check:\n"
        + "\n".join(checks)
        + '\n\nAnswer with JSON alone: {"checks": [{"name": ..., "verdict": "pass" or "fail", '
        '"reasoning": ...}]}.'
    )


def judged(node: CheckedNode, answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """Give each check its verdict; one that was not judged has failed, even where it only warns."""
    told: dict[str, dict[str, Any]] = {}
    listed = answer.get("checks") if answer is not None else None
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            told.setdefault(_key(entry["name"]), entry)
    results = [
        {
            "check_name": name,
            "check_type": kind,
            "verdict": str(_verdict(told.get(_key(name)), warns)),
            "reasoning": str(told.get(_key(name), {}).get("reasoning", "the model has not judged it")),
        }
        for name, kind, warns in node.kinds
    ]
    return {"node_id": node.id, "node_name": node.name, "check_results": results}


def _key(name: str) -> str:
    return name.strip().casefold()


def _verdict(entry: Mapping[str, Any] | None, warns: bool) -> Verdict:
    match str(entry.get("verdict")).strip().casefold() if entry is not None else None:
        case "pass":
            return Verdict.PASS
        case "fail" if warns:
            return Verdict.WARN
        case _:
            return Verdict.FAIL


def failed(verdicts: list[dict[str, Any]]) -> bool:
    """Tell whether a check has failed."""
    return any(result["verdict"] == Verdict.FAIL for one in verdicts for result in one["check_results"])
