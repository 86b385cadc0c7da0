"""Messages of the command line: wrong usage, missing runs, output that cannot be written."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Final

from dataflow.cli import main
from dataflow.stores import Store
from tests.cli.processes import EXAMPLES
from tests.messages.telling import Row, later

#: The id of a run, and the time in it.
RUN: Final = re.compile(r"\d{8}T\d{6}Z-\w+")


@later
def after(*commands: str, stdin: str = "") -> str:
    """Execute commands in an empty folder and return the errors of the last; `RUN` is the oldest run."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("bytes").write_bytes(b"\xff")
        Path("raising.py").write_text("1 / 0", encoding="utf-8")
        Path("one.py").write_text(ONE, encoding="utf-8")
        for command in commands:
            if command.startswith("mv "):
                Path(command.split()[1]).rename(command.split()[2])
            else:
                errors = said_by(command, stdin)
    text = "\n".join(line for line in errors.splitlines() if re.search(r"DF\d{4}", line))
    return RUN.sub("RUN", text.replace(EXAMPLES, "examples.py").replace(folder, "FOLDER"))


def said_by(command: str, stdin: str) -> str:
    runs = [run.id for run in Store.sqlite(".dataflow/runs.db").runs()]
    words = [
        runs[-1] if word == "RUN" else word.replace(":", f"{EXAMPLES}:", 1) if word[0] == ":" else word
        for word in command.split()
    ]
    errors, path, given = io.StringIO(), sys.path[:], sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    try:
        with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
            main(words)
    finally:
        sys.path[:], sys.stdin = path, given
    return errors.getvalue()


ONE: Final = """
from typing import Literal

from dataflow import Flow, Secret

async def inc(x: int) -> int:
    return x + 1

with Flow("one") as one:
    one.output("out", one.add(inc, x=one.input("x", int, default=1)).out)
with Flow("other") as other:
    other.input("size", Literal["small", "large"])
    other.input("key", Secret | None, default=None)
with Flow("third") as third:
    third.output("out", third.ask(int, "How many?", name="many").out)
"""

ROWS: Final = [
    Row("a file that raises", after("run raising.py")),
    Row("a flow that raises", after("run :untraceable")),
    Row("a value that is not a choice", after("run one.py:other --input size=huge")),
    Row("the value of a secret", after("run one.py:other --input size=small --input key=hunter2")),
    Row("a flow that has moved", after("run one.py:third", "mv one.py two.py", "resume RUN")),
    Row("a store that is not there", after("runs --store nowhere.db")),
    Row("a run in a store that is not there", after("show RUNS")),
    Row("an unknown run", after("run :review", "resume nothing")),
    Row("a part of several runs", after("run :review", "run :review", "resume 2")),
    Row("an age without a unit", after("runs prune --older-than soon")),
    Row("an unknown input", after("run :greet --input nmae=Ada")),
    Row("an unknown output", after("run :greet --output txt")),
    Row("an unknown status", after("runs prune --older-than 1d --status old")),
    Row("an unknown way to treat edits", after("run :review", "resume RUN --edited never")),
    Row("an unknown log format", after("run :greet --input name=a --log-format none")),
    Row("a branch of a flow in Python", after("run :greet --branch nightly")),
    Row("options that exclude each other", after("run :greet --store a.db --no-store")),
    Row("two ports that are pulled", after("run :greet --pull hello --pull text")),
    Row("an option before the subcommand", after("runs --json prune --older-than 1d")),
    Row("an input that is given twice", after("run :greet --input name=a --input name=b")),
    Row("an input without a name", after("run :greet --input Ada")),
    Row("standard input for two inputs", after("run :greet --input name=- --input times=-")),
    Row("a file that is missing", after("run :greet --input name=@missing")),
    Row("a file that is not UTF-8", after("run :greet --input name=@bytes")),
    Row("a value that is not JSON", after("run :greet --input name=a --input times=five")),
    Row("JSON that is nested too deeply", after("run one.py:one --input x=-", stdin="[" * 100_000)),
    Row("a node that ends the process", after("run :leaves")),
    Row("no answer", after("run :review", "answer RUN")),
    Row(
        "an answer that was given before",
        after("run :review", "answer RUN publish=true", "answer RUN publish=true"),
    ),
    Row("an unknown ask", after("run :review", "answer RUN pblish=true")),
    Row("a completed run is resumed", after("run :greet --input name=Ada", "resume RUN")),
    Row("a node type of which nothing is cached", after("run :review", "memo clear lod")),
    Row("an unknown port", after("run :review", "why RUN lod")),
    Row("an unknown code", after("explain DF0000")),
    Row("output that cannot be written", after("convert one.py:one --output missing/one.yaml")),
    Row("an unknown flow of a file", after("run one.py:two")),
    Row("a file with several flows", after("run one.py")),
    Row("a prompt that could be any input", after("run :several hello")),
    Row("a change of something unknown", after("run :review", "fork RUN --change publsh=true")),
]
