"""Problems of secrets (DF10)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

SECRET_NAME_INVALID: Final = Kind(
    "DF1001",
    "{name!r} is not a name of a secret",
    expected="letters, digits, `_`, `.` and `-`, not beginning with a digit",
    meaning="A secret is referred to by a name that can also be the name of an environment variable.",
    example='Secret("my key")',
    cure="Rename it: `Secret('MY_KEY')`.",
)
SECRET_NOT_TEXT: Final = Kind(
    "DF1002",
    "the value is not a string",
    expected="str",
    meaning="The value of a secret has to be a string, since it is masked wherever it is written.",
    example='Secret("TOKEN", b"...")',
    cure="Decode it, or encode it as base64.",
)
SECRET_MISSING: Final = Kind(
    "DF1003",
    "is missing",
    hint="set the environment variable of that name",
    meaning="A secret is neither in the environment of the process nor given with a value.",
    example='Secret("TOKEN").reveal()   # with no TOKEN in the environment',
    cure="Set the environment variable, or give the value in Python: `Secret('TOKEN', value)`.",
)
SECRET_TOO_SHORT: Final = Kind(
    "DF1004",
    "is too short to be masked, and is written in clear",
    meaning="A value of fewer than 8 characters also occurs in other text by chance, so it is not masked.",
    example='Secret("PIN", "1234").reveal()',
    cure="Use a longer secret, or pass the value as ordinary data if it is none.",
)
SECRET_NOT_UTF8: Final = Kind(
    "DF1005",
    "has bytes that are not UTF-8",
    meaning="The environment variable of a secret has bytes that cannot be decoded.",
    example="export TOKEN=$(printf '\\\\377')",
    cure="Encode the value, for example as base64.",
)
SECRET_UNCHANGEABLE: Final = Kind(
    "DF1006",
    "a secret cannot be changed",
    meaning="Secrets are immutable, since flows and caches refer to them by their names.",
    example='secret.name = "OTHER"',
    cure="Make another one.",
)
SECRET_TOO_COMMON: Final = Kind(
    "DF1084",
    "is too common to be masked, and is written in clear",
    meaning="A value is not masked if it is a word or a number of fewer than 16 characters, has fewer than 4 "
    "different characters, or is part of the paths of the process: it also occurs in other text.",
    example='Secret("PASSWORD", "password").reveal()',
    cure="Use a longer secret with letters and digits, or pass the value as ordinary data if it is none.",
)
