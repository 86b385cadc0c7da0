"""Files of scripted answers, which documents and the command line can name."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from anyio import to_thread
from pydantic import ValidationError

from dataflow import FormatError, this_firing
from dataflow.authoring import choices, read_data
from dataflow_agent.models.providers.scripts import Script, ScriptedAnswer, ScriptedCall

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

__all__ = ["read_script", "script_of_file"]


async def script_of_file(path: str) -> Script:
    """Return the script of a file, one for each sitting of a run (S11.3); raises FormatError."""
    return await to_thread.run_sync(_opened, this_firing().sitting, path)


_opening: Final = threading.Lock()  # of two firings that come at once the first has opened the one script
_scripts: Final[WeakKeyDictionary[object, dict[str, Script]]] = WeakKeyDictionary()


def _opened(sitting: object, path: str) -> Script:
    with _opening:
        opened = _scripts.setdefault(sitting, {})
        if path not in opened:
            opened[path] = Script(read_script(path))
        return opened[path]


def read_script(path: str) -> tuple[ScriptedAnswer, ...]:
    """Read a list of answers in YAML or JSON, each a text or the fields of a `ScriptedAnswer`."""
    found = read_data(path)
    if not isinstance(found, list):
        raise FormatError(path, f"expected a list of scripted answers, found {type(found).__name__}")
    return tuple(_read(path, number, one) for number, one in enumerate(found, start=1))


def _read(path: str, number: int, given: object) -> ScriptedAnswer:
    fields = {"text": given} if isinstance(given, str) else given
    try:
        return ScriptedAnswer.model_validate_json(json.dumps(fields), strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        first = min(faults, key=lambda fault: fault["type"] == "missing")  # what is there may be misspelt
        where = ".".join(map(str, first["loc"]))
        reason = _reason(first)
        told = f"{where}: {reason}" if where else reason
        raise FormatError(path, f"scripted answer {number}: {told}") from None


def _reason(fault: ErrorDetails) -> str:
    """Tell what is wrong with a field of an answer, or of one of its calls."""
    if fault["type"] == "extra_forbidden":
        known = ScriptedAnswer if len(fault["loc"]) == 1 else ScriptedCall
        return f"is not known here; {choices(known.model_fields)}"
    return "is missing" if fault["type"] == "missing" else fault["msg"].removeprefix("Value error, ")
