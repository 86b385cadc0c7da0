# The public names, and where each of them is; imported when it is first used.

from ..checking import check_json, json_schema
from ..config import resolve_path
from ..formats.edge_writing import write_edge, write_source
from ..formats.files import read_data
from ..formats.foreign import Format, FormatOptions, JsonDict, Notes, Records, Words
from ..formats.gates import Gate, entry_port, find_gates, gate_type
from ..formats.models import qualified_model
from ..formats.naming import free_name
from ..formats.nesting import GraphLoop, find_loops, reachable
from ..formats.part_reading import PartReader, unique_ids
from ..formats.problems import describe_value
from ..formats.shapes import get_mapping, get_mappings
from ..formats.tree import DocumentPath
from ..functions import import_function, is_function_name, name_of_function
from ..installed_node import InstalledNode
from ..names import node_of_path
from ..redaction import redacted
from ..shared import sharing
from ..type_fields import TypeField
from ..wording import choices, shortened

__all__ = [
    "DocumentPath",
    "Format",
    "FormatOptions",
    "Gate",
    "GraphLoop",
    "InstalledNode",
    "JsonDict",
    "Notes",
    "PartReader",
    "Records",
    "TypeField",
    "Words",
    "check_json",
    "choices",
    "describe_value",
    "entry_port",
    "find_gates",
    "find_loops",
    "free_name",
    "gate_type",
    "get_mapping",
    "get_mappings",
    "import_function",
    "is_function_name",
    "json_schema",
    "name_of_function",
    "node_of_path",
    "qualified_model",
    "reachable",
    "read_data",
    "redacted",
    "resolve_path",
    "sharing",
    "shortened",
    "unique_ids",
    "write_edge",
    "write_source",
]
