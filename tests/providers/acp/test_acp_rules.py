"""The rules of the general adapter, each in a small made-up conversation."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import msgspec
import pytest

from podium.contract.errors import Failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    DiagnosticSeen,
    ItemContent,
    ItemSeen,
    Notice,
    OffersSeen,
    OpaqueSeen,
    RequestClosed,
    RequestOpened,
    SessionReady,
    SlashCommand,
    TextDelta,
    ThreadBound,
    ThreadChanged,
    ThreadMissing,
    TurnEnded,
)
from podium.contract.handles import Handle
from podium.contract.inputs import (
    Ask,
    EnsureThread,
    ForkThread,
    Frame,
    ImageBlock,
    InterruptTurn,
    OpenSession,
    Respond,
    SendTurn,
    TextBlock,
    Timer,
)
from podium.contract.requests import Answer
from podium.domain.items import merged
from podium.providers.acp import adapter, grok, vibe
from podium.providers.acp.flavours import KNOWN
from tests.providers.acp.acp_play import Play

KEEPS: dict[str, Any] = {"loadSession": True}
RESUMES: dict[str, Any] = {"sessionCapabilities": {"resume": {}}}
FORKS: dict[str, Any] = {"sessionCapabilities": {"fork": {}}}
ORDERS = tuple(permutations(("call", "update", "permission")))
MODES: Any = {"currentModeId": "auto", "availableModes": [{"id": "auto"}, {"id": "default"}, {"id": "yolo"}]}
MODEL: Any = {
    "id": "m",
    "category": "model",
    "currentValue": "one",
    "options": [{"value": "one"}, {"value": "two"}],
}
MODELS: dict[str, Any] = {"configOptions": [MODEL]}
OPTIONS = [
    {"optionId": "always-all", "name": "Always", "kind": "allow_always"},
    {"optionId": "always-this", "name": "Always this", "kind": "allow_always"},
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def working() -> Play:
    return Play().ready().bound().prompted()


def methods(play: Play) -> list[str]:
    return [line["method"] for line in play.lines if "method" in line]


# ---- the handshake


def test_exactly_version_one_is_offered_and_the_echo_is_checked() -> None:
    play = Play()
    play.feed(Ask(OpenSession("open", "/w")))
    assert play.lines[0]["params"]["protocolVersion"] == 1
    capabilities = play.lines[0]["params"]["clientCapabilities"]
    assert capabilities["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert capabilities["terminal"] is False
    for other in (2, 0, "1", None, True, 1.5):
        play = Play()
        play.feed(Ask(OpenSession("open", "/w")))
        play.reply({"protocolVersion": other, "agentCapabilities": {}})
        [refused] = play.of(AskFailed)
        assert refused.failure.code == "protocol_version"
        assert not play.of(SessionReady)


@pytest.mark.behaviour("F286")
def test_what_is_not_advertised_is_narrowed_away() -> None:
    [nothing] = Play().ready().of(SessionReady)
    assert {"lifecycle.persistent", "threads.fork", "subagents.supported"} <= set(nothing.narrowed)
    [something] = Play().ready(offers={**KEEPS, **FORKS}).of(SessionReady)
    assert not {"lifecycle.persistent", "threads.fork"} & set(something.narrowed)


@pytest.mark.parametrize("flavour", KNOWN, ids=lambda flavour: flavour.name)
def test_a_known_agent_is_recognised_behind_the_general_adapter(flavour: Any) -> None:
    shown: dict[str, Any] = {"agentInfo": {"name": flavour.names[0]}} if flavour.names else {}
    if flavour.sign:
        shown["_meta"] = {flavour.sign: True}
    play = Play().ready(offers=KEEPS, **shown)
    assert play.state.flavour == flavour.name
    [ready] = play.of(SessionReady)
    assert set(flavour.lacks) <= set(ready.narrowed)
    assert ("turns.terminal_quality" in ready.narrowed) is flavour.errors_as_text
    again = adapter.load(adapter.dump(play.state))
    assert again == play.state


def test_an_adapter_of_a_known_agent_keeps_what_it_knows() -> None:
    assert Play(grok).ready(agentInfo={"name": "gemini-cli"}).state.flavour == ""


# ---- conversations


@pytest.mark.behaviour("F177")
def test_a_load_that_destroys_is_never_sent() -> None:
    play = Play().ready(offers=KEEPS, agentInfo={"name": "gemini-cli"})
    play.feed(Ask(EnsureThread("bind", "/w", handle=Handle("acp", "acp", "old"))))
    assert methods(play) == ["initialize"]
    [missing] = play.of(ThreadMissing)
    assert missing.kind == "not_resumable"


@pytest.mark.parametrize(
    ("offers", "method"),
    [
        (KEEPS, "session/load"),
        (RESUMES, "session/resume"),
        ({**KEEPS, **RESUMES}, "session/resume"),
        ({}, None),
    ],
)
def test_the_way_back_is_one_that_was_advertised(offers: dict[str, Any], method: str | None) -> None:
    play = Play().ready(offers=offers)
    play.feed(Ask(EnsureThread("bind", "/w", handle=Handle("acp", "acp", "old"))))
    assert methods(play)[1:] == ([method] if method else [])


@pytest.mark.behaviour("F295", "F251")
def test_what_a_load_replays_creates_nothing() -> None:
    play = Play().ready(offers=KEEPS)
    play.feed(Ask(EnsureThread("bind", "/w", handle=Handle("acp", "acp", "s"))))
    seen = len(play.events)
    play.update("user_message_chunk", content={"type": "text", "text": "old"})
    play.update("tool_call", toolCallId="c", title="t", kind="execute", status="completed")
    play.reply({})
    play.update("agent_message_chunk", content={"type": "text", "text": "old too"})
    assert {type(event) for event in play.events[seen:]} == {DiagnosticSeen}
    play.feed(Timer("loading:s"))
    [bound] = play.of(ThreadBound)
    assert (bound.thread, bound.resumed) == ("s", True)
    play.prompted().update("agent_message_chunk", content={"type": "text", "text": "new"})
    assert [delta.text for delta in play.of(TextDelta)] == ["new"]


@pytest.mark.parametrize(
    ("code", "message", "data", "kind"),
    [
        (-32002, "Resource not found", None, "missing"),
        (-32602, "Session not found: x", None, "missing"),
        (-32603, "Internal error", {"details": "No previous sessions found for this project."}, "missing"),
        (-32603, "Internal error", {"details": "disk full"}, "not_resumable"),
        (-32000, "Authentication required", None, "not_resumable"),
    ],
)
def test_a_conversation_that_is_gone_is_missing(code: int, message: str, data: Any, kind: str) -> None:
    play = Play().ready(offers=KEEPS)
    play.feed(Ask(EnsureThread("bind", "/w", handle=Handle("acp", "acp", "s"))))
    play.fail(code, message, data)
    [missing] = play.of(ThreadMissing)
    assert missing.kind == kind


@pytest.mark.behaviour("F295")
def test_a_fork_is_asked_for_where_it_is_advertised_only() -> None:
    for sent in (False, True):
        play = Play(vibe).ready(offers=FORKS if sent else None).bound()
        play.feed(Ask(ForkThread("fork", "s")))
        assert (methods(play)[-1] == "session/fork") is sent
        assert bool(play.of(AskFailed)) is not sent
        play.feed(Ask(ForkThread("part", "s", at_turn="t1")))
    assert play.of(AskFailed)[-1].failure.code == "fork_whole_only"


# ---- modes and models


def test_the_asking_mode_is_set_before_the_conversation_counts_as_ready() -> None:
    play = Play().ready().bound(modes=MODES)
    assert play.lines[-1]["method"] == "session/set_mode"
    assert play.lines[-1]["params"]["modeId"] == "default"
    assert not play.of(ThreadBound)
    play.reply({})
    assert play.of(ThreadBound) and play.of(ThreadChanged)[-1].mode == "default"


def test_what_the_agent_offers_is_told_with_its_conversation_and_when_it_changes() -> None:
    play = Play().ready().bound(modes=MODES, **MODELS)
    listed = [{"name": "compact", "description": "Shorten", "input": {"hint": "what to keep"}}, {"name": 3}]
    play.update("available_commands_update", availableCommands=listed)
    assert not play.of(OffersSeen)
    play.reply({})
    told = SlashCommand("compact", "Shorten", "what to keep")
    [offers] = play.of(OffersSeen)
    assert offers == OffersSeen("s", ("one", "two"), ("auto", "default", "yolo"), (told,))
    play.update("available_commands_update", availableCommands=listed)
    assert len(play.of(OffersSeen)) == 1
    play.update("available_commands_update", availableCommands=[])
    assert play.of(OffersSeen)[-1] == OffersSeen("s", commands=())


def test_a_conversation_in_a_mode_that_was_refused_is_none() -> None:
    play = Play().ready().bound(modes=MODES)
    play.fail(-32602, "No such mode")
    assert not play.of(ThreadBound)
    assert play.of(AskFailed)[-1].failure.code == "mode_refused"


def test_a_mode_the_agent_does_not_have_is_told_and_never_sent() -> None:
    modes: Any = {"currentModeId": "code", "availableModes": [{"id": "code"}, {"id": "ask"}]}
    play = Play().ready().bound(modes=modes)
    assert methods(play) == ["initialize", "session/new"]
    assert [notice.code for notice in play.of(Notice)] == ["mode_not_offered"]
    assert play.of(ThreadBound)


def test_a_prompt_never_goes_with_more_rights_than_it_may_have() -> None:
    play = Play(grok).ready().bound(mode="full")
    assert play.lines[-1]["params"]["_meta"] == {"yoloMode": True}
    play.prompted(mode="ask")
    assert play.of(AskFailed)[-1].failure.code == "mode_not_offered"
    assert methods(play)[-1] == "session/new"


@pytest.mark.behaviour("F295")
def test_only_advertised_models_are_sent_and_a_prompt_waits_for_its_model() -> None:
    play = Play().ready().bound(**MODELS)
    play.prompted(model="three")
    assert play.of(AskFailed)[-1].failure.code == "model_not_offered"
    play.prompted(model="two")
    assert play.lines[-1]["method"] == "session/set_config_option"
    assert play.lines[-1]["params"] == {"sessionId": "s", "configId": "m", "value": "two"}
    play.reply(set_to("two"))
    assert play.of(ThreadChanged)[-1].model == "two"
    assert play.lines[-1]["method"] == "session/prompt"


def set_to(value: str) -> dict[str, Any]:
    return {"configOptions": [{**MODEL, "currentValue": value}]}


def test_an_accepted_value_is_not_believed_where_the_agent_says_another() -> None:
    play = Play().ready().bound(**MODELS)
    play.prompted(model="two")
    play.reply(set_to("one"))
    assert play.of(ThreadChanged)[-1].model == "one"
    assert play.of(AskFailed)[-1].failure.code == "model_refused"
    assert methods(play)[-1] == "session/set_config_option"


def test_the_older_methods_are_used_where_nothing_newer_is_advertised() -> None:
    models: Any = {"currentModelId": "one", "availableModels": [{"modelId": "one"}, {"modelId": "two"}]}
    play = Play().ready().bound(model="two", models=models)
    assert play.lines[-1]["method"] == "session/set_model"
    play.reply({})
    [bound] = play.of(ThreadBound)
    assert bound.model == "two"


def test_a_prompt_that_waits_can_be_interrupted_and_is_then_never_sent() -> None:
    play = Play().ready().bound(**MODELS)
    play.prompted(model="two")
    play.feed(Ask(InterruptTurn("stop", "s")))
    assert play.of(AskFailed)[-1].failure.code == "no_active_turn"
    play.reply(set_to("two"))
    assert methods(play)[-1] == "session/set_config_option"


def test_a_prompt_too_long_to_wait_is_refused_and_nothing_is_set() -> None:
    play = Play().ready().bound(**MODELS)
    play.feed(Ask(SendTurn("turn", "s", "c", (TextBlock("x" * 40_000),), model="two")))
    assert play.of(AskFailed)[-1].failure.code == "prompt_too_long"
    assert methods(play)[-1] == "session/new"


# ---- prompts and their ends


def test_one_prompt_at_a_time() -> None:
    play = working()
    play.feed(Ask(SendTurn("two", "s", "c2", (TextBlock("more"),))))
    assert play.of(AskFailed)[-1].failure.code == "turn_running"
    assert methods(play).count("session/prompt") == 1


def test_an_image_is_refused_and_not_dropped() -> None:
    play = Play().ready(offers={"promptCapabilities": {"image": True}}).bound()
    play.feed(Ask(SendTurn("turn", "s", "c", (TextBlock("look"), ImageBlock("/w/a.png", "image/png")))))
    assert play.of(AskFailed)[-1].failure.code == "text_only"


@pytest.mark.behaviour("F278")
@pytest.mark.parametrize(
    ("code", "message", "data", "name"),
    [
        (-32000, "Authentication required", None, "auth_required"),
        (-32603, "Internal error", "Unauthorized (401) from the model", "auth_required"),
        (-32603, "Internal error", {"details": "HTTP 429: slow down"}, "rate_limited"),
        (-32603, "Internal error", "boom", "agent_error_-32603"),
        (-32800, "Cancelled", None, "cancelled"),
    ],
)
def test_errors_of_a_prompt_are_typed(code: int, message: str, data: Any, name: str) -> None:
    play = working()
    play.update("agent_message_chunk", content={"type": "text", "text": "w"})
    play.fail(code, message, data)
    [ended] = play.of(TurnEnded)
    assert isinstance(ended.failure, Failure) and ended.failure.code == name
    assert ended.outcome == ("interrupted" if name == "cancelled" else "failed")


@pytest.mark.behaviour("F249", "F295")
@pytest.mark.parametrize("started", [True, False])
def test_an_error_after_our_cancel_is_an_interrupted_turn(started: bool) -> None:
    play = working()
    if started:
        play.update("agent_message_chunk", content={"type": "text", "text": "w"})
    number = play.lines[-1]["id"]
    play.feed(Ask(InterruptTurn("stop", "s")))
    assert play.of(AskDone) and not play.of(TurnEnded)
    play.feed(Frame({"id": number, "error": {"code": -32603, "message": "aborted"}}))
    assert [ended.outcome for ended in play.of(TurnEnded)] == ["interrupted"]


def test_a_good_end_of_an_agent_that_tells_errors_as_text_is_an_inference() -> None:
    for said, outcome in (("Well.", "completed"), ("Error: no key", "failed"), ("", None)):
        play = Play().ready(agentInfo={"name": "Copilot"}).bound().prompted()
        if said:
            play.update("agent_message_chunk", content={"type": "text", "text": said})
        play.reply({"stopReason": "end_turn"})
        [ended] = play.of(TurnEnded)
        assert (ended.outcome, ended.evidence) == (outcome, "inferred")


def test_an_unknown_stop_word_leaves_the_outcome_unknown() -> None:
    play = working()
    play.reply({"stopReason": "out_of_luck"})
    [ended] = play.of(TurnEnded)
    assert (ended.outcome, ended.word) == (None, "out_of_luck")


def test_a_thought_and_an_answer_with_one_id_are_two_items() -> None:
    play = working()
    for kind in ("thought", "message", "thought"):
        play.update(f"agent_{kind}_chunk", messageId="m", content={"type": "text", "text": "so"})
    refs = [delta.ref.id for delta in play.of(TextDelta)]
    assert len(set(refs)) == 3 and refs[0] == "m"


def test_text_that_goes_on_behind_a_tool_call_is_not_lost() -> None:
    play = working()
    play.update("agent_message_chunk", messageId="m", content={"type": "text", "text": "one"})
    play.update("tool_call", toolCallId="c", title="t", kind="read", status="completed")
    play.update("agent_message_chunk", messageId="m", content={"type": "text", "text": "two"})
    closed = {e.ref.id for e in play.of(ItemSeen) if e.kind == "assistant_message" and e.state == "completed"}
    after = [delta for delta in play.of(TextDelta) if delta.text == "two"]
    assert closed == {"m"} and after[0].ref.id not in closed


# ---- tools and requests


def frames() -> dict[str, tuple[str, dict[str, Any], dict[str, Any]]]:
    raw = {"command": "ls"}
    call = {"toolCallId": "c", "title": "List", "kind": "execute", "status": "pending", "rawInput": raw}
    update = {"toolCallId": "c", "kind": "execute", "status": "in_progress", "locations": [{"path": "/w/a"}]}
    asked = {"toolCallId": "c", "title": "List", "kind": "execute", "rawInput": raw}
    return {
        "call": ("session/update", {"update": {"sessionUpdate": "tool_call", **call}}, {}),
        "update": ("session/update", {"update": {"sessionUpdate": "tool_call_update", **update}}, {}),
        "permission": ("session/request_permission", {"toolCall": asked, "options": OPTIONS}, {"id": "q"}),
    }


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
@pytest.mark.behaviour("F145")
def test_call_update_and_permission_are_one_item_in_every_order(order: tuple[str, ...]) -> None:
    play = working()
    for name in order:
        method, params, more = frames()[name]
        play.frame(method, {"sessionId": "s", **params}, **more)
    items = play.of(ItemSeen)
    assert {item.ref.id for item in items} == {"c"} and {item.kind for item in items} == {"command"}
    [card] = play.of(RequestOpened)
    assert card.item == items[0].ref and play.events.index(items[0]) < play.events.index(card)
    assert (card.kind, card.content.command) == ("command_approval", "ls")
    known = ItemContent()
    for item in items:
        known = merged(known, item.content)
    assert (known.title, known.command, known.path) == ("List", "ls", "/w/a")
    play.feed(Ask(Respond("yes", card.key, Answer("accept"))))
    play.update("tool_call_update", toolCallId="c", status="completed")
    assert [item.state for item in play.of(ItemSeen)][-1] == "completed"


def test_an_announcement_that_comes_late_takes_nothing_back() -> None:
    play = working()
    method, params, more = frames()["permission"]
    play.frame(method, {"sessionId": "s", **params}, **more)
    play.update("tool_call", toolCallId="c", title="bash", kind="execute", rawInput={"cwd": "/w"})
    known = ItemContent()
    for item in play.of(ItemSeen):
        known = merged(known, item.content)
    assert (known.title, known.command, known.cwd) == ("List", "ls", "/w")


@pytest.mark.behaviour("F145", "F148")
@pytest.mark.parametrize(
    ("decision", "native"),
    [
        ("accept", "yes"),
        ("decline", "no"),
        ("accept_always", "always-all"),
        ("accept_always_2", "always-this"),
    ],
)
def test_a_permission_is_answered_by_the_id_of_its_option(decision: str, native: str) -> None:
    play = working()
    method, params, more = frames()["permission"]
    play.frame(method, {"sessionId": "s", **params}, **more)
    [card] = play.of(RequestOpened)
    assert [option.id for option in card.options] == ["accept", "accept_always", "accept_always_2", "decline"]
    assert [option.effect for option in card.options[:3]] == ["allow_once", "allow_always", "allow_always"]
    play.feed(Ask(Respond("answer", card.key, Answer(decision))))
    assert play.lines[-1] == {
        "jsonrpc": "2.0",
        "id": "q",
        "result": {"outcome": {"outcome": "selected", "optionId": native}},
    }


def test_a_request_that_the_agent_takes_back_is_closed() -> None:
    play = working()
    method, params, more = frames()["permission"]
    play.frame(method, {"sessionId": "s", **params}, **more)
    play.frame("$/cancel_request", {"requestId": "q"})
    [closed] = play.of(RequestClosed)
    assert (closed.by, closed.reason) == ("agent", "withdrawn")
    assert play.lines[-1]["error"]["code"] == -32800
    play.frame("$/cancel_request", {"requestId": "q"})
    assert len(play.of(RequestClosed)) == 1


@pytest.mark.parametrize(
    "method", ["fs/read_text_file", "fs/write_text_file", "terminal/create", "_any/thing"]
)
def test_what_was_not_offered_is_refused_and_kept(method: str) -> None:
    play = working()
    play.frame(method, {"sessionId": "s", "path": "/w/a"}, id="string-id")
    assert play.lines[-1]["id"] == "string-id" and play.lines[-1]["error"]["code"] == -32601
    assert [event.name for event in play.of(OpaqueSeen)] == [method]


def test_unknown_updates_are_kept_and_start_nothing() -> None:
    play = Play().ready().bound()
    play.update("something_new", value=1)
    [kept] = play.of(OpaqueSeen)
    assert kept.name == "session/update something_new" and msgspec.to_builtins(kept.payload)["value"] == 1


def test_work_of_a_conversation_nobody_opened_is_a_child_and_news_of_it_is_not() -> None:
    play = working()
    play.update("usage_update", thread="other", used=1, size=2)
    play.update("available_commands_update", thread="other", availableCommands=[])
    assert "other" not in play.state.sessions
    play.update("agent_message_chunk", thread="other", content={"type": "text", "text": "hi"})
    assert play.state.sessions["other"].parent == "s"


def test_children_that_are_done_make_room_for_more() -> None:
    play = Play(grok).ready().bound().prompted()
    for number in range(100):
        names = {"parent_session_id": "s", "child_session_id": f"child-{number}"}
        for word in ("subagent_spawned", "subagent_finished"):
            given = {"sessionUpdate": word, "status": "completed", **names}
            play.frame("_x.ai/session_notification", {"sessionId": "s", "update": given})
    assert "child-99" in play.state.sessions and "s" in play.state.sessions
    assert len(play.of(TurnEnded)) == 100
