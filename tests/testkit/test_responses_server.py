"""The scripted model server, asked by a plain HTTP client."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from podium.testkit.model_script import (
    Call,
    CustomCall,
    Cut,
    Fail,
    Item,
    Reasoning,
    Sleep,
    Stall,
    Status,
    Text,
    Usage,
    Wait,
)
from podium.testkit.responses_server import ResponsesServer

Event = dict[str, Any]
WAIT = 20.0


@pytest.fixture
def server() -> Iterator[ResponsesServer]:
    with ResponsesServer() as running:
        yield running


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def ask(server: ResponsesServer, *items: dict[str, Any], raw: bytes | None = None) -> tuple[int, bytes]:
    """POST one request; the status and the whole body, or as much of it as came."""
    url = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=WAIT)
    try:
        body = raw if raw is not None else json.dumps({"model": "m", "input": list(items)}).encode()
        connection.request("POST", url.path + "/responses", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def events(data: bytes) -> list[Event]:
    lines = [line for line in data.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def kinds(found: list[Event]) -> list[str]:
    return [event["type"] for event in found]


def done_items(found: list[Event]) -> list[dict[str, Any]]:
    return [event["item"] for event in found if event["type"] == "response.output_item.done"]


def test_a_text_streams_in_pieces_and_stands_whole_at_the_end(server: ResponsesServer) -> None:
    server.script("hi", [Text("Hello there", chunk=4, phase="final_answer")])
    status, data = ask(server, user("[[hi]] please"))
    found = events(data)
    assert status == 200
    assert kinds(found)[0] == "response.created"
    assert kinds(found)[-1] == "response.completed"
    deltas = [e["delta"] for e in found if e["type"] == "response.output_text.delta"]
    assert deltas == ["Hell", "o th", "ere"]
    (item,) = done_items(found)
    assert (item["content"][0]["text"], item["phase"]) == ("Hello there", "final_answer")
    assert found[-1]["response"]["output"] == [item]
    assert found[-1]["response"]["usage"]["total_tokens"] == 130


def test_rounds_follow_each_other_and_the_last_repeats(server: ResponsesServer) -> None:
    server.script("two", [Text("first")], [Text("second")])
    texts = [done_items(events(ask(server, user("[[two]]"))[1]))[0]["content"][0]["text"] for _ in range(3)]
    assert texts == ["first", "second", "second"]
    assert [request.round for request in server.of("two")] == [0, 1, 2]


def test_the_newest_key_wins_and_no_key_gets_the_default(server: ResponsesServer) -> None:
    server.script("a", [Text("A")])
    server.script("b", [Text("B")])
    said = [
        done_items(events(ask(server, *items)[1]))[0]["content"][0]["text"]
        for items in (
            [user("[[a]]"), user("[[b]]")],
            [user("[[b]]"), user("and [[a]]"), user("more")],
            [user("x")],
        )
    ]
    assert said == ["B", "A", "A scripted answer."]


def test_calls_reasoning_and_other_items_have_their_events(server: ResponsesServer) -> None:
    server.capture("session", r"session ID (\d+)")
    server.script(
        "all",
        [
            Reasoning(("one", "two"), raw="secret thought"),
            Call("exec_command", {"cmd": "ls"}, namespace="ns", call_id="call_7"),
            Call("write_stdin", '{"session_id": {{session}}, "x": "{{unset}}"}'),
            CustomCall("apply_patch", "*** Begin Patch\n" * 5),
            Item({"type": "web_search_call", "id": "ws"}),
            Usage(input=7, output=5),
        ],
    )
    output = {"type": "function_call_output", "call_id": "c", "output": "session ID 12 then session ID 34"}
    found = events(ask(server, user("[[all]]"), output)[1])
    reasoning, call, filled, custom, other = done_items(found)
    assert [part["text"] for part in reasoning["summary"]] == ["one", "two"]
    assert reasoning["content"][0]["text"] == "secret thought"
    assert (call["namespace"], call["call_id"], json.loads(call["arguments"])) == (
        "ns",
        "call_7",
        {"cmd": "ls"},
    )
    assert filled["arguments"] == '{"session_id": 34, "x": "{{unset}}"}'
    pieces = [e["delta"] for e in found if e["type"] == "response.custom_tool_call_input.delta"]
    assert "".join(pieces) == custom["input"] == "*** Begin Patch\n" * 5
    assert other == {"type": "web_search_call", "id": "ws"}
    assert [e["output_index"] for e in found if e["type"] == "response.output_item.done"] == [0, 1, 2, 3, 4]
    assert found[-1]["response"]["usage"]["total_tokens"] == 12
    ids = [item["id"] for item in (reasoning, call, filled, custom)]
    assert len(set(ids)) == 4


def test_prompts_counts_only_requests_that_start_a_turn(server: ResponsesServer) -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}
    call = {"type": "function_call", "name": "x", "call_id": "c", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c", "output": "done"}
    note = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "rules"}]}
    ask(server, user("context"), user("do it"))
    ask(server, user("do it"), call, result)
    ask(server, user("do it"), answer, user("then this"))
    ask(server, user("do it again"), note)
    assert server.prompts("do it") == 1
    assert server.prompts("then this") == 1
    assert server.prompts("do it again") == 1
    assert server.prompts("context") == 0
    assert len(server.requests) == 4
    assert server.requests[0].body["model"] == "m"
    assert server.requests[0].headers["content-type"] == "application/json"


def test_a_wait_goes_on_when_it_is_released(server: ResponsesServer) -> None:
    server.script("wait", [Text("a"), Wait("go"), Text("b", hold="more")])
    answers: list[tuple[int, bytes]] = []
    asking = threading.Thread(target=lambda: answers.append(ask(server, user("[[wait]]"))))
    asking.start()
    for event in ("go", "more"):
        assert asking.is_alive()
        server.release(event)
    asking.join(WAIT)
    assert [i["content"][0]["text"] for i in done_items(events(answers[0][1]))] == ["a", "b"]


def test_errors_cuts_and_failures(server: ResponsesServer) -> None:
    server.script("status", [Status(429, {"error": {"message": "slow"}}, {"retry-after": "1"})])
    server.script("default", [Status(500)])
    server.script("cut", [Text("half"), Cut(), Text("never")])
    server.script("fail", [Text("x"), Fail("rate_limit", "no more"), Text("never")])
    assert ask(server, user("[[status]]")) == (429, b'{"error":{"message":"slow"}}')
    assert ask(server, user("[[default]]"))[0] == 500
    cut = events(ask(server, user("[[cut]]"))[1])
    assert "response.completed" not in kinds(cut)
    assert done_items(cut)[0]["content"][0]["text"] == "half"
    failed = events(ask(server, user("[[fail]]"))[1])
    assert kinds(failed)[-1] == "response.failed"
    assert failed[-1]["response"]["error"] == {"code": "rate_limit", "message": "no more"}


def test_a_status_after_other_actions_is_refused_when_it_is_written(server: ResponsesServer) -> None:
    with pytest.raises(ValueError, match="first"):
        server.script("bad", [Text("x"), Status(500)])


def test_other_routes_and_bodies_are_refused(server: ResponsesServer) -> None:
    url = urlsplit(server.base_url)
    found: dict[str, int] = {}
    for path in ("/v1/models", "/v1/other"):
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=WAIT)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        found[path] = answer.status
        connection.close()
    assert found == {"/v1/models": 200, "/v1/other": 404}
    assert ask(server, raw=b"nonsense")[0] == 400


def test_closing_ends_what_still_stalls_or_sleeps() -> None:
    with ResponsesServer() as server:
        server.script("stall", [Text("a"), Stall()])
        server.script("sleep", [Sleep(3600)])
        asking = [
            threading.Thread(target=ask, args=(server, user(f"[[{key}]]")), daemon=True)
            for key in ("stall", "sleep")
        ]
        for thread in asking:
            thread.start()
        while len(server.requests) < 2:
            threading.Event().wait(0.01)
    for thread in asking:
        thread.join(WAIT)
        assert not thread.is_alive()
    with pytest.raises(RuntimeError):
        _ = ResponsesServer().base_url
