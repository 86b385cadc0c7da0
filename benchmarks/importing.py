"""How much longer starting takes than with pydantic alone."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from functools import partial
from time import perf_counter
from typing import Final

from benchmarks.question import Question, Way

__all__ = ["QUESTIONS"]

REPEATS: Final = 9
PYDANTIC: Final = ("-c", "from pydantic import BaseModel")
#: Compiled modules are kept, as they are wherever a package is installed; else each start compiles them anew.
ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


#: A flow of three nodes is imported, wired, checked and run.
FIRST_RUN: Final = """
from dataflow import Flow

async def following(number: int) -> int:
    return number + 1

with Flow("three") as flow:
    number = flow.input("number", int)
    for _ in range(3):
        number = flow.add(following, number=number).out
    flow.output("number", number)

flow.run_sync(number=0)
"""


def seconds(arguments: tuple[str, ...]) -> float:
    """Return how long a process takes."""
    began = perf_counter()
    command = [sys.executable, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    return perf_counter() - began


def difference(arguments: tuple[str, ...], size: int) -> float:
    """Start both in turn, again and again, so that whatever else happens meets both; in milliseconds."""
    seconds(arguments)  # may still have to compile what it imports
    taken = [(seconds(arguments), seconds(PYDANTIC)) for _ in range(REPEATS * size)]
    ours = statistics.median(one for one, _ in taken)
    return 1_000 * (ours - statistics.median(other for _, other in taken))


def starting(name: str, title: str, arguments: tuple[str, ...], target: float | None = None) -> Question:
    """Ask how long a process takes."""
    measures = {Way.ASYNCIO: partial(difference, arguments)}
    return Question(name, title, "ms more than pydantic", (1,), measures, target)


QUESTIONS: Final = (
    starting("import", "`import dataflow`", ("-c", "import dataflow"), target=30.0),
    starting("import-flow", "`from dataflow import Flow`", ("-c", "from dataflow import Flow")),
    starting("first-run", "a flow of three nodes, from the import to its result", ("-c", FIRST_RUN)),
    starting("help", "`dataflow --help`", ("-m", "dataflow.cli", "--help")),
    starting("nodes", "`dataflow nodes`", ("-m", "dataflow.cli", "nodes")),
)
