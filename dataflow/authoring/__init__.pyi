# The public names, and where each of them is; imported when it is first used.

from ..base.wording import shortened
from ..core.config import TypeField, resolve_path, type_of_schema
from ..core.functions import import_function, is_function_name, name_of_function
from ..core.public_names import moved_names
from ..core.wiring import node_of_path
from ..diagnostics import foreign
from ..diagnostics.diagnostic import Kind, kinds_of
from ..formats.foreign import Format, FormatOptions, JsonDict, Notes, Records, Words
from ..formats.problems import describe_value
from ..formats.reader import read_data
from ..formats.tree import DocumentPath
from ..maximums import maximum
from ..packs.installed_node import InstalledNode
from ..runtime.shared import sharing
from ..secrets.known import redacted
from ..types.validation import check_json, json_schema
from .loops import Gate, GraphLoop, entry_port, find_gates, find_loops, gate_type, reachable
from .parts import PartReader, get_mapping, get_mappings, unique_ids
from .writer import free_name, qualified_model, write_edge, write_source

__all__ = [
    "DocumentPath",
    "Format",
    "FormatOptions",
    "Gate",
    "GraphLoop",
    "InstalledNode",
    "JsonDict",
    "Kind",
    "Notes",
    "PartReader",
    "Records",
    "TypeField",
    "Words",
    "check_json",
    "describe_value",
    "entry_port",
    "find_gates",
    "find_loops",
    "foreign",
    "free_name",
    "gate_type",
    "get_mapping",
    "get_mappings",
    "import_function",
    "is_function_name",
    "json_schema",
    "kinds_of",
    "maximum",
    "moved_names",
    "name_of_function",
    "node_of_path",
    "qualified_model",
    "reachable",
    "read_data",
    "redacted",
    "resolve_path",
    "sharing",
    "shortened",
    "type_of_schema",
    "unique_ids",
    "write_edge",
    "write_source",
]
