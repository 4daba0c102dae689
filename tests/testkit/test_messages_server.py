"""The scripted messages server: what it streams, what it keeps, and which requests use up a round."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from podium.testkit.messages_server import MessagesServer
from podium.testkit.model_script import Call, Cut, Fail, Item, Reasoning, Status, Text, Usage


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer() as running:
        yield running


def asked(server: MessagesServer, *messages: dict[str, Any], path: str = "messages", **more: Any) -> str:
    """The whole body of one answer."""
    body = {"model": "scripted", "stream": True, "messages": list(messages), **more}
    request = urllib.request.Request(
        f"{server.origin}/v1/{path}?beta=true",
        msgspec.json.encode(body),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def events(body: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith("data: ")]
    return [msgspec.json.decode(line) for line in lines]


def test_a_script_is_streamed_with_its_usage(server: MessagesServer) -> None:
    actions = [Reasoning(("hm",)), Text("Hello there.", chunk=5), Call("Bash", {"a": 1}), Usage(9, 2, 3, 0)]
    server.script("x", actions)
    found = events(asked(server, user("[[x]] go")))
    deltas = [event["delta"] for event in found if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == "Hello there."
    assert [delta["thinking"] for delta in deltas if "thinking" in delta] == ["hm"]
    assert "".join(delta.get("partial_json", "") for delta in deltas) == '{"a":1}'
    assert [e["index"] for e in found if e["type"] == "content_block_stop"] == [0, 1, 2]
    assert found[0]["message"]["usage"]["input_tokens"] == 7
    assert found[-2]["delta"]["stop_reason"] == "tool_use" and found[-2]["usage"] == {"output_tokens": 3}


def test_without_a_stream_the_answer_is_whole(server: MessagesServer) -> None:
    server.script("x", [Text("Hello "), Call("Bash", {"a": 1}, namespace="mcp__s")])
    whole = msgspec.json.decode(asked(server, user("[[x]] go"), stream=False))
    assert [block.get("text") or block["name"] for block in whole["content"]] == ["Hello ", "mcp__s__Bash"]
    assert whole["stop_reason"] == "tool_use"


def test_rounds_follow_each_other_and_the_last_one_repeats(server: MessagesServer) -> None:
    server.script("x", [Text("one")], [Text("two")])
    bodies = [asked(server, user("[[x]]"), stream=False) for _ in range(3)]
    assert [msgspec.json.decode(body)["content"][0]["text"] for body in bodies] == ["one", "two", "two"]
    assert server.prompts("[[x]]") == 3


def test_counting_and_summing_up_use_up_no_round(server: MessagesServer) -> None:
    server.script("x", [Text("one")], [Text("two")])
    assert msgspec.json.decode(asked(server, user("[[x]]"), path="messages/count_tokens"))["input_tokens"] > 0
    server.capture("told", r"MARK-\w+")
    summary = asked(server, user("[[x]] MARK-a"), user("create a detailed summary"), stream=False)
    assert "MARK-a" in msgspec.json.decode(summary)["content"][0]["text"]
    assert "one" in asked(server, user("[[x]]"))


@pytest.mark.parametrize(("code", "word"), [(401, "authentication_error"), (529, "overloaded_error")])
def test_a_status_has_the_body_of_this_format(server: MessagesServer, code: int, word: str) -> None:
    server.script("x", [Status(code)])
    with pytest.raises(urllib.error.HTTPError) as refused:
        asked(server, user("[[x]]"))
    with refused.value as answer:
        assert answer.code == code
        assert msgspec.json.decode(answer.read())["error"]["type"] == word


def test_a_stream_can_fail_or_break_off(server: MessagesServer) -> None:
    server.script("fail", [Text("half"), Fail("overloaded_error")])
    server.script("cut", [Text("half"), Cut()])
    assert events(asked(server, user("[[fail]]")))[-1]["error"]["type"] == "overloaded_error"
    assert not any(e["type"] == "message_stop" for e in events(asked(server, user("[[cut]]"))))


def test_what_this_format_does_not_have_is_refused(server: MessagesServer) -> None:
    server.script("x", [Item({})])
    found = events(asked(server, user("[[x]]")))
    assert not any(e["type"] == "message_stop" for e in found)
