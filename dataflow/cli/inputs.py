"""The inputs of a run as the command line gives them: `--input NAME=VALUE` and PROMPT (S20)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.wording import choices, listed
from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.given import STDIN, Given, is_secret, json_of, reason_of
from dataflow.cli.texts import one_line
from dataflow.core.ports import MISSING
from dataflow.errors import SecretMissing, ValueMismatch
from dataflow.secrets.secret import Secret, look_up
from dataflow.types.validation import check_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dataflow.core.wiring import FlowInput

__all__ = ["read_inputs", "secret_of"]

PROMPT: Final = "prompt"


def read_inputs(
    declared: Mapping[str, FlowInput], given: Sequence[str], prompt: str | None = None
) -> dict[str, Any]:
    """Read the inputs of a run; raises Refused, as a usage error, with everything that is wrong."""
    problems: list[str] = []
    taken: dict[str, Given] = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        if not equals or not name:
            problems.append(f"--input {one_line(entry, 60)}: write NAME=VALUE")
        elif name not in declared:
            problems.append(f"--input {name}: there is no such input; {choices(declared)}")
        elif name in taken:
            problems.append(f"--input {name}: given twice")
        else:
            taken[name] = Given(text)
    if prompt is not None:
        _add_prompt(declared, taken, prompt, problems)
    problems += [
        f"input {name!r} is required: give --input {name}=VALUE"
        for name, port in declared.items()
        if port.default is MISSING and name not in taken
    ]
    if sum(one.text == STDIN for one in taken.values()) > 1:
        problems.append("standard input can be read for one input only")
    if not problems:
        values = {name: _value(name, one, declared[name].type, problems) for name, one in taken.items()}
    if problems:
        raise Refused([Problem(problem) for problem in problems], ExitCode.USAGE)
    return values


def _add_prompt(
    declared: Mapping[str, FlowInput], taken: dict[str, Given], prompt: str, problems: list[str]
) -> None:
    required = [name for name, port in declared.items() if port.default is MISSING]
    if PROMPT not in declared and len(required) != 1:
        found = "requires " + listed(required, len(required)) if required else "requires no input"
        told = f"PROMPT is for the input {PROMPT!r} or the only required one; this flow {found}"
        problems.append(f"{told}; use --input ({choices(declared)})" if declared else told)
        return
    name = PROMPT if PROMPT in declared else required[0]
    if name in taken:
        problems.append(f"input {name!r}: given twice, as PROMPT and as --input")
    taken[name] = Given(prompt, may_be_file=False)


def _value(name: str, given: Given, expected: object, problems: list[str]) -> Any:
    try:
        text = given.read()
        if is_secret(expected) and text not in ("", "null"):
            return secret_of(text)
        value = json_of(text, expected)
        return value if expected is str else check_json(value, expected)
    except (ValueError, OSError, ValueMismatch, SecretMissing) as error:
        problems.append(f"input {name!r}: {reason_of(error)}")
        return None


def secret_of(text: str) -> Secret:
    """Return the secret of a name that is set; what is none may be the value, and is not repeated."""
    name = text.strip().removeprefix('"').removesuffix('"')
    if name not in os.environ:
        raise ValueError(
            "a secret is given by its name: expected that of an environment variable that is set; "
            "what was given is none, and is not shown, as it could be the value"
        )
    look_up(name)
    return Secret(name)
