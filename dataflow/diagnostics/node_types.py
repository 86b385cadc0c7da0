"""Problems of node functions, configs, ports and policies (DF04)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

FUNCTION_NOT_ASYNC: Final = Kind(
    "DF0401",
    "is not an async function",
    hint="use `async def`, or @threaded for code that blocks",
    meaning="A node is an async function, and another one was added.",
    example="def inc(x: int) -> int: ...\n\nflow.add(inc, x=1)",
    cure="Write `async def`, or declare a function that blocks with @threaded.",
)
THREADED_IS_ASYNC: Final = Kind(
    "DF0402",
    "is an async function, which does not run in a thread",
    hint="use @node; @threaded is for code that blocks",
    meaning="@threaded was applied to an async function.",
    example="@threaded\nasync def fetch(url: str) -> str: ...",
    cure="Replace @threaded by @node, or write `def` if the function blocks.",
)
COROUTINE_ADDED: Final = Kind(
    "DF0403",
    "is a coroutine, the result of calling the function",
    hint="pass the function itself",
    meaning="The function was called where the function itself is expected.",
    example="flow.add(inc(1))",
    cure="Write `flow.add(inc, 1)`.",
)
ANNOTATION_UNRESOLVED: Final = Kind(
    "DF0404",
    "annotation {annotation!r} cannot be resolved ({error})",
    hint="it must be importable from the module of the function",
    meaning="The types of ports are read from annotations, and one of them names a type that is not found.",
    example="async def load(page: Page) -> str: ...   # Page is imported under TYPE_CHECKING only",
    cure="Import the type at run time, in the module of the function.",
)
SIGNATURE_UNREADABLE: Final = Kind(
    "DF0405",
    "its ports cannot be read: {error}",
    meaning="The signature of the function, or the class of its result, cannot be inspected.",
    example="flow.add(threaded(max), [1, 2])",
    cure="Write a function with annotated parameters that calls it.",
)
PORTS_REQUIRED: Final = Kind(
    "DF0406",
    "**{name} does not say which ports there are",
    hint="declare the function with @node(ports=...)",
    meaning="A function with **kwargs takes ports that its config adds, and needs a function to name them.",
    example="async def fill(config: Form, **values: str) -> str: ...",
    cure="Declare it with `@node(ports=...)`, a function of the config that returns `Ports`.",
)
CONFIG_TWICE: Final = Kind(
    "DF0407",
    "{first!r} and {second!r} are both config",
    expected="one config",
    meaning="Two parameters of a node function are annotated with subclasses of Config.",
    example="async def load(a: Options, b: Limits) -> str: ...",
    cure="Combine the settings in one class.",
)
PORT_NAME_TAKEN: Final = Kind(
    "DF0408",
    "the node has another port or parameter {name!r}",
    hint="rename it",
    meaning="A port has a name that is taken: by another parameter, or by a port that every such node has, "
    "such as `out`, `$done`, `$error` or `context`.",
    example="class Parts(NamedTuple):\n    out: str   # `out` is the whole result",
    cure="Give the port another name.",
)
RAW_PARAMETER_UNKNOWN: Final = Kind(
    "DF0409",
    "a raw node does not take a parameter {name!r}",
    meaning="A function that returns a NodeOutput is a raw node, whose parameters have fixed names.",
    example="async def load(url: str) -> NodeOutput: ...",
    cure="Read the value from `inputs`, or return the value itself.",
)
RAW_CONFIG_INVALID: Final = Kind(
    "DF0410",
    "the config of a raw node has another type",
    expected="a subclass of Config, or no annotation",
    meaning="The parameter `config` of a raw node is annotated with a type that is not a config.",
    example="async def load(config: int) -> NodeOutput: ...",
    cure="Annotate it with a subclass of Config.",
)
PORTS_FUNCTION_FAILED: Final = Kind(
    "DF0411",
    "ports= raised {error}",
    meaning="The function that names the ports for a config raised an error.",
    example="@node(ports=lambda config: Ports(config.fields[0]))",
    cure="Let it return `Ports` for every valid config, and validate the rest in the config.",
)
PORTS_FUNCTION_INVALID: Final = Kind(
    "DF0412",
    "ports= returned another type",
    expected="Ports(inputs, outputs)",
    meaning="The function that names the ports for a config returned something other than `Ports`.",
    example="@node(ports=lambda config: config.fields)",
    cure="Return `Ports(inputs={...}, outputs={...})`.",
)
PORTS_NOT_TAKEN: Final = Kind(
    "DF0413",
    "ports= names inputs ({names}), but the function has no **kwargs for them",
    meaning="Inputs that the config adds are passed to the function as keywords.",
    example="@node(ports=lambda config: Ports({'y': int}))\nasync def load(config: Form) -> int: ...",
    cure="Add `**values` to the parameters of the function.",
)
CONFIG_NOT_TAKEN: Final = Kind(
    "DF0414",
    "the node takes no config",
    meaning="A config was given to a node whose function has no parameter of a Config type.",
    example="nodes: {a: {type: control.now, config: {zone: utc}}}",
    cure="Remove the config.",
)
CONFIG_INVALID: Final = Kind(
    "DF0415",
    "",
    meaning="A config, or a field of it, does not have the type that its class declares.",
    example='flow.add(load, {"size": "large"})   # size: int',
    cure="Pass a value of the expected type.",
)
CONFIG_FIELD_MISSING: Final = Kind(
    "DF0416",
    "is missing",
    meaning="A field of the config has no default and was not given.",
    example="flow.add(load, {})   # size: int",
    cure="Add the field.",
)
CONFIG_FIELD_UNKNOWN: Final = Kind(
    "DF0417",
    "is not a field of the config",
    meaning="A config was given with a field that its class does not have.",
    example='flow.add(load, {"sizes": 3})   # size: int',
    cure="Correct the name of the field.",
)
CONFIG_REFUSED: Final = Kind(
    "DF0418",
    "{error}",
    meaning="A validator of the config's class refused a value; the message is that of the validator.",
    example='flow.add(load, {"size": -1})   # a validator raises ValueError("a size is positive")',
    cure="Pass a value that the validator accepts.",
)
DECISION_INVALID: Final = Kind(
    "DF0419",
    "the branch does not say once how it decides",
    meaning="A branch decides by a function or by conditions that are expressions, and needs exactly one.",
    example="nodes: {a: {type: control.if, inputs: {value: $in.x}}}",
    cure="Give it `condition`, an expression over `value`, or a function.",
)
DEFAULT_WITHOUT_EXPIRY: Final = Kind(
    "DF0420",
    "a default needs `expires`",
    hint="it is the answer when that time is over",
    meaning="An ask takes its default when nobody has answered in time, and it has no time limit.",
    example='flow.ask(bool, "Publish?", default=False)',
    cure="Add `expires`, in seconds, or remove the default.",
)
SCHEMA_INVALID: Final = Kind(
    "DF0421",
    "the JSON Schema is invalid",
    meaning="A type is described by a JSON Schema, of which a part is malformed.",
    example="type: {type: array, minItems: two}",
    cure="Correct the part that the message names.",
)
SCHEMA_REFERENCE_UNKNOWN: Final = Kind(
    "DF0422",
    "{reference!r} does not lead to a part of this schema",
    meaning="A `$ref` in a JSON Schema names a definition that the schema does not contain.",
    example="type: {$ref: '#/$defs/Page'}   # without $defs",
    cure="Add the definition, or correct the reference.",
)
SCHEMA_TYPE_UNKNOWN: Final = Kind(
    "DF0423",
    "there is no JSON type {name!r}",
    hint="{advice}",
    meaning="A type is given by the name of a JSON type, and there is none of that name.",
    example="inputs: {url: {type: text}}",
    cure="Use one of the available names; dates, paths and secrets are strings with a `format`.",
)
SCHEMA_KEYWORD_UNCHECKED: Final = Kind(
    "DF0480",
    "values cannot be checked by {keyword!r}",
    hint="a keyword for another program begins with x-",
    meaning="A JSON Schema has a keyword that is not one of its draft, or that the engine does not check.",
    example="type: {type: integer, minimun: 1}",
    cure="Correct the keyword, express it otherwise, or check the value in a node.",
)
SCHEMA_FORMAT_UNCHECKED: Final = Kind(
    "DF0481",
    "strings cannot be checked by the format {format!r}",
    meaning="A JSON Schema has a `format` that is not among those that the engine checks.",
    example="type: {type: string, format: iban}",
    cure="Use an available format, or a `pattern`.",
)
SCHEMA_PATTERN_UNCHECKED: Final = Kind(
    "DF0482",
    "strings cannot be checked by the pattern {pattern!r}: {reason}",
    hint="patterns have no look-around and no back-references, and at most 1,000 characters",
    meaning="Patterns are matched in a time that is in proportion to the string, which not every one allows.",
    example="type: {type: string, pattern: '(?=.*[0-9])(?=.*[a-z])'}",
    cure="Write a look-ahead as one of several patterns in `allOf`, a negative one with `not`.",
)
SCHEMA_REFERENCE_REMOTE: Final = Kind(
    "DF0483",
    "{reference!r} leads to another document, which is not fetched",
    meaning="A `$ref` in a JSON Schema leads out of the schema. Nothing is fetched to check a value.",
    example="type: {$ref: 'https://example.org/person.json'}",
    cure="Copy the definition into `$defs`, and refer to it as `#/$defs/NAME`.",
)
SCHEMA_CYCLIC: Final = Kind(
    "DF0484",
    "references lead back to where they begin, for the same value",
    meaning="Parts of a JSON Schema refer to each other without a field or an item between them.",
    example="type: {$ref: '#/$defs/n', $defs: {n: {$ref: '#/$defs/n'}}}",
    cure="Break the cycle, or put a property between the two.",
)
SCHEMA_DRAFT_UNKNOWN: Final = Kind(
    "DF0485",
    "the draft of the JSON Schema is unknown",
    expected="the address of a draft, such as https://json-schema.org/draft/2020-12/schema",
    meaning="`$schema` names a set of keywords that the engine does not know.",
    example="type: {$schema: 'https://example.org/dialect', type: string}",
    cure="Name a draft from 3 to 2020-12, or remove `$schema`.",
)
PUBLIC_NAME_INVALID: Final = Kind(
    "DF0424",
    "`__stored_as__` is not the name of a pack",
    expected="letters, digits and _",
    meaning="A package gives its classes and functions a public name that cannot be one.",
    example='__stored_as__ = "my tools"',
    cure="Use the name of the pack.",
)
PUBLIC_NAME_RESERVED: Final = Kind(
    "DF0425",
    "`__stored_as__` = {name!r} is reserved for the engine",
    hint="use the name of its own pack",
    meaning="A package gives its classes and functions the public name of the engine or one of its packs.",
    example='__stored_as__ = "control"   # in a package that is not part of the engine',
    cure="Use the name of the pack.",
)
IMPORT_FAILED: Final = Kind(
    "DF0428",
    "cannot be imported: {error}",
    meaning="A function, file or pack that a flow names raised an error while it was imported.",
    example="nodes: {a: {type: 'tools:load'}}   # there is no module `tools` on the import path",
    cure="Correct the name, or install what the module needs.",
)
IMPORTED_NOT_CALLABLE: Final = Kind(
    "DF0429",
    "is not a function",
    meaning="A name that should lead to a function leads to something else.",
    example="nodes: {a: {type: 'math:pi'}}",
    cure="Name a function or a node.",
)
