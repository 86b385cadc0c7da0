"""Problems of values: their types, how they are stored and how they are compared (DF06)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

VALUE_MISMATCH: Final = Kind(
    "DF0601",
    "",
    meaning="A value does not have the type of the port or the config field that it enters.",
    example='flow.run_sync(count="three")   # the input count is an int',
    cure="Pass a value of the expected type, or change the annotation of the port.",
)

# Values that cannot be stored.
NOT_STORABLE: Final = Kind(
    "DF0620",
    "{found} cannot be stored: {why}",
    hint="{advice}",
    meaning="A value of this class cannot be written so that another process reads an equal value.",
    example="async def opened() -> IO[str]: ...   # in a flow that has a store",
    cure="Pass what the value is made of instead, such as the path of a file or the items of an iterator.",
)
CLASS_NOT_NAMED: Final = Kind(
    "DF0621",
    "no type of the flow's ports names the class {name}",
    hint="name it in the type of the port",
    meaning="Instances of a class are stored and read only if the type of a port names the class.",
    example="async def load() -> Any: return Point(1, 2)   # in a flow that has a store",
    cure="Write the class in the type of the port: `-> Point` instead of `-> Any`.",
)
CLASS_AMBIGUOUS: Final = Kind(
    "DF0622",
    "two classes of the flow have the name {name}{modules}",
    hint="give them different names",
    meaning="Stored instances are recognised by the name of their class, which two classes share here.",
    example='make_dataclass("Point", ["x"])   # twice in one module',
    cure="Rename one of the classes.",
)
NESTED_TOO_DEEPLY: Final = Kind(
    "DF0623",
    "{found} is nested too deeply",
    meaning="A value has more levels of containers and objects than can be stored or compared.",
    example="for _ in range(1_000):\n    node = [node]",
    cure="Make it a list of items that refer to each other by index or name.",
)
CONTAINS_ITSELF: Final = Kind(
    "DF0624",
    "{found} contains itself{where}",
    hint="pass what it is made of",
    meaning="A value contains itself, so it has neither a stored form nor a content hash.",
    example="items = []\nitems.append(items)",
    cure="Refer to the outer value by an index or a name.",
)
NOT_TAKEN_APART: Final = Kind(
    "DF0625",
    "taking {found} apart raised {error}",
    meaning="The class of a value raised an exception when its fields were read.",
    example="@dataclass\nclass Page:\n    text: str\n\n    def __getattribute__(self, name): raise OSError",
    cure="Correct the class so that its fields can be read at any time.",
)

# Stored values that cannot be read.
DATA_MALFORMED: Final = Kind(
    "DF0630",
    "cannot be read",
    meaning="What a store has is not in the form in which values are written: it was changed or damaged.",
    example='{"$": "float", "v": "1"}   # in the journal of a run',
    cure="Restore the store from a backup, or run the flow again.",
)
VALUE_NOT_MADE: Final = Kind(
    "DF0631",
    "making it raised {error}",
    meaning="A value in a store, or for it, cannot be made again: its class or codec raised an exception.",
    example='{"$": "Decimal", "v": "one"}   # in the journal of a run',
    cure="Correct the class or codec; if it is right, restore the store or run the flow again.",
)
MEMBER_REMOVED: Final = Kind(
    "DF0632",
    "its class no longer has the {what} {name!r}",
    meaning="A stored value has a field, or is a member of an enum, that its class does not have any more.",
    example="class Color(Enum):\n    RED = 1   # BLUE was removed after a run has stored it",
    cure="Put the field or member back, or run the flow again.",
)
FIELD_ADDED: Final = Kind(
    "DF0633",
    "its class has a new field {name!r}, which the stored value does not have",
    hint="give it a default",
    meaning="A class has a field without a default that values stored before do not have.",
    example="@dataclass\nclass Point:\n    x: int\n    y: int   # added after a run has stored a Point",
    cure="Give the new field a default, or run the flow again.",
)

# Content hashes.
NO_CONTENT_HASH: Final = Kind(
    "DF0640",
    "{found} has no content hash: {why}",
    hint="{advice}",
    meaning="Outcomes are cached under the content of the inputs; this value has no content hash.",
    example='flow.add(count, lines=open("data.csv"))   # where `count` has memo=True',
    cure="Pass what the value is made of, or register a function with `digester`.",
)
DIGESTER_FAILED: Final = Kind(
    "DF0641",
    "the digester {name} of {found} {failed}",
    meaning="The function that is registered for a type does not return what to hash in place of a value.",
    example="digester(Image, lambda image: image)",
    cure="Return a value of another type that has a content hash, such as a tuple of the fields.",
)
DIGESTER_INVALID: Final = Kind(
    "DF0642",
    "the {what} of a digester cannot be used",
    meaning="`digester` takes a class, and a plain function that returns what to hash for an instance.",
    example='digester("numpy.ndarray", repr)',
    cure="Pass the class itself and a function that is not async.",
)
DIGEST_FIXED: Final = Kind(
    "DF0643",
    "{found} has a content hash that cannot be replaced",
    hint="register a class derived from it",
    meaning="The content hashes of built-in types are fixed, so no function can be registered for them.",
    example="digester(dict, repr)",
    cure="Derive a class, use it for the values in question, and register that.",
)

# Codecs, and secrets of other libraries.
CODEC_INVALID: Final = Kind(
    "DF0676",
    "the {what} of a codec cannot be used",
    meaning="`register_codec` takes a class, and plain functions that write, read and show its instances.",
    example='register_codec("shapely.Point", to_wkb, from_wkb)',
    cure="Pass the class itself and functions that are not async.",
)
CODEC_TWICE: Final = Kind(
    "DF0677",
    "values are stored in another way as {found} already",
    hint="{advice}",
    meaning="A class is built in or has fields, or another class has the name of the codec.",
    example='register_codec(Point, astuple, make, name="tuple")',
    cure="Pass another `name`; built-in types and classes with fields cannot be stored in another way.",
)
CODEC_NOT_SIMPLER: Final = Kind(
    "DF0679",
    "the codec of {found} returns {found} again",
    hint="return what it is made of",
    meaning="The function that writes a value does not return a simpler one, so there is nothing to store.",
    example="register_codec(Point, lambda point: point, lambda point: point)",
    cure="Return something else that has everything that matters, such as a list of the fields.",
)
CODEC_READS_OTHER: Final = Kind(
    "DF0680",
    "its codec does not read what it has written",
    meaning="The function that reads a stored value returns something that is not an instance of the class.",
    example="register_codec(Point, astuple, lambda stored: stored)",
    cure="Return an instance: `lambda stored: Point(*stored)`. The stored value is kept until then.",
)
SECRET_NOT_STORED: Final = Kind(
    "DF0678",
    "{found} is a secret, which is not stored",
    hint="use `Secret`, which is stored as its name, or run the flow without a store",
    meaning="A secret of pydantic holds its value, which must not be written to a store.",
    example="async def log_in(password: SecretStr) -> SecretStr: ...   # in a flow that has a store",
    cure="Declare the port as `Secret`, which only names the secret, or pass it in a config.",
)
