"""The tool server of proofs."""

from __future__ import annotations

import json
import subprocess
import sys

from podium.testkit import tool_server

ASKED = (
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"arguments": {"word": "ünï"}}},
    {"jsonrpc": "2.0", "id": 3, "method": "resources/list"},
)


def test_it_answers_line_by_line_and_leaves_with_its_input() -> None:
    text = "no json\n" + "".join(json.dumps(row) + "\n" for row in ASKED)
    done = subprocess.run(
        [sys.executable, "-I", tool_server.__file__],
        input=text,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    first, tools, called, unknown = (json.loads(line) for line in done.stdout.splitlines())
    assert first["result"]["protocolVersion"] == "2025-06-18"
    assert [tool["name"] for tool in tools["result"]["tools"]] == ["echo"]
    assert (called["id"], called["result"]["content"][0]["text"]) == ("two", "heard ünï")
    assert unknown["error"]["code"] == -32601
