"""What authors of packs and file formats need besides `dataflow`.

A pack imports `dataflow`, `dataflow.authoring` and the public names of other packs, nothing else. Each name
is imported when it is first used; the stub beside this file tells type checkers where they are.
"""

from __future__ import annotations

from lazy_loader import attach as _attach

__getattr__, __dir__, __all__ = _attach(
    "dataflow",
    submod_attrs={
        "checking": ["check_json", "json_schema"],
        "config": ["resolve_path"],
        "formats.edge_writing": ["write_edge", "write_source"],
        "formats.files": ["read_data"],
        "formats.foreign": ["Format", "FormatOptions", "JsonDict", "Notes", "Records", "Words"],
        "formats.gates": ["Gate", "entry_port", "find_gates", "gate_type"],
        "formats.models": ["qualified_model"],
        "formats.naming": ["free_name"],
        "formats.nesting": ["GraphLoop", "find_loops", "reachable"],
        "formats.part_reading": ["PartReader", "unique_ids"],
        "formats.problems": ["describe_value"],
        "formats.shapes": ["get_mapping", "get_mappings"],
        "formats.tree": ["DocumentPath"],
        "functions": ["is_function_name"],
        "installed_node": ["InstalledNode"],
        "names": ["node_of_path"],
        "redaction": ["redacted"],
        "shared": ["sharing"],
        "type_fields": ["TypeField"],
        "wording": ["choices", "shortened"],
    },
)
