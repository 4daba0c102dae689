"""Moves as rounds of a scripted model, and the holes that it fills out of what it is asked."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from typing import Any

import pytest

from podium.testkit.chat_server import ChatServer
from podium.testkit.conformance.moves import (
    Command,
    Heard,
    Hold,
    NameImage,
    NameModel,
    Recall,
    Refuse,
    Say,
    Think,
)
from podium.testkit.model_script import Call, Round, Status, Text, Wait
from podium.testkit.responses_server import ResponsesServer
from podium.testkit.rigs.scripts import USED, Script, Tool


class Tools:
    """An agent whose every tool is called by its move's name."""

    def rounds(self, tool: Tool) -> Sequence[Round]:
        return [[Call(type(tool).__name__, {})], [Call("wait", {})]]


def script(server: ResponsesServer) -> Script:
    return Script(server, Tools())


def said(server: ResponsesServer, body: dict[str, Any]) -> str:
    """The text of one answer."""
    request = urllib.request.Request(
        f"{server.base_url}{server.route}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    pieces = [event.get("delta") for event in events if "output_text.delta" in event.get("type", "")]
    pieces += [choice["delta"].get("content") for event in events for choice in event.get("choices", ())]
    return "".join(piece for piece in pieces if piece)


def test_a_call_ends_a_round_and_what_follows_is_the_next_one() -> None:
    found = script(ResponsesServer()).rounds([Say("First."), Command("ls"), Think("Hm."), Say("Last.")])
    assert [[type(action).__name__ for action in actions] for actions in found] == [
        ["Text", "Call", "Usage"],
        ["Call"],
        ["Reasoning", "Text", "Usage"],
    ]


def test_a_message_in_between_is_heard_in_a_further_round() -> None:
    held, after = script(ResponsesServer()).rounds([Say("I begin."), Hold("gate"), Heard()])
    assert isinstance(held[0], Text) and held[1:] == [Wait("gate"), USED]
    assert after == [Text("I was told {{told}}."), USED]


def test_a_refusal_is_nothing_but_a_status() -> None:
    assert script(ResponsesServer()).rounds([Refuse()]) == [[Status(400)]]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "input_text", "text": text}]}


def asking(said: list[dict[str, Any]]) -> dict[str, Any]:
    """A request as both servers read it."""
    tools: list[dict[str, Any]] = [{"type": "function"}]
    return {"model": "m-1", "stream": True, "tools": tools, "input": said, "messages": said}


PICTURE = "data:image/png;base64,AAAA"


@pytest.mark.parametrize("kind", [ResponsesServer, ChatServer])
def test_the_model_answers_out_of_what_it_is_asked(kind: type[ResponsesServer]) -> None:
    with kind() as server:
        play = script(server)
        prompt = play.prompt([Recall(), NameModel(), NameImage()], "Keep MARK-new.")
        seen = [user(text) for text in ("Keep MARK-old.", prompt)]
        seen.append({"role": "user", "content": [{"type": "input_image", "image_url": PICTURE}]})
        assert said(server, asking(seen)) == "I was told MARK-new.I am m-1.It is image/png."
        assert said(server, asking([user(play.prompt([Recall()]))])) == "I was told {{told}}."


def test_each_prompt_has_a_script_of_its_own() -> None:
    with ResponsesServer() as server:
        play = script(server)
        prompts = [play.prompt([Say(word)], "Go on.") for word in ("One.", "Two.")]
        assert all(prompt.startswith("Go on. [[") for prompt in prompts)
        for prompt, word in zip(prompts, ("One.", "Two."), strict=True):
            assert said(server, asking([user(prompt)])) == word
