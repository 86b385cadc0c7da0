"""Problems of a document: their locations, and errors of pydantic rewritten in terms of the format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, get_args

from dataflow.base.wording import choices, shortened, write_place
from dataflow.core.wiring import encode
from dataflow.diagnostics.diagnostic import Diagnostic, Location, within
from dataflow.errors import problem_of
from dataflow.formats.native.document import NODES, FlowDocument, LoopTestPart
from dataflow.formats.native.parts import EXPRESSIONS, Part
from dataflow.types.mismatches import requirement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from dataflow.core.wiring import Places
    from dataflow.formats.tree import DocumentPath

__all__ = ["Problem", "describe_value", "problems_of", "report", "write_path"]

#: The names of branches of unions in the locations of pydantic, and the parts of the document.
_TAGGED: Final[dict[str, type[Part]]] = {
    **{f"<{key}>": part for key, part in {**EXPRESSIONS, **NODES}.items()},
    "<test>": LoopTestPart,
    "<document>": FlowDocument,
}
_EXPECTED: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "list_type": "a list",
    "literal_error": "{expected}",
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number of {ge:g} or more",
    "too_short": "{min_length} or more entries",
    "too_long": "at most {max_length} entries",
    "string_too_short": "a text that is not empty",
}
_MOST_CHARACTERS: Final = 60
#: JSON Schema has no type for secrets, only this format.
FORMAT_HINT: Final = "; for a secret write {type: string, format: secret}"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of one part of a document."""

    path: DocumentPath
    text: Diagnostic | str


def report(problems: Sequence[Problem], places: Places) -> list[Diagnostic | str]:
    """Return problems in the order of the text, each with line and column."""
    placed = [(places.find(problem.path), problem) for problem in problems]
    placed.sort(key=lambda pair: pair[0])
    return list(dict.fromkeys(_placed(one, line, column) for (line, column), one in placed))


def _placed(problem: Problem, line: int, column: int) -> Diagnostic | str:
    found = within(write_path(problem.path), problem.text) if problem.path else problem.text
    if isinstance(found, Diagnostic):
        return found.at(Location("", line, column))
    return write_place(found, line, column)


def write_path(path: DocumentPath) -> str:
    """Write the location of a part: `nodes.page.inputs.text`, `edges[2].target`."""
    return "".join(map(_write_step, path)).removeprefix(".")


def _write_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return "." + encode(step).replace("%24", "$")  # it has no special meaning in a path


def describe_value(value: object) -> str:
    """Describe a JSON value for a message, without secrets and shortened: `a list of 3`."""
    if isinstance(value, dict):
        keys = ", ".join(list(value)[:5]) + (", ..." if len(value) > 5 else "")
        return f"a mapping with {shortened(keys, _MOST_CHARACTERS)}" if value else "an empty mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}" if value else "an empty list"
    return shortened(repr(value) if isinstance(value, str) else json.dumps(value), _MOST_CHARACTERS)


def problems_of(error: ValidationError, data: object) -> list[Problem]:
    """Convert errors of pydantic to problems; errors of the branches of a union become one problem."""
    problems: list[Problem] = []
    expected: dict[DocumentPath, tuple[object, list[str]]] = {}
    for fault in error.errors(include_url=False):
        path = _path_of(fault, data)
        if fault["type"] in _EXPECTED:
            option = _EXPECTED[fault["type"]].format(**fault.get("ctx", {}))
            expected.setdefault(path, (fault["input"], []))[1].append(option)
        else:
            problems.append(Problem(path, _text_of(fault)))
    for path, (found, options) in expected.items():
        hint = FORMAT_HINT if found == "secret" and path[-1:] == ("type",) else ""
        problems.append(
            Problem(path, f"expected {' or '.join(options)}, found {describe_value(found)}{hint}")
        )
    return problems


def _path_of(fault: ErrorDetails, data: Any) -> DocumentPath:
    """Return the steps of an error that exist in the data; the other steps name branches of unions."""
    path: list[str | int] = []
    for step in fault["loc"]:
        if isinstance(data, dict):
            leads_on = step in data
        else:
            leads_on = isinstance(data, list) and isinstance(step, int)
        if leads_on:
            data = data[step]
            path.append(step)
    return (*path, fault["loc"][-1]) if fault["type"] == "missing" else tuple(path)


def _text_of(fault: ErrorDetails) -> Diagnostic | str:
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return f"is not known here; {choices(_fields_at(fault['loc'][:-1]))}"
        case "value_error":
            return problem_of(fault["ctx"]["error"])
        case "no_source" if isinstance(fault["input"], list) and fault["loc"][-1] == "each":
            return "`each` over several lists comes with a later release; a map block takes them in `over`"
        case "no_source" | "no_node":
            return f"{fault['msg']}, found {describe_value(fault['input'])}"
        case _:
            return f"expected {requirement(fault['msg'])}, found {describe_value(fault['input'])}"


def _fields_at(place: tuple[str | int, ...]) -> list[str]:
    """List the fields of the part at a location of pydantic."""
    part: type[Part] = FlowDocument
    for step in place:
        part.model_rebuild()  # resolves forward references to other parts
        if step in _TAGGED:
            part = _TAGGED[str(step)]
        elif step in part.model_fields:
            part = _only_part(part.model_fields[str(step)].annotation) or part
    return [field.alias or name for name, field in part.model_fields.items()]


def _only_part(annotation: object) -> type[Part] | None:
    """Return the part that a field contains, if it is always the same."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    found = {part for argument in get_args(annotation) if (part := _only_part(argument)) is not None}
    return found.pop() if len(found) == 1 else None
