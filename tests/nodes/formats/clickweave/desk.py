"""A tool server that stands for a desktop: it answers as it is told, and writes down what it is asked.

python desk.py SCRIPT LOG

The script is JSON: the answers of each tool in their order, the last of them again and again. An answer is
a text, `{"error": text}`, `{"text": text, "images": number}`, or else written as JSON.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

TOOLS: Final = [
    "take_screenshot", "list_windows", "list_apps", "focus_window", "click", "scroll", "type_text",
    "press_key", "find_text", "find_image", "launch_app",
]  # fmt: skip
PIXEL: Final = base64.b64encode(b"\x89PNG pixel").decode()
SCRIPT: Final[dict[str, list[Any]]] = json.loads(sys.argv[1])
LOG: Final = Path(sys.argv[2])


def said(name: str) -> Any:
    answers = SCRIPT.get(name, [""])
    return answers.pop(0) if len(answers) > 1 else answers[0]


def result(answer: Any) -> dict[str, Any]:
    if isinstance(answer, dict) and "error" in answer:
        return {"content": [{"type": "text", "text": answer["error"]}], "isError": True}
    if isinstance(answer, dict) and "images" in answer:
        image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
        return {"content": [{"type": "text", "text": answer.get("text", "")}, *[image] * answer["images"]]}
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return {"content": [{"type": "text", "text": text}]}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            told = {"name": "desk", "version": "1"}
            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": told}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
        case "tools/call":
            with LOG.open("a", encoding="utf-8") as log:
                log.write(json.dumps([params["name"], params.get("arguments") or {}]) + "\n")
            return result(said(params["name"]))
    raise LookupError(method)


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            reply["result"] = answer(request["method"], request.get("params") or {})
        except LookupError as error:
            reply["error"] = {"code": -32601, "message": f"there is no {error}"}
        os.write(1, json.dumps(reply).encode() + b"\n")
