"""All questions, in the order of the table."""

from __future__ import annotations

from typing import Final

from benchmarks import (
    building,
    chain,
    chats,
    diamonds,
    fan_out,
    fingerprints,
    fixed_cost,
    importing,
    journaling,
    layered,
    listening,
    live,
    loop,
    mapping,
    memo,
    memory,
    open_asks,
    resuming,
    sleepers,
    suspending,
)
from benchmarks.question import Question

__all__ = ["QUESTIONS"]

QUESTIONS: Final[dict[str, Question]] = {
    question.name: question
    for question in (
        chain.QUESTION,
        fan_out.QUESTION,
        layered.QUESTION,
        diamonds.QUESTION,
        loop.QUESTION,
        mapping.QUESTION,
        *suspending.QUESTIONS,
        sleepers.QUESTION,
        fixed_cost.QUESTION,
        *building.QUESTIONS,
        listening.QUESTION,
        memory.QUESTION,
        *journaling.QUESTIONS,
        resuming.QUESTION,
        open_asks.QUESTION,
        *fingerprints.QUESTIONS,
        *live.QUESTIONS,
        *memo.QUESTIONS,
        *importing.QUESTIONS,
        *chats.QUESTIONS,
    )
}
