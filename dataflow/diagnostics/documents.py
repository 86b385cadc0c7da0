"""Problems of files and documents (DF01)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

FILE_UNREADABLE: Final = Kind(
    "DF0101",
    "cannot be read: {error}",
    meaning="A file does not exist, is not a regular file, or may not be read.",
    example='Flow.load("missing.yaml")',
    cure="Check the path and the permissions of the file.",
)
FILE_NOT_UTF8: Final = Kind(
    "DF0102",
    "is not UTF-8",
    meaning="Documents are text in UTF-8, and the file contains a byte that is not.",
    example="name: caf\\xe9   # written by an editor in Latin-1",
    cure="Save the file as UTF-8.",
)
FILE_TOO_LARGE: Final = Kind(
    "DF0103",
    "is too large",
    hint="DATAFLOW_MAX_DOCUMENT_BYTES allows more",
    meaning="A document has a maximum size.",
    example="# a flow with tens of megabytes of constants",
    cure="Keep large data in files of their own, and read them in nodes.",
)
FILE_EMPTY: Final = Kind(
    "DF0104",
    "is empty",
    meaning="The file contains no document, or only comments.",
    example="# nothing but a comment",
    cure="Write a document that begins with `dataflow: 1`.",
)
YAML_INVALID: Final = Kind(
    "DF0105",
    "is not valid YAML: {error}",
    meaning="The file cannot be parsed as YAML.",
    example="nodes: {a: {type: control.if}",
    cure="Correct the syntax at the line and column: brackets, indentation, quotes.",
)
JSON_INVALID: Final = Kind(
    "DF0106",
    "is not valid JSON: {error}",
    meaning="The name of the file ends in `.json`, and it cannot be parsed as JSON.",
    example='{"dataflow": 1,}',
    cure="Correct the syntax at the line and column, or name the file `.yaml`.",
)
CHARACTER_INVALID: Final = Kind(
    "DF0107",
    "{character} is not allowed",
    meaning="YAML allows no control characters, and no document allows half of a surrogate pair.",
    example='{"dataflow": 1, "name": "\\ud800"}',
    cure='Remove the character; in YAML write a control character as an escape in quotes: "\\x07".',
)
TAG_UNKNOWN: Final = Kind(
    "DF0108",
    "the tag {tag} is not supported",
    meaning="Documents allow only the standard tags of YAML, such as !!str and !!int.",
    example="name: !env HOME",
    cure="Remove the tag.",
)
TAG_MISMATCH: Final = Kind(
    "DF0109",
    "a value does not have the type of its tag",
    meaning="A standard tag of YAML is written in front of a value of another type.",
    example="meta: {count: !!int three}",
    cure="Remove the tag, or correct the value.",
)
SECOND_DOCUMENT: Final = Kind(
    "DF0110",
    "a second document begins here",
    hint="write one document in a file",
    meaning="A line `---` begins another document of YAML in the same file.",
    example="dataflow: 1\n---\ndataflow: 1",
    cure="Split the file, or remove the line.",
)
KEY_NOT_STRING: Final = Kind(
    "DF0111",
    "a key is not a string",
    hint="put it in quotes",
    meaning="YAML reads an unquoted key such as `1`, `true` or `{{ x }}` as something else than a string.",
    example="meta: {1: one}",
    cure="Put the key in quotes: `'1': one`. Put text that begins with a brace in quotes too.",
)
KEY_TWICE: Final = Kind(
    "DF0112",
    "the key {key!r} occurs twice; the first is in line {line}",
    meaning="A mapping has the same key twice, and one of the two would be ignored.",
    example="name: a\nname: b",
    cure="Remove or rename one of the two.",
)
ALIAS_UNKNOWN: Final = Kind(
    "DF0113",
    "the alias *{alias} has no anchor before it",
    meaning="An alias of YAML repeats the value of an anchor, which has to come first.",
    example="name: *title",
    cure="Write the anchor first, `&title`, or put text that begins with an asterisk in quotes.",
)
ALIAS_RECURSIVE: Final = Kind(
    "DF0114",
    "the alias *{alias} is inside its own anchor",
    meaning="The value of an anchor would contain itself.",
    example="meta: &a {inner: *a}",
    cure="Write the inner value out.",
)
ALIASES_TOO_LARGE: Final = Kind(
    "DF0115",
    "the aliases expand to too much",
    hint="DATAFLOW_MAX_ALIASED_CHARACTERS allows more",
    meaning="Aliases repeat values, and with them the document would be larger than a document may be.",
    example="a: &a [...]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]",
    cure="Repeat less.",
)
NESTED_TOO_DEEP: Final = Kind(
    "DF0116",
    "is nested too deep",
    hint="DATAFLOW_MAX_DOCUMENT_LEVELS allows more",
    meaning="Mappings and lists can be nested to a maximum depth.",
    example="meta: [[[[...]]]]   # more than 100 levels",
    cure="Write the value flatter.",
)
NUMBER_TOO_LONG: Final = Kind(
    "DF0117",
    "a number has too many digits",
    meaning="Numbers in documents have a maximum length.",
    example="meta: {n: 1000...}   # more than 1000 digits",
    cure="Write it as a string, and convert it in a node.",
)
NUMBER_TOO_LARGE: Final = Kind(
    "DF0192",
    "a number is too large",
    meaning="A number of JSON or YAML is beyond what a float can hold, and would be read as infinity.",
    example="meta: {n: 1e999}",
    cure="Write a smaller number; in YAML `.inf` is infinity.",
)
MERGE_KEY: Final = Kind(
    "DF0193",
    "merge keys (`<<`) are not supported",
    hint="write the keys out, or repeat a whole value with an alias",
    meaning="YAML 1.2 has no merge keys; they belong to a library of YAML 1.1. Anchors and aliases are read.",
    example="a: &a {x: 1}\nb: {<<: *a, y: 2}",
    cure="Write the keys out. A key that is really called `<<` is put in quotes.",
)
NOT_A_DOCUMENT: Final = Kind(
    "DF0118",
    "is not a flow document",
    meaning="A flow document is a mapping whose key `dataflow` is the number of the format.",
    example="- one\n- two",
    cure="Begin the file with `dataflow: 1`.",
)
FORMAT_NEWER: Final = Kind(
    "DF0119",
    "is written in a newer version of the format",
    meaning="The document was written for a later release of dataflow.",
    example="dataflow: 2",
    cure="Update dataflow, or write the document in the version that is expected.",
)
FIELD_MISSING: Final = Kind(
    "DF0120",
    "is missing",
    meaning="A part of a document does not have a key that it needs.",
    example="nodes: {a: {type: control.switch, config: {}}}   # without cases",
    cure="Add the key.",
)
FIELD_UNKNOWN: Final = Kind(
    "DF0121",
    "is not a known key",
    hint="{instead}",
    meaning="A part of a document has a key that is not known there; often it is misspelt or indented.",
    example="dataflow: 1\nnodez: {}",
    cure="Correct or remove the key; put your own data under `meta`.",
)
VALUE_INVALID: Final = Kind(
    "DF0122",
    "",
    meaning="A value in a document has another type than its key requires, or is outside its limits.",
    example="policy: {timeout: 0}",
    cure="Write a value of the type that is expected.",
)
VALUE_REFUSED: Final = Kind(
    "DF0123",
    "{error}",
    meaning="A value in a document has the right type, and a check of the model that reads it refuses it.",
    example="# a model of a pack whose validator raises ValueError",
    cure="Look at the message of the check.",
)
NODE_INVALID: Final = Kind(
    "DF0124",
    "is not a node",
    expected="a mapping with exactly one of the available keys",
    meaning="A node of a document is a node type, a subflow, a loop or a map, distinguished by one key.",
    example="nodes: {a: {type: control.if, loop: {}}}",
    cure="Write exactly one of the keys.",
)
SOURCE_INVALID: Final = Kind(
    "DF0125",
    "is not a source",
    expected="`node.port`, or a mapping with one of the available keys",
    meaning="An input reads a port, or an expression over ports such as `merge` or `gather`.",
    example="inputs: {text: {plus: 1}}",
    cure="Write a port, one of the keys, or `{value: ...}` for a constant.",
)
EACH_SEVERAL: Final = Kind(
    "DF0126",
    "`each` takes one list",
    hint="for several lists use a map block with `over`",
    meaning="`each` maps over the items of one list.",
    example="inputs: {pair: {each: [left, right]}}",
    cure="Write a map block: `map: {over: {left: left, right: right}, ...}`.",
)
NAME_RESERVED: Final = Kind(
    "DF0127",
    "{name!r} is reserved for {meaning}",
    hint="use another name",
    meaning="A node or a prefix of `uses` has a name with a fixed meaning.",
    example="uses: {control: ./own.py}",
    cure="Rename it.",
)
FIELD_MISPLACED: Final = Kind(
    "DF0128",
    "is allowed only {where}",
    meaning="A key is known, and has no effect on this kind of part.",
    example="edges: [{source: a, target: b, target_port: text, limit: 3}]",
    cure="Remove the key, or move it to a part that takes it.",
)
LIMIT_EMPTY: Final = Kind(
    "DF0129",
    "limits nothing",
    hint="write `slots`, `per_second` or both",
    meaning="A named limit under `using` sets neither a number of slots nor a rate.",
    example="using: {limits: {api: {}}}",
    cure="Write `api: {slots: 4}`, for example.",
)
LOOP_TESTS: Final = Kind(
    "DF0130",
    "a loop has two tests",
    hint="write `until` or `while`",
    meaning="A loop ends by one test: `until` after an iteration, or `while` before it.",
    example="loop: {until: a, while: b}",
    cure="Remove one of the two; combine them in a node if both are needed.",
)
SOURCE_AND_VALUE: Final = Kind(
    "DF0131",
    "has a source in `inputs` and a constant in `values`",
    meaning="A port is given twice.",
    example="inputs: {x: load}\nvalues: {x: 1}",
    cure="Remove one of the two.",
)
SECRET_TYPE: Final = Kind(
    "DF0132",
    "`secret` is not a JSON type",
    hint="write {{type: string, format: secret}}",
    meaning="An input that takes a secret is a string with the format `secret`.",
    example="inputs: {token: {type: secret}}",
    cure="Write `token: {type: {type: string, format: secret}}`.",
)
FILE_IN_ITSELF: Final = Kind(
    "DF0133",
    "contains itself: {files}",
    meaning="A document uses a file as a subflow that uses the document again.",
    example="nodes: {again: {flow: this_file.yaml}}",
    cure="Write a loop instead.",
)
OPTION_UNKNOWN: Final = Kind(
    "DF0134",
    "the format {format!r} has no option {option!r}",
    meaning="`Flow.load` was given an option that the format of the file does not have.",
    example='Flow.load("flow.yaml", branch="main")',
    cure="Remove the option, or use one of the format's options.",
)
FORMAT_UNKNOWN: Final = Kind(
    "DF0135",
    "there is no format {format!r}",
    meaning="`format=` names a file format that no installed package offers.",
    example='Flow.load("flow.vsdx", format="visio")',
    cure="Correct the name, or install the package that has the format.",
)
FORMAT_UNRECOGNISED: Final = Kind(
    "DF0136",
    "is not a file of a known format",
    hint="write `dataflow: 1`, or name the format",
    meaning="The file is neither a flow document nor recognised by one of the formats of other systems.",
    example="steps: [a, b]",
    cure="Begin a flow document with `dataflow: 1`; name the format of another file with `format=`.",
)
FORMAT_AMBIGUOUS: Final = Kind(
    "DF0137",
    "matches several formats",
    hint="name one",
    meaning="More than one format of other systems recognises the file.",
    example="# a file with the keys of two formats",
    cure="Name the format: `Flow.load(path, format=...)`.",
)
FORMAT_BROKEN: Final = Kind(
    "DF0138",
    "no format that can be used recognises it: {faults}",
    meaning="No format recognises the file, and some installed formats cannot be imported.",
    example="# a package whose format fails to import",
    cure="Repair or remove the package that is named.",
)
FORMAT_FAILED: Final = Kind(
    "DF0139",
    "the format {format!r} cannot translate it: {error}",
    meaning="The code of a format raised an error: a mistake in the format, not in the file.",
    example="# a translation that raises KeyError",
    cure="Report it to the authors of the format.",
)
FORMAT_RESULT: Final = Kind(
    "DF0140",
    "the format {format!r} does not return a document",
    expected="a mapping",
    meaning="The translation of a format returned something else than a native document.",
    example="translate=lambda data, options, notes: None",
    cure="Return the document as a mapping.",
)
FORMAT_TYPE: Final = Kind(
    "DF0141",
    "is not a format",
    expected="a Format",
    meaning="An entry point of the group `dataflow.formats` leads to something else than a `Format`.",
    example='[project.entry-points."dataflow.formats"]\nown = "own_package:translate"',
    cure="Let it lead to a `Format` object.",
)
USES_FILE_MISSING: Final = Kind(
    "DF0142",
    "there is no file {file}",
    meaning="A document names a Python file under `uses` that does not exist.",
    example="uses: {own: ./own.py}",
    cure="Correct the path, which is relative to the document.",
)
USES_INVALID: Final = Kind(
    "DF0143",
    "{name} is neither a Python file nor the name of a module",
    meaning="An entry of `uses` is a path that does not end in `.py`.",
    example="uses: {own: ../own}",
    cure="Write the path with its suffix, `../own.py`, or the name of an installed module.",
)
USES_FUNCTION_MISSING: Final = Kind(
    "DF0144",
    "there is no such function in the file or module under `uses`",
    meaning="A node type `prefix.function` names a function that its file does not define.",
    example="uses: {own: ./own.py}\nnodes: {a: {type: own.missing}}",
    cure="Correct the name, or define the function at the top of the file.",
)
USES_CIRCULAR: Final = Kind(
    "DF0145",
    "{file} is being imported and has no such function yet",
    hint="load the flow inside a function",
    meaning="A Python file loads a document on import that uses the file itself.",
    example='flow = Flow.load("flow.yaml")   # at the top of own.py, which flow.yaml uses',
    cure="Load the flow in a function, after the file has been imported.",
)
SIGNATURE_UNREADABLE: Final = Kind(
    "DF0146",
    "its ports cannot be read: {error}",
    meaning="Inspecting a callable under `uses` raised an error.",
    example="own.call   # an object whose __getattr__ raises KeyError",
    cure="Use a plain `async def`.",
)
VALUE_UNWRITABLE: Final = Kind(
    "DF0147",
    "{what} cannot be written in a document",
    meaning="A flow built in Python has a value or a setting for which documents have no notation.",
    example="flow.add(show, value=object()); flow.to_dict()",
    cure="Use JSON values, make the value in a node, or pass it as an input.",
)
VALUE_NOT_RESTORED: Final = Kind(
    "DF0148",
    "the config would not be read back unchanged",
    meaning="A config has a value that becomes another one, or is refused, when its document is read.",
    example="Options(pair=(1, 2))   # of a field of type Any, read back as [1, 2]",
    cure="Give the field a type that restores the value, such as `tuple[int, int]`.",
)
FUNCTION_UNNAMED: Final = Kind(
    "DF0149",
    "{function} has no name in documents",
    hint="documents name functions at the top of a module, as module:qualname",
    meaning="A flow with a lambda or a local function cannot be written as a document.",
    example="flow.when(value, lambda x: x > 3); flow.to_dict()",
    cure="Define the function at the top of a module, or write the test as an expression.",
)
FUNCTION_HIDDEN: Final = Kind(
    "DF0150",
    "{function} has the name of a pack of the engine",
    hint="rename the module {module}",
    meaning="A module has the name of a pack of the engine, so a document cannot name its functions.",
    example="# a module called control.py with a node function",
    cure="Rename the module.",
)
TYPE_WITHOUT_SCHEMA: Final = Kind(
    "DF0151",
    "the type {type} cannot be declared in a document: {why}",
    hint="declare a JSON type, and make the object in a node",
    meaning="An input has a type whose objects no JSON Schema makes, such as a model, an enum or a set.",
    example='flow.input("order", Order); flow.to_dict()   # a pydantic model',
    cure="Declare the input as `dict[str, Any]` or another JSON type, and add a node that makes the object.",
)
