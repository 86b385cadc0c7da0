"""Changes on the command line, `--change KEY=VALUE`, read by the types of what they change (S13.5, S20)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataflow.base.wording import choices, nearest
from dataflow.cli.exits import ExitCode, Problem, Refused
from dataflow.cli.given import STDIN, Given, is_secret, json_of, reason_of
from dataflow.cli.inputs import secret_of
from dataflow.cli.texts import one_line
from dataflow.errors import SecretMissing, ValueMismatch
from dataflow.types.validation import check_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["read_changes"]


def read_changes(types: Mapping[str, object], given: Sequence[str]) -> dict[str, Any]:
    """Read changes, of which `types` lists the keys; raises Refused with everything that is wrong."""
    problems: list[str] = []
    taken: dict[str, Given] = {}
    for entry in given:
        key, equals, text = _parted(entry, types)
        if not equals or not key:
            problems.append(f"--change {one_line(entry, 60)}: write KEY=VALUE")
        elif key not in types:
            problems.append(f"--change {key}: there is nothing to change; {choices(nearest(types, key))}")
        elif key in taken:
            problems.append(f"--change {key}: given twice")
        else:
            taken[key] = Given(text)
    if sum(one.text == STDIN for one in taken.values()) > 1:
        problems.append("standard input can be read for one change only")
    values: dict[str, Any] = {}
    if not problems:
        values = {key: _value(key, one, types[key], problems) for key, one in taken.items()}
    if problems:
        raise Refused([Problem(problem) for problem in problems], ExitCode.USAGE)
    return values


def _parted(entry: str, keys: Mapping[str, object]) -> tuple[str, str, str]:
    """Part an entry at its first `=`, unless a key has one."""
    for key in keys:
        if "=" in key and entry.startswith(f"{key}="):
            return key, "=", entry[len(key) + 1 :]
    return entry.partition("=")


def _value(key: str, given: Given, expected: object, problems: list[str]) -> Any:
    try:
        text = given.read()
        if is_secret(expected) and text not in ("", "null"):
            return secret_of(text)
        value = json_of(text, expected)
        return value if expected is str else check_json(value, expected)
    except (ValueError, OSError, ValueMismatch, SecretMissing) as error:
        problems.append(f"--change {key}: {reason_of(error)}")
        return None
