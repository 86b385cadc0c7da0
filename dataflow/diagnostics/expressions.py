"""Problems of expressions and templates (DF07)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

SOURCE_NOT_TEXT: Final = Kind(
    "DF0701",
    "an expression or template is written as a string",
    meaning="A config field that holds an expression or a template was given another value.",
    example="config: {condition: 3}",
    cure='Write the expression in quotes: `condition: "value > 3"`.',
)
SOURCE_EMPTY: Final = Kind(
    "DF0702",
    "is empty",
    meaning="An expression has nothing in it, so it has no value.",
    example='Expression("")',
    cure="Write an expression, such as `value > 3`.",
)
SOURCE_TOO_LONG: Final = Kind(
    "DF0703",
    "is too long",
    hint="DATAFLOW_MAX_EXPRESSION_CHARACTERS allows more",
    meaning="The source of an expression or template has a maximum length, so that it is read quickly.",
    example='Template("x" * 10_001)',
    cure="Pass long text as a value, and write only its name in the template.",
)
SYNTAX_INVALID: Final = Kind(
    "DF0704",
    "{error}",
    meaning="An expression or template cannot be parsed: something is written where nothing like it can be.",
    example='Expression("a b")',
    cure="Look at the line and column, and at what was found there.",
)
NEVER_CLOSED: Final = Kind(
    "DF0705",
    "{opening!r} is never closed",
    meaning="A bracket, `{{` or `{%` is opened and not closed.",
    example='Expression("items[0")',
    cure="Write the closing bracket.",
)
ENDS_TOO_EARLY: Final = Kind(
    "DF0706",
    "ends too early",
    meaning="An expression, the code in `{{ }}` or `{% %}`, or a template with `{% if %}` is incomplete.",
    example='Expression("value >")',
    cure="Write what is missing: an operand after an operator, or `{% endif %}`.",
)
TEMPLATE_TAG_UNKNOWN: Final = Kind(
    "DF0707",
    "{tag!r} is not allowed in a template",
    meaning="Templates insert values and choose between texts; they have no loops, assignments or comments.",
    example='Template("{% for item in items %}{{ item }}{% endfor %}")',
    cure="Compute the value in a node before the template, and insert it with `{{ }}`.",
)
TEMPLATE_TAG_ALONE: Final = Kind(
    "DF0708",
    "{tag!r} has no {{% if %}} before it",
    meaning="`{% elif %}`, `{% else %}` and `{% endif %}` belong to an `{% if %}`.",
    example='Template("{{ a }}{% endif %}")',
    cure="Write the `{% if %}`, or remove the tag.",
)
NAME_UNDERSCORE: Final = Kind(
    "DF0709",
    "a name begins with an underscore",
    meaning="Names with a leading underscore are private in Python, so expressions cannot read them.",
    example='Expression("user._password")',
    cure="Read a public field.",
)
DOLLAR_MISPLACED: Final = Kind(
    "DF0710",
    "`$` is allowed only in front of a name, as in `$value`",
    hint="`$value` and `value` are the same name",
    meaning="A dollar sign may be written in front of a name, and nowhere else.",
    example='Expression("row.$title")',
    cure="Remove the dollar sign: `row.title`.",
)
ESCAPE_UNKNOWN: Final = Kind(
    "DF0711",
    "`{escape}` is not an escape sequence",
    hint="write a backslash as `\\\\`",
    meaning="A backslash in a string begins an escape sequence of Python, and this one does not exist.",
    example="Expression(r\"'\\d'\")",
    cure="Double the backslash.",
)
NESTED_TOO_DEEP: Final = Kind(
    "DF0712",
    "is nested too deep",
    hint="DATAFLOW_MAX_EXPRESSION_LEVELS allows more",
    meaning="Brackets, signs and conditions can be nested to a maximum depth.",
    example='Expression("(" * 21 + "1" + ")" * 21)',
    cure="Split the expression over two nodes.",
)
SYNTAX_NOT_ALLOWED: Final = Kind(
    "DF0713",
    "{what} is not allowed",
    meaning="Expressions are a small, safe part of Python's, without filters, tuples and tests.",
    example='Expression("name | upper")',
    cure="Use a function, as in `upper(name)`, or write a node in Python.",
)
FUNCTION_UNKNOWN: Final = Kind(
    "DF0714",
    "{what} cannot be called",
    meaning="Expressions call only the functions that are listed, and no methods of values.",
    example='Expression("text.upper()")',
    cure="Use one of the functions, as in `upper(text)`, or write a node in Python.",
)
ARGUMENTS_INVALID: Final = Kind(
    "DF0715",
    "{function}() has the wrong arguments",
    meaning="A function of expressions takes a fixed number of arguments, by position.",
    example='Expression("len(a, b)")',
    cure="Pass as many arguments as it takes, without names.",
)
ELSE_MISSING: Final = Kind(
    "DF0716",
    "`a if b` has no `else`",
    meaning="A conditional expression needs a value for both cases.",
    example="Expression(\"'large' if value > 3\")",
    cure="Write `else` with a second value.",
)
NAME_UNKNOWN: Final = Kind(
    "DF0717",
    "unknown name {names}",
    meaning="An expression reads a name that has no value where it is evaluated.",
    example='Expression("total > 3").evaluate({"value": 4})',
    cure="Read one of the available names, or write text in quotes: `'total'`.",
)
OPERAND_INVALID: Final = Kind(
    "DF0718",
    "",
    meaning="An operator, a condition or a function of an expression was given a value of another type.",
    example='Expression("value + 1").evaluate({"value": "2"})',
    cure="Convert the value with `int()`, `float()` or `str()`; compare it where a boolean is expected.",
)
INTEGER_TOO_LARGE: Final = Kind(
    "DF0719",
    "an integer is too large",
    meaning="Integers in expressions have a maximum size, so that evaluation takes bounded time.",
    example='Expression("9 ** 9999")',
    cure="Use a float, or compute it in a node.",
)
RESULT_TOO_LONG: Final = Kind(
    "DF0720",
    "the result is too long",
    hint="DATAFLOW_MAX_EXPRESSION_RESULT allows more",
    meaning="An expression or template would make a string or a list that is longer than the maximum.",
    example='Expression("text ~ text").evaluate({"text": "x" * 600_000})',
    cure="Shorten the values, or build the result in a node.",
)
TOO_MANY_STEPS: Final = Kind(
    "DF0721",
    "takes too much work",
    hint="DATAFLOW_MAX_EXPRESSION_RESULT allows more",
    meaning="An evaluation makes and compares at most so many characters and items in total.",
    example='Expression("rows == others")   # of lists with millions of items',
    cure="Compare less, or do it in a node.",
)
ITEM_MISSING: Final = Kind(
    "DF0722",
    "{value} has no {item}",
    meaning="An expression reads a key, a field or an item that a value does not have.",
    example='Expression("row.title").evaluate({"row": {\'name\': 1}})',
    cure="Read one that exists; test with `in` where a key may be missing.",
)
KINDS_DIFFER: Final = Kind(
    "DF0723",
    "cannot compare {left} with {right}",
    hint="convert one of them with int(), float() or str()",
    meaning="Strings, numbers and booleans are compared only with their own kind.",
    example='Expression("count == \'3\'").evaluate({"count": 3})',
    cure="Write the constant as the other kind, `count == 3`, or convert the value.",
)
COMPARISON_INVALID: Final = Kind(
    "DF0724",
    "a comparison returned {value}",
    expected="a boolean",
    meaning="The class of a value defines a comparison that does not answer true or false.",
    example='Expression("a == b")   # of arrays, which are compared item by item',
    cure="Compare fields or items of the values, or compare them in a node.",
)
EVALUATION_RAISED: Final = Kind(
    "DF0725",
    "raised {error}",
    meaning="An operation of the expression, or a method of a value, raised an error.",
    example='Expression("1 / value").evaluate({"value": 0})',
    cure="Test the value first: `1 / value if value != 0 else 0`.",
)
VALUE_TOO_DEEP: Final = Kind(
    "DF0726",
    "a value is nested too deep",
    meaning="A value that the expression compares or writes contains too many levels of other values.",
    example='Expression("a == b")   # of lists in lists, thousands of levels deep',
    cure="Compare or insert a part of the value.",
)
TEXT_IMPOSSIBLE: Final = Kind(
    "DF0727",
    "{value} cannot be converted to a string",
    meaning="A value has no text: it is not a JSON value, contains itself, or has too many digits.",
    example='Template("{{ user }}").fill({"user": object()})',
    cure="Insert one of its fields.",
)
