"""Problems of a document: their locations, and errors of pydantic rewritten in terms of the format."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, get_args

from pydantic import BaseModel

from dataflow.base.wording import shortened
from dataflow.core.wiring import encode
from dataflow.diagnostics.diagnostic import NOWHERE, Diagnostic
from dataflow.diagnostics.documents import (
    EACH_SEVERAL,
    FIELD_MISSING,
    FIELD_UNKNOWN,
    NODE_INVALID,
    SECRET_TYPE,
    SOURCE_INVALID,
    VALUE_INVALID,
    VALUE_REFUSED,
)
from dataflow.errors import problem_of
from dataflow.formats.native.document import NODES, FlowDocument, LoopTestPart
from dataflow.formats.native.parts import EXPRESSIONS
from dataflow.types.mismatches import requirement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from dataflow.core.wiring import Places
    from dataflow.errors import DataflowError
    from dataflow.formats.tree import DocumentPath

__all__ = [
    "Problem",
    "describe_value",
    "problems_of",
    "problems_of_file",
    "report",
    "write_path",
]

#: The names of branches of unions in the locations of pydantic, and the parts of the document.
_TAGGED: Final[dict[str, type[BaseModel]]] = {
    **{f"<{key}>": part for key, part in {**EXPRESSIONS, **NODES}.items()},
    "<test>": LoopTestPart,
    "<document>": FlowDocument,
}
_EXPECTED: Final = {
    "string_type": "a string",
    "int_type": "an integer",
    "int_from_float": "an integer",
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
    "string_too_short": "a string that is not empty",
}
_MOST_CHARACTERS: Final = 60


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of one part of a document."""

    path: DocumentPath
    diagnostic: Diagnostic


def report(problems: Sequence[Problem], places: Places) -> list[Diagnostic]:
    """Return the problems of a file in the order of its text, each with its location."""
    placed = [(places.find(problem.path), problem) for problem in problems]
    placed.sort(key=lambda pair: pair[0])
    found = (one.diagnostic.within(write_path(one.path)).at(location) for location, one in placed)
    return list(dict.fromkeys(found))


def problems_of_file(error: DataflowError) -> list[Diagnostic]:
    """Return the problems of a file that another one names; without a line they are problems of the naming.

    `error` is a FormatError or a FlowInvalid.
    """
    return [
        one if one.location.line else replace(one, location=NOWHERE).within(one.location)
        for one in error.diagnostics
    ]


#: How documents write the settings of a policy that have another name in Python.
_OF_PYTHON: Final[Mapping[str | int, str]] = {"retries": "write retry: {retries: 3}"}


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


def problems_of(error: ValidationError, data: object, model: type[BaseModel] = FlowDocument) -> list[Problem]:
    """Convert errors of pydantic to problems; errors of the branches of a union become one problem."""
    problems: list[Problem] = []
    expected: dict[DocumentPath, tuple[object, list[str]]] = {}
    for fault in error.errors(include_url=False):
        path = _path_of(fault, data)
        if fault["type"] in _EXPECTED:
            option = _EXPECTED[fault["type"]].format(**fault.get("ctx", {}))
            expected.setdefault(path, (fault["input"], []))[1].append(option)
        else:
            problems.append(Problem(path, _diagnosed(fault, model)))
    for path, (found, options) in expected.items():
        if found == "secret" and path[-1:] == ("type",):
            problems.append(Problem(path, SECRET_TYPE()))
        else:
            wanted = " or ".join(options)
            problems.append(Problem(path, VALUE_INVALID(expected=wanted, found=describe_value(found))))
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


def _diagnosed(fault: ErrorDetails, model: type[BaseModel]) -> Diagnostic:
    found = fault["input"]
    match fault["type"]:
        case "missing":
            return FIELD_MISSING()
        case "extra_forbidden":
            *around, key = fault["loc"]
            fields = _fields_at(around, model)
            instead = _OF_PYTHON[key] if key in _OF_PYTHON and "on_error" in fields else ""
            return FIELD_UNKNOWN(available=fields, near=str(key), instead=instead)
        case "value_error":
            return problem_of(fault["ctx"]["error"], VALUE_REFUSED)
        case "no_source" if isinstance(found, list) and fault["loc"][-1] == "each":
            return EACH_SEVERAL()
        case "no_source":
            return SOURCE_INVALID(found=describe_value(found), available=EXPRESSIONS)
        case "no_node":
            return NODE_INVALID(found=describe_value(found), available=NODES)
        case _:
            return VALUE_INVALID(expected=requirement(fault["msg"]), found=describe_value(found))


def _fields_at(place: Sequence[str | int], part: type[BaseModel]) -> list[str]:
    """List the fields of the part at a location of pydantic, in a model."""
    for step in place:
        part.model_rebuild()  # resolves forward references to other parts
        if step in _TAGGED:
            part = _TAGGED[str(step)]
        elif step in part.model_fields:
            part = _only_part(part.model_fields[str(step)].annotation) or part
    return [field.alias or name for name, field in part.model_fields.items()]


def _only_part(annotation: object) -> type[BaseModel] | None:
    """Return the part that a field contains, if it is always the same."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = {part for argument in get_args(annotation) if (part := _only_part(argument)) is not None}
    return found.pop() if len(found) == 1 else None
