"""Problems of the control pack (DF30)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

EXPIRES_MISSING: Final = Kind(
    "DF3001",
    "a default answer needs `expires`",
    meaning="The default of an approval is its answer once its time is over, so it needs a time.",
    example='Approval(default="reject")',
    cure='Say how long to wait: `Approval(default="reject", expires=3600)`.',
)
NAME_RESERVED: Final = Kind(
    "DF3002",
    "the node itself uses the name {name!r}",
    hint="choose another name",
    meaning="The names of an expression or template become input ports; the node has one of that name.",
    example='Compute(expression="config + 1")',
    cure="Rename the input.",
)
NAME_UNKNOWN: Final = Kind(
    "DF3003",
    "the name {name!r} is unknown here",
    meaning="The template of a message may use the value that passes, as `value`, and nothing else.",
    example='Log(message="got {{ x }}")',
    cure="Use one of the available names.",
)
NOT_COMPARABLE: Final = Kind(
    "DF3004",
    "{item} cannot be compared",
    hint="{advice}",
    meaning="Items are sorted, and compared with each other, by numbers, strings, booleans or null.",
    example="sort_list([{}, {}])",
    cure='Compare by a part of each item: `Sort(key="item.size")`.',
)
KEYS_MIXED: Final = Kind(
    "DF3005",
    "items of different kinds cannot be sorted",
    meaning="Numbers are sorted with numbers and strings with strings; booleans and null are not sorted.",
    example='sort_list([1, "a"])',
    cure='Convert them by a key: `Sort(key="string(item)")`.',
)
TOO_LARGE: Final = Kind(
    "DF3006",
    "{what} is too large",
    meaning="A node refuses to make or read a string, a list or a number above its limit.",
    example="numbers(stop=10_000_000)",
    cure="Process the data in smaller parts, or set DATAFLOW_MAX_TEXT_CHARACTERS or DATAFLOW_MAX_LIST_ITEMS.",
)
TOO_MUCH_WORK: Final = Kind(
    "DF3007",
    "the items take too much work",
    hint="DATAFLOW_MAX_LIST_STEPS allows more",
    meaning="A node that looks at each item, or writes JSON, has a limit for all of its steps.",
    example="sort_list over very many long strings",
    cure="Filter the items first, or process them in smaller parts.",
)
TEXT_EMPTY: Final = Kind(
    "DF3008",
    "is empty",
    expected="at least one character",
    meaning="A string cannot be split at nothing, nor can nothing be replaced in it.",
    example='split_text("abc", separator="")',
    cure="Pass the string to look for.",
)
STEP_ZERO: Final = Kind(
    "DF3009",
    "is 0",
    expected="a number to count by",
    meaning="Numbers that are counted by 0 never reach their end.",
    example="numbers(stop=10, step=0)",
    cure="Pass a positive or a negative step.",
)
JSON_TOO_DEEP: Final = Kind(
    "DF3010",
    "nested too deep for JSON",
    meaning="Lists and mappings are nested deeper than the JSON reader or writer of Python supports.",
    example='parse_json("[" * 100_000)',
    cure="Use a flatter structure.",
)
JSON_CONSTANT: Final = Kind(
    "DF3011",
    "{name} does not exist in JSON",
    expected="a number, string, boolean, null, list or object",
    meaning="NaN and Infinity are written by some programs, and are not JSON.",
    example='parse_json("[NaN]")',
    cure="Let the program that writes the JSON write null, or a string.",
)
JSON_VALUE: Final = Kind(
    "DF3012",
    "the value {problem}, which JSON cannot represent",
    meaning="A value contains itself, or has a number that is not finite.",
    example='write_json(float("nan"))',
    cure="Replace that part of the value.",
)
