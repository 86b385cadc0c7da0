"""Make a digest of a text or Markdown file: the flow of digest.yaml, wired in Python.

python docs/examples/digest.py FILE [--to digest.txt] [--target 2000]
"""

from __future__ import annotations

import argparse
import sys

import digest_nodes as text

from dataflow import Flow, RunFailed, collect, each
from dataflow_control import read_text, write_text

LIMIT = 5  # rounds
KEEP = 8  # sentences that a section may keep in the first round


with Flow("digest") as digest:
    path = digest.input("path", str)
    to = digest.input("to", str, "digest.txt")
    target = digest.input("target", int, 2000)
    page = digest.add(read_text, path=path)
    with digest.loop(name="refine", limit=LIMIT) as it:
        doc = it.carry(page.out)
        keep = it.carry(KEEP)
        parts = digest.add(text.split, doc=doc.out)
        brief = digest.add(text.summarise, text=each(parts.out.chunks), keep=keep.out)  # all sections at once
        joined = digest.add(text.join, title=parts.out.title, parts=collect(brief.out))
        grade = digest.add(text.grade, text=joined.out, target=target, keep=keep.out)
        it.until(grade.out.short, lambda short: short)
        doc.next(joined.out)
        keep.next(grade.out.keep)
        result = it.result(joined.out)
    digest.add(write_text, path=to, text=result)
    digest.output("digest", result)


def main(arguments: list[str] | None = None) -> int:
    """Run the flow on one file and say in the last line what came out."""
    parser = argparse.ArgumentParser(description="Make a digest of a text or Markdown file.")
    parser.add_argument("file")
    parser.add_argument("--to", default="digest.txt", help="where to write it (default: %(default)s)")
    parser.add_argument("--target", type=int, default=2000, help="characters at most (default: %(default)s)")
    asked = parser.parse_args(arguments)
    try:
        run = digest.run_sync(path=asked.file, to=asked.to, target=asked.target)
    except RunFailed as failed:
        first = failed.failures[0]
        print(f"digest: {first.node}: {first.message}", file=sys.stderr)
        return 1
    rounds = sum(path.endswith("/grade") for path in run.states)  # one firing of it a round
    print(report(len(run["digest"]), rounds, asked.to, asked.target))
    return 0


def report(size: int, count: int, written: str, allowed: int) -> str:
    """Say how long the digest is, how many rounds it took and where it is, and warn if it is too long."""
    rounds = "1 round" if count == 1 else f"{count} rounds"
    line = f"{size} characters after {rounds}, written to {written}"
    return line if size <= allowed else f"{line}; warning: still over the target of {allowed} characters"


if __name__ == "__main__":
    sys.exit(main())
