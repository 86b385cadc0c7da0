"""Problems of packs and formats: how they are found and loaded (DF13)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

PACK_NAME_INVALID: Final = Kind(
    "DF1301",
    "is not a name of a pack or a node type",
    expected="letters, digits, _ and -, beginning with a letter",
    meaning="The names of a pack and of its node types become the ids of node types, such as `agent.chat`.",
    example='Pack("my pack", version="1", api=1, nodes=[])',
    cure="Rename it: `my-pack`.",
)
TYPE_TWICE: Final = Kind(
    "DF1302",
    "the pack has two node types of this name",
    meaning="Two functions or nodes in the list of a pack have the same name.",
    example='Pack("texts", version="1", api=1, nodes=[read, read])',
    cure='Remove one of them, or name it: `node(read).with_(name="read_all")`.',
)
TYPE_INVALID: Final = Kind(
    "DF1303",
    "cannot be a node type",
    meaning="An entry of a pack is not a node, a flow, an async function, or the place of one as a string.",
    example='Pack("texts", version="1", api=1, nodes={"read": 3})',
    cure="Give the function itself, or its place as `module:object`.",
)
TYPE_UNUSABLE: Final = Kind(
    "DF1304",
    "its function cannot be a node type: {problems}",
    meaning="The function of a node type in a pack was imported, but its signature has problems.",
    example="async def read(path): ...   # the parameter has no annotation",
    cure="Correct the function, or install another version of the pack.",
)
TYPE_UNKNOWN: Final = Kind(
    "DF1305",
    "{pack} does not have a node type of this name",
    meaning="An installed pack does not have the node type that a flow or a document names.",
    example="nodes: {a: {type: control.vaule}}",
    cure="Correct the name, or install the version of the pack that has it.",
)
PACK_UNKNOWN: Final = Kind(
    "DF1306",
    "no installed pack is called {pack!r}",
    meaning="A flow or a document names a node type of a pack that is not installed.",
    example="nodes: {a: {type: contorl.value}}",
    cure="Correct the name, or install the distribution that has the pack.",
)
DISTRIBUTION_UNKNOWN: Final = Kind(
    "DF1307",
    "no installed distribution {distribution!r} has a pack {pack!r}",
    meaning="An id picks the pack of a distribution that is not installed or does not have the pack.",
    example="nodes: {a: {type: 'other-tools:texts.read'}}",
    cure="Name one of the available distributions, or leave the distribution out.",
)
TYPE_ID_INVALID: Final = Kind(
    "DF1308",
    "is not an id of a node type",
    expected="pack.name, prefix.function or module:qualname",
    meaning="Node types are named by pack and name, or by the place of their function.",
    example="nodes: {a: {type: value}}",
    cure="Write the whole id: `control.value`.",
)
TYPE_AMBIGUOUS: Final = Kind(
    "DF1309",
    "several distributions have it: {offered_by}",
    hint="write {ids}",
    meaning="Two installed distributions have a pack of the same name with the same node type.",
    example="nodes: {a: {type: texts.read}}   # two distributions have the pack texts",
    cure="Put the name of the distribution in front, or uninstall one of them.",
)
CONFIG_MISSING: Final = Kind(
    "DF1310",
    "does not have a config",
    meaning="A config was requested for a node type whose function has no parameter `config`.",
    example="control.merge.config(by=1)",
    cure="Place the node type without a config.",
)
PACK_OF_OTHER_TYPE: Final = Kind(
    "DF1311",
    "the entry point {value} does not lead to a pack",
    expected="a dataflow.Pack",
    meaning="The entry point of an installed pack leads to an object of another type.",
    example='[project.entry-points."dataflow.packs"]\ntexts = "my_texts:read"',
    cure="Let the entry point name the `Pack` object.",
)
PACK_NAME_DIFFERS: Final = Kind(
    "DF1312",
    "the pack and its entry point have different names",
    meaning="The name of a pack and the name of the entry point that leads to it have to be equal.",
    example='texts = "my_texts:pack"   # and pack = Pack("text", ...)',
    cure="Rename one of them.",
)
PACK_API_UNSUPPORTED: Final = Kind(
    "DF1313",
    "needs another version of the pack interface",
    meaning="A pack is written for a version of the pack interface that this release does not have.",
    example='Pack("texts", version="1", api=2, nodes=[])',
    cure="Install a version of the pack, or of dataflow, that fits the other.",
)
PUBLIC_NAME_SHARED: Final = Kind(
    "DF1314",
    "the node types {names} have one public name, {public_name}: {places}",
    hint="rename one of the functions",
    meaning="Stores and documents name a function by its public name, so a pack cannot have two of one name.",
    example='Pack("texts", ..., nodes={"read": "texts.files:read", "fetch": "texts.web:read"})',
    cure="Rename one of the functions.",
)
PACK_DISABLED: Final = Kind(
    "DF1315",
    "is disabled by {setting}",
    meaning="An environment variable disables the pack, so none of its node types is found.",
    example="DATAFLOW_DISABLE_PACKS=agent dataflow run flow.yaml",
    cure="Remove the name of the pack from the variable.",
)
PACK_NAME_RESERVED: Final = Kind(
    "DF1316",
    "has the name of a pack that comes with {distribution}",
    hint="rename it: those packs cannot be replaced",
    meaning="Another distribution has a pack with the name of one of the packs of the engine.",
    example='[project.entry-points."dataflow.packs"]\ncontrol = "my_pack:pack"',
    cure="Give the pack another name.",
)
ENTRY_POINT_INVALID: Final = Kind(
    "DF1317",
    "its entry point is not the place of an object",
    expected="module:object",
    meaning="The entry point of an installed pack cannot be read, so the pack is not imported.",
    example='[project.entry-points."dataflow.packs"]\ntexts = "my_texts"',
    cure='Write the module and the object: `texts = "my_texts:pack"`.',
)
FILE_SHARED: Final = Kind(
    "DF1318",
    "its file {file} is installed by {distributions}",
    hint="uninstall one of them",
    meaning="Two distributions have installed the same file, so it is unknown whose code would be imported.",
    example="pip install my-texts other-texts   # both contain texts/__init__.py",
    cure="Uninstall one of them.",
)
OFFERED_TWICE: Final = Kind(
    "DF1319",
    "the distribution has two entry points of this name: {first} and {second}",
    meaning="A distribution has two entry points of one name, so it is unknown which of them is the pack.",
    example="a file entry_points.txt with the line `texts = ...` twice",
    cure="Remove one of the entry points, or uninstall the older version of the distribution.",
)
METADATA_UNREADABLE: Final = Kind(
    "DF1320",
    "its metadata cannot be read: {error}",
    meaning="The metadata of an installed distribution are damaged, so its packs cannot be found.",
    example="a file entry_points.txt that is not in the format of an ini file",
    cure="Install the distribution again.",
)
MODULE_HIDDEN: Final = Kind(
    "DF1321",
    "its module {module} is hidden by {other}, which is imported instead",
    meaning="A file further up the module search path has the name of a module of the pack.",
    example="a file helpers.py in the current folder, and an installed pack with a module helpers.py",
    cure="Rename the other file. A pack keeps its modules in one package, so that this does not happen.",
)
ENGINE_UNSUPPORTED: Final = Kind(
    "DF1322",
    "its distribution requires another version of the engine",
    meaning="The metadata of an installed pack require a version of dataflow-engine that is not installed.",
    example='dependencies = ["dataflow-engine>=2"]   # and version 1 is installed',
    cure="Upgrade dataflow-engine, or install a version of the pack for this one.",
)
