"""`dataflow schema`: the JSON Schema of flow documents."""

from __future__ import annotations

import json
import sys

from dataflow.cli.streams import write

__all__ = ["schema"]


def schema() -> None:
    """Write the JSON Schema of flow documents, for editors that check while you type."""
    from dataflow.formats.native.document import json_schema

    write(sys.stdout, json.dumps(json_schema(), indent=2))
