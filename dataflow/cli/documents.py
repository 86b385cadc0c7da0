"""Write the flow of a command as a document that can be read again."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from dataflow.base.wording import listed, visible
from dataflow.cli.output import Refused, tell
from dataflow.cli.targets import folder_of, load, placed, refusing
from dataflow.core.policy import Settings

if TYPE_CHECKING:
    from dataflow.flows import Flow

__all__ = ["Written", "written"]

#: The settings that a document cannot have.
_WITHOUT_FORM: Final = ("keep", "store", "memo", "telemetry", "progress")
#: The name of a document on standard output, in the problems of what would be read.
_UNNAMED: Final = "the document"


class Written(NamedTuple):
    """A flow, the document of it, and the text of the document."""

    flow: Flow
    document: dict[str, Any]
    text: str


def written(target: str, output: str | None = None) -> Written:
    """Write a flow as a document, as JSON if the name of the output ends in `.json`.

    Nothing that a document names is imported. Raises Refused for a flow with problems, and where the text
    could not be read again as the document that it is; differences from the flow are reported.
    """
    from dataflow.formats.native.writer import dump
    from dataflow.formats.writer import write_yaml

    flow = load(target, imports=False)
    with refusing(target):
        problems = flow.examine().problems_in_order
    if problems:
        raise Refused([placed(problem, target) for problem in problems])
    is_json = output is not None and output.lower().endswith(".json")
    with refusing(target):  # a lambda has no document form
        document = dump(flow.wiring_with_settings)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n" if is_json else write_yaml(document)
    _read_again(text, folder_of(target) / (_UNNAMED if output is None else Path(output).name))
    for remark in flow.report:
        tell(visible(f"note: {remark}"))
    if left_out := _left_out(flow.settings):
        what = listed(left_out, len(left_out))
        tell(f"note: documents have no {what}: set it where the document is loaded, with using(...)")
    return Written(flow, document, text)


def _read_again(text: str, place: Path) -> None:
    """Read and check a text as the document at a place; raises Refused."""
    from dataflow.flows import Flow
    from dataflow.loading import read_document

    with refusing(str(place)):
        problems = Flow.from_wiring(*read_document(place, Flow.from_wiring, text=text, imports=False)).check()
    if problems:
        raise Refused([placed(problem, str(place)) for problem in problems])


def _left_out(settings: Settings) -> list[str]:
    """List the settings of a flow that its document does not have."""
    plain = {field.name: field.default for field in fields(Settings)}
    return [name for name in _WITHOUT_FORM if getattr(settings, name) != plain[name]]
