"""`clickweave.checks`: a model judges the checked nodes after the walk."""

from __future__ import annotations

import json
from base64 import b64decode
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from dataflow import SKIP, Config, ExecutionContext, Failure, Flow, Image, Maybe, Message, flow, node
from dataflow.authoring import InstalledNode
from dataflow_formats.clickweave.file import Check
from dataflow_formats.clickweave.nodes.action import object_in
from dataflow_formats.clickweave.nodes.calls import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["checks"]

#: The name of the expected outcome of a node among its checks.
OUTCOME: Final = "Expected outcome"


class Verdict(StrEnum):
    """The verdict of a check."""

    PASS = "Pass"  # noqa: S105 - not a password
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
        """Name, type, and whether it only warns, for each check and the expected outcome."""
        own = [(check.name, str(check.check_type), check.on_fail == "WarnOnly") for check in self.checks]
        return [*own, *([(OUTCOME, OUTCOME, False)] if self.expected_outcome else [])]


class Checks(Config):
    """Config of `clickweave.checks`."""

    nodes: list[CheckedNode] = Field(
        description="the nodes with checks, in the order in which they are judged"
    )


@flow
def checks(
    f: Flow,
    context: ExecutionContext,
    seen: list[dict[str, Any]] | None = None,
    failures: list[Failure] | None = None,
    *,
    config: Checks,
) -> Judged:
    """Judge one node after the other, up to the first of which a check has failed.

    `seen` is the evidence of the nodes with checks, and `failures` are those of the walk; both have values
    once the walk has ended or failed. If no node with checks has run, none is judged.
    """
    verdicts = f.add(begin, failures=failures).out
    for number, one in enumerate(config.nodes, 1):
        judging = Judging(node=one)
        asked = f.add(ask, context=context, seen=seen, verdicts=verdicts, config=judging).out
        chat = InstalledNode("agent.chat").with_(name=f"model_{number}")
        answer: Any = f.add(chat, prompt=asked.question, context=asked.context)
        verdicts = f.add(
            judge, verdicts=verdicts, answer=answer.out.text, failure=answer.error, config=judging
        ).out
    return Judged(verdicts)


class Judged(NamedTuple):
    """The verdicts, a mapping for each node that was judged."""

    verdicts: list[dict[str, Any]]


class Judging(Config):
    """The node that is judged."""

    node: CheckedNode


@node(name="begin")
async def begin(failures: list[Failure] | None = None) -> list[dict[str, Any]]:  # noqa: ARG001 - waits for the end
    """Begin with no verdicts."""
    return []


class Asked(NamedTuple):
    """The question to the model, skipped if the node has not run or a check has failed."""

    question: Maybe[str]
    context: Maybe[ExecutionContext]


@node(name="ask")
async def ask(
    context: ExecutionContext,
    verdicts: list[dict[str, Any]],
    seen: list[dict[str, Any]] | None = None,
    *,
    config: Judging,
) -> Asked:
    """Ask for a judgement of the last execution of the node."""
    kept = next((Evidence(**one) for one in seen or () if one["name"] == config.node.name), None)
    if kept is None or _has_failed(verdicts):
        return Asked(SKIP, SKIP)
    if kept.image:
        picture = Image(kept.media_type, b64decode(kept.image))
        context = context.append(Message("user", ("This is what the screen was like afterwards.", picture)))
    return Asked(_question(config.node, kept.lines), context)


@node(name="judge")
async def judge(
    verdicts: list[dict[str, Any]], config: Judging, answer: str | None = None, failure: Failure | None = None
) -> list[dict[str, Any]]:
    """Add the verdicts of a node; if the model has failed, all its checks have."""
    if answer is None and failure is None:
        return verdicts
    return [*verdicts, _judge_checks(config.node, object_in(answer or ""))]


def _question(node: CheckedNode, lines: list[str]) -> str:
    """Return the question for a judgement of a node by the lines of its evidence."""
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


def _judge_checks(node: CheckedNode, answer: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the verdict of each check; a check that was not judged has failed, even if it only warns."""
    entries: dict[str, dict[str, Any]] = {}
    listed = answer.get("checks") if answer is not None else None
    for entry in listed if isinstance(listed, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            entries.setdefault(_key(entry["name"]), entry)
    results = [
        {
            "check_name": name,
            "check_type": kind,
            "verdict": str(_verdict(entries.get(_key(name)), warns)),
            "reasoning": str(entries.get(_key(name), {}).get("reasoning", "the model has not judged it")),
        }
        for name, kind, warns in node.kinds
    ]
    return {"node_id": node.id, "node_name": node.name, "check_results": results}


def _verdict(entry: Mapping[str, Any] | None, warns: bool) -> Verdict:
    match str(entry.get("verdict")).strip().casefold() if entry is not None else None:
        case "pass":
            return Verdict.PASS
        case "fail" if warns:
            return Verdict.WARN
        case _:
            return Verdict.FAIL


def _key(name: str) -> str:
    return name.strip().casefold()


def _has_failed(verdicts: list[dict[str, Any]]) -> bool:
    """Return whether a check has failed."""
    return any(result["verdict"] == Verdict.FAIL for one in verdicts for result in one["check_results"])
