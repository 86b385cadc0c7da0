"""`clickweave.checks`: a model judges what the nodes with checks have done, after the walk."""

from __future__ import annotations

from base64 import b64decode
from typing import Any, NamedTuple

from pydantic import Field

from dataflow import SKIP, Config, ExecutionContext, Failure, Flow, Image, Maybe, Message, flow, node
from dataflow.authoring import InstalledNode
from dataflow_formats.clickweave.nodes.answers import object_in
from dataflow_formats.clickweave.nodes.evidence import Evidence
from dataflow_formats.clickweave.nodes.verdicts import CheckedNode, failed, judged, question_of

__all__ = ["Checks", "checks"]


class Checks(Config):
    """Config of `clickweave.checks`."""

    nodes: list[CheckedNode] = Field(
        description="the nodes with checks, in the order in which they are judged"
    )


class Judging(Config):
    """Which node is judged."""

    node: CheckedNode


class Judged(NamedTuple):
    """The verdicts, a mapping for each node that was judged."""

    verdicts: list[dict[str, Any]]


class Asked(NamedTuple):
    """What the model is asked, if the node has run and nothing has failed so far."""

    question: Maybe[str]
    context: Maybe[ExecutionContext]


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

    `seen` is what nodes with checks have done, and `failures` what has failed: both are there when the walk
    has ended, in whatever way. Where no node with checks has run, none is judged.
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


@node(name="begin")
async def begin(failures: list[Failure] | None = None) -> list[dict[str, Any]]:  # noqa: ARG001 - it has ended
    """Begin without a verdict."""
    return []


@node(name="ask")
async def ask(
    context: ExecutionContext,
    verdicts: list[dict[str, Any]],
    seen: list[dict[str, Any]] | None = None,
    *,
    config: Judging,
) -> Asked:
    """Ask for a judgement of the last time that the node has run."""
    kept = next((Evidence(**one) for one in seen or () if one["name"] == config.node.name), None)
    if kept is None or failed(verdicts):
        return Asked(SKIP, SKIP)
    if kept.image:
        picture = Image(kept.media_type, b64decode(kept.image))
        context = context.append(Message("user", ("This is what the screen was like afterwards.", picture)))
    return Asked(question_of(config.node, kept.lines), context)


@node(name="judge")
async def judge(
    verdicts: list[dict[str, Any]], config: Judging, answer: str | None = None, failure: Failure | None = None
) -> list[dict[str, Any]]:
    """Add the verdicts of a node; where the model has failed, so have all checks."""
    if answer is None and failure is None:
        return verdicts
    return [*verdicts, judged(config.node, object_in(answer or ""))]
