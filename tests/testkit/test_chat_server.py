"""The scripted chat server: what it streams, what it keeps, and which requests use up a round."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from podium.testkit.chat_server import ChatServer
from podium.testkit.model_script import Call, Cut, Fail, Reasoning, Status, Text, Usage

TOOLS: list[dict[str, Any]] = [{"type": "function", "function": {"name": "shell", "parameters": {}}}]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def asked(server: ChatServer, *messages: dict[str, Any], **more: Any) -> str:
    """The whole body of one answer."""
    body = {"model": "scripted-a", "stream": True, "messages": list(messages), "tools": TOOLS, **more}
    request = urllib.request.Request(
        f"{server.base_url}/chat/completions", msgspec.json.encode(body), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def chunks(body: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    return [msgspec.json.decode(line) for line in lines[:-1]]


def test_a_script_is_streamed_with_its_usage(server: ChatServer) -> None:
    server.script(
        "x", [Usage(1, 2, 3, 4), Reasoning(("hm",)), Text("Hello there.", chunk=5), Call("shell", {"a": 1})]
    )
    found = chunks(asked(server, user("[[x]] go")))
    deltas = [chunk["choices"][0]["delta"] for chunk in found if chunk["choices"]]
    assert "".join(delta.get("content") or "" for delta in deltas) == "Hello there."
    assert [delta["reasoning_content"] for delta in deltas if "reasoning_content" in delta] == ["hm"]
    [call] = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
    assert (call["index"], call["function"]) == (0, {"name": "shell", "arguments": '{"a":1}'})
    assert [c["choices"][0]["finish_reason"] for c in found if c["choices"]][-1] == "tool_calls"
    assert found[-1]["usage"]["prompt_tokens"] == 1 and found[-1]["usage"]["total_tokens"] == 4


def test_without_a_stream_the_answer_is_whole(server: ChatServer) -> None:
    server.script("x", [Text("Hello.")])
    answer = msgspec.json.decode(asked(server, user("[[x]]"), stream=False))
    assert answer["choices"][0]["message"]["content"] == "Hello."


def test_each_request_of_a_prompt_is_a_round_and_questions_aside_are_none(server: ChatServer) -> None:
    server.script("x", [Text("one")], [Text("two")])
    first = user("[[x]] go")
    called: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]}
    result: dict[str, Any] = {"role": "tool", "tool_call_id": "c", "content": "done"}
    whole = {"role": "assistant", "content": "all"}
    assert '"one"' in asked(server, first)
    for aside in (
        (first, whole, user("Name this conversation.")),
        (first, whole, user("<system-reminder>Sum up [[x]] go")),
    ):
        assert '"A script' in asked(server, *aside)
    assert '"A script' in asked(server, first, tools=[])
    assert '"two"' in asked(server, first, called, result, user("A reminder behind the result."))
    assert [request.round for request in server.of("x")] == [0, 1]
    assert server.prompts("[[x]] go") == 2


def test_errors_come_as_they_are_scripted(server: ChatServer) -> None:
    server.script("s", [Status(429, {"error": {"message": "slow"}})])
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(server, user("[[s]]"))
    assert refused.value.code == 429
    refused.value.close()
    server.script("cut", [Text("half"), Cut()])
    assert "[DONE]" not in asked(server, user("[[cut]]"))
    server.script("none", [Fail("x")])
    assert "[DONE]" not in asked(server, user("[[none]]"))


def test_the_models_are_listed(server: ChatServer) -> None:
    with urllib.request.urlopen(f"{server.base_url}/models", timeout=30) as answer:
        assert [m["id"] for m in msgspec.json.decode(answer.read())["data"]] == ["scripted-a", "scripted-b"]
