"""A tool server of the older protocol, written by hand, that does what no library would let it do."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Final

#: Each tool does something that is not right.
TOOLS: Final = ["closes", "answers_nonsense", "grows", "is_unknown"]


def say(**message: Any) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def described(name: str) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method, params.get("name"):
        case "initialize", _:
            capabilities = {"tools": {"listChanged": True}}
            told = {"name": "raw", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": told}
        case "tools/list", _ if "--no-tools" not in sys.argv:
            if params.get("cursor") is None:
                return {"tools": [*map(described, TOOLS[:2])], "nextCursor": "2"}
            return {"tools": [*map(described, TOOLS[2:])]}
        case "tools/call", "closes":
            os.close(1)
            time.sleep(600)
        case "tools/call", "answers_nonsense":
            return {"content": "nonsense"}
        case "tools/call", "grows":
            TOOLS.append("grown")
            say(method="notifications/tools/list_changed")
            return {"content": []}
    raise LookupError(method)


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        try:
            say(id=request["id"], result=answer(request["method"], request.get("params") or {}))
        except LookupError as error:
            say(id=request["id"], error={"code": -32601, "message": f"there is no {error}"})
