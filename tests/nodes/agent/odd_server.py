"""A tool server, written by hand, of which each tool does what a server should not, but may.

python odd_server.py [--stays] [--old]
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any, Final

TOOLS: Final = ["pid", "is_full", "is_silent", "echo", "dies", "prints", "pictures", "naps", ""]
PROTOCOL: Final = "1999-01-01" if "--old" in sys.argv else "2025-06-18"
KEY: Final = os.environ.get("KEY", "")


def say(**message: Any) -> None:
    os.write(1, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def text(written: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": written}]}


def called(tool: str, given: dict[str, Any]) -> dict[str, Any] | None:
    match tool:
        case "pid":
            return text(str(os.getpid()))
        case "is_silent":
            return None
        case "echo":
            return text(f"hears {given['text']}")
        case "naps":
            time.sleep(given["seconds"])
        case "dies":
            sys.stderr.write(f"{'x' * given['ahead']}{KEY}\n")
            sys.stderr.flush()
            os._exit(3)
        case "prints":
            os.write(1, f"{'x' * given['ahead']}{KEY}\n".encode())
        case "pictures":
            return {"content": [{"type": "image", **given}]}
    return text("done")


def answered(method: str, given: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            told = {"name": "odd", "version": "1"}
            return {"protocolVersion": PROTOCOL, "capabilities": {"tools": {}}, "serverInfo": told}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
        case "tools/call":
            return called(given["name"], given.get("arguments") or {})
    raise LookupError(method)


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        given = request.get("params") or {}
        if given.get("name") == "is_full":
            say(id=request["id"], error={"code": -32000, "message": "the disk is full"})
            continue
        try:
            result = answered(request["method"], given)
        except LookupError as error:
            say(id=request["id"], error={"code": -32601, "message": f"there is no {error}"})
        else:
            if result is not None:
                say(id=request["id"], result=result)


if "--stays" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
main()
while "--stays" in sys.argv:
    time.sleep(600)
