"""A tool server for proofs, over stdio: one tool, `echo`, that answers with the word it was given.

    python -I tool_server.py

Standard library only: agents start it by its path.
"""

from __future__ import annotations

import json
import sys
from typing import Any

Json = dict[str, Any]

TOOL: Json = {
    "name": "echo",
    "description": "Answers with the word it is given.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
}
NO_METHOD = -32601


def result_of(method: str, params: Json) -> Json | None:
    """The answer to a request; None for a method that is not there."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-03-26"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "proofs", "version": "1"},
            }
        case "ping":
            return {}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            given: Json = params.get("arguments") or {}
            return {"content": [{"type": "text", "text": f"heard {given.get('word')}"}], "isError": False}
        case _:
            return None


def main() -> None:
    """Answer line by line until the input ends."""
    for line in sys.stdin:
        try:
            message: Json = json.loads(line)
        except ValueError:
            continue
        if "id" not in message or "method" not in message:
            continue
        found = result_of(str(message["method"]), message.get("params") or {})
        error: Json = {"code": NO_METHOD, "message": f"no method {message['method']}"}
        answer: Json = {"error": error} if found is None else {"result": found}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
