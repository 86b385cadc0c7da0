"""Files of other systems and the native documents that they become.

Beside `review.json` lies its document `review.native.yaml`, and in `review.nightly.native.yaml` what it
becomes with options, such as a branch. `python -m tests.nodes.formats.golden` writes the documents anew.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dataflow import Flow
from dataflow.formats.native.writer import dump_yaml

FOLDER: Final = Path(__file__).parents[2] / "golden" / "formats"
ENDING: Final = ".native.yaml"
#: What is said besides the file, by system and by document.
OPTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "agentron": {"model": "openai/gpt-5"},
    "agentron/review.nightly": {"branch": "nightly"},
    "agentflow/meeting.once": {"joins": "once"},
}
DOCUMENTS: Final = sorted(
    path.relative_to(FOLDER).as_posix().removesuffix(ENDING) for path in FOLDER.glob(f"*/*{ENDING}")
)
#: The files, by system and name, in order.
FILES: Final = {
    path.relative_to(FOLDER).with_suffix("").as_posix(): path
    for path in sorted(FOLDER.glob("*/*.*"))
    if not path.name.endswith(ENDING)
}


def converted(document: str) -> Path:
    return FOLDER / f"{document}{ENDING}"


def original(document: str) -> Flow:
    options = {**OPTIONS.get(document.partition("/")[0], {}), **OPTIONS.get(document, {})}
    return Flow.load(FILES[document.partition(".")[0]], **options)


if __name__ == "__main__":
    for each in DOCUMENTS:
        converted(each).write_text(dump_yaml(original(each).wiring), encoding="utf-8")
    sys.exit()
