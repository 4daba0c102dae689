"""The weak and the one-shot rehearsal agent: what is missing is refused or inferred, and said so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from podium.contract.adapter import LaunchSettings
from podium.contract.capabilities import Capabilities
from podium.contract.events import (
    AskFailed,
    ItemSeen,
    RequestOpened,
    SessionReady,
    TextDelta,
    ThreadMissing,
    TurnEnded,
    TurnStarted,
    UsageSeen,
)
from podium.contract.handles import Handle
from podium.contract.inputs import EnsureThread, InterruptTurn, Respond, SteerTurn, TextBlock
from podium.contract.leaves import MUST_BE_PROVEN
from podium.contract.requests import ACCEPT, Answer
from podium.contract.validation import check_declaration
from podium.contract.values import Strength
from podium.providers.scripted import ScriptedAdapter, adapter, one_shot, weak
from podium.providers.scripted.declaration import AGENT_VERSION
from podium.testkit import scripted_agent
from podium.testkit.driving import Conversation, Drive, said

Start = Callable[..., Drive]
SHAPES = {"rich": adapter, "weak": weak(), "one_shot": one_shot()}


def silent_turn(talk: Conversation, text: str, last_words: str) -> TurnEnded:
    """A turn of an agent that never says that it is done: the silence after its last words is the end."""
    drive = talk.drive
    at = talk.send(text)
    drive.until(TextDelta, lambda d: d.text.endswith(last_words) and d.kind == "assistant_message", after=at)
    (timer,) = drive.timers
    drive.fire(timer)
    return drive.until(TurnEnded, after=at)


@pytest.mark.behaviour("F047")
def test_silence_ends_a_weak_turn_and_the_evidence_says_inferred(start: Start) -> None:
    talk = Conversation(start(shape=weak()))
    end = silent_turn(talk, "hello", "safely.")
    assert (end.turn, end.outcome, end.evidence, end.word) == ("t1", "completed", "inferred", None)
    assert silent_turn(talk, "think", "it.").turn == "t2"
    assert len(talk.drive.of(TurnStarted)) == 2


@pytest.mark.behaviour("F047")
def test_silence_with_a_tool_open_waits_longer_and_leaves_the_outcome_unknown(start: Start) -> None:
    drive = start(shape=weak())
    talk = Conversation(drive)
    talk.send("tools_open")
    drive.until(TextDelta, lambda d: d.text == "open.")
    assert set(drive.timers.values()) == {30.0}
    drive.fire(next(iter(drive.timers)))
    end = drive.until(TurnEnded)
    assert (end.outcome, end.evidence) == (None, "inferred")


def test_silence_after_an_interrupt_reads_as_interrupted(start: Start) -> None:
    drive = start("--no-cancel", shape=weak())
    talk = Conversation(drive)
    talk.send("slow 600")
    drive.until(TextDelta)
    drive.ask(InterruptTurn("i", talk.thread))
    drive.fire(next(iter(drive.timers)))
    assert drive.until(TurnEnded).outcome == "interrupted"
    drive.kill()


@pytest.mark.behaviour("F049")
def test_a_weak_message_never_closes_by_itself(start: Start) -> None:
    talk = Conversation(start(shape=weak()))
    silent_turn(talk, "hello", "safely.")
    messages = [i for i in talk.drive.of(ItemSeen) if i.kind == "assistant_message"]
    assert [m.state for m in messages] == ["open"]


@pytest.mark.parametrize("more", [(), ("--no-ids",)])
def test_calls_without_ids_are_joined_by_title_and_order(start: Start, more: tuple[str, ...]) -> None:
    talk = Conversation(start(*more, shape=weak()))
    silent_turn(talk, "edit a.txt", "a.txt.")
    silent_turn(talk, "edit a.txt", "a.txt.")
    calls = [i for i in talk.drive.of(ItemSeen) if i.kind == "file_change"]
    assert all(call.ref.id is None for call in calls)
    refs = list(dict.fromkeys(call.ref for call in calls))
    assert [ref.turn for ref in refs] == ["t1", "t2"]
    assert len({ref.fingerprint for ref in refs}) == 2
    assert [c.state for c in calls if c.ref == refs[0]][-1] == "completed"
    assert not talk.drive.of(RequestOpened)


@pytest.mark.behaviour("F286")
def test_the_handshake_narrows_what_the_agent_does_not_advertise(start: Start) -> None:
    drive = start("--weak-ids", "--no-load")
    Conversation(drive)
    (ready,) = drive.of(SessionReady)
    record = adapter.capabilities()
    narrowed = record.narrowed(ready.narrowed)
    assert record.has("lifecycle.resume")
    assert not narrowed.has("lifecycle.resume")
    assert not narrowed.has("turns.steer_active")
    assert narrowed.has("turns.interrupt")


@pytest.mark.parametrize("shape", [weak(), one_shot()])
@pytest.mark.behaviour("F074")
def test_no_persistence_means_not_resumable(start: Start, shape: ScriptedAdapter) -> None:
    drive = start(shape=shape)
    talk = Conversation(drive)
    step = drive.ask(EnsureThread("e", str(drive.workspace), handle=talk.bound.handle))
    (missing,) = step.events
    assert isinstance(missing, ThreadMissing)
    assert missing.kind == "not_resumable"
    assert not step.sends


@pytest.mark.behaviour("F035")
def test_one_shot_is_text_in_and_final_answer_out(start: Start, workspace: Path) -> None:
    drive = start(shape=one_shot())
    events = Conversation(drive).turn("edit a.txt")
    assert (workspace / "a.txt").exists()
    assert [type(e) for e in events if isinstance(e, TextDelta | UsageSeen | RequestOpened)] == [TextDelta]
    assert said(events) == "I changed 1 lines of a.txt."
    kinds = {e.kind for e in events if isinstance(e, ItemSeen)}
    assert kinds == {"assistant_message"}
    assert isinstance(events[-1], TurnEnded)
    assert (events[-1].outcome, events[-1].evidence) == ("completed", "provider")


@pytest.mark.behaviour("F035")
def test_one_shot_rejects_every_selection_and_optional_ask(start: Start) -> None:
    drive = start(shape=one_shot())
    talk = Conversation(drive)
    asks = (
        EnsureThread("a", str(drive.workspace), model="rehearsal-2"),
        InterruptTurn("b", talk.thread),
        SteerTurn("c", talk.thread, "t1", "x", (TextBlock("x"),)),
        Respond("d", "0", Answer(ACCEPT)),
    )
    for command in asks:
        step = drive.ask(command)
        assert [type(e) for e in step.events] == [AskFailed]
        assert not step.sends


def test_without_a_home_nothing_is_kept(start: Start) -> None:
    drive = start(home=False)
    talk = Conversation(drive)
    talk.turn("hello")
    step = drive.ask(EnsureThread("e", str(drive.workspace), handle=Handle("acp", "scripted", talk.thread)))
    assert isinstance(step.events[0], ThreadMissing)


@pytest.mark.behaviour("F031")
@pytest.mark.parametrize("name", SHAPES)
def test_declarations_have_no_findings_and_every_claimed_ask_is_needed(name: str) -> None:
    shape = SHAPES[name]
    record = shape.capabilities()
    assert check_declaration(record, shape.asks()) == []
    for ask in shape.asks() - {"respond"}:
        assert check_declaration(record, shape.asks() - {ask})


@pytest.mark.behaviour("F287")
def test_each_declaration_is_a_fresh_copy() -> None:
    first = adapter.capabilities()
    leaves = first.leaves()
    leaves.clear()
    assert adapter.capabilities() == first
    assert adapter.capabilities() is not first


def level_of(record: Capabilities, path: str) -> bool:
    return record.has(path)


def test_the_shapes_are_ordered() -> None:
    rich, poor, least = (SHAPES[name].capabilities() for name in ("rich", "weak", "one_shot"))
    assert rich.strength("turns.terminal_quality") is Strength.STRONG
    assert poor.strength("turns.terminal_quality") is Strength.WEAK
    assert (poor.strength("identity.item"), least.strength("identity.item")) == (Strength.WEAK, Strength.NONE)
    for path in ("approvals.native_requests", "lifecycle.resume", "turns.steer_active", "planning.questions"):
        assert [level_of(r, path) for r in (rich, poor, least)] == [True, False, False]
    assert [level_of(r, "turns.interrupt") for r in (rich, poor, least)] == [True, True, False]


def test_another_version_of_the_agent_carries_most_claims_and_no_dangerous_one() -> None:
    assert scripted_agent.VERSION == AGENT_VERSION
    here, other = adapter.capabilities().effective(AGENT_VERSION), adapter.capabilities().effective("9.9.9")
    assert here.has("turns.steer_active")
    lost = {path for path in here.leaves() if here.has(path) and not other.has(path)}
    assert lost
    assert lost <= MUST_BE_PROVEN | {"approvals.enforcement"}
    assert other.has("turns.interrupt")


@pytest.mark.behaviour("F288")
def test_switches_stand_in_the_launch_and_nothing_else_changes_it() -> None:
    settings = LaunchSettings("", "/w")
    plain = adapter.launch(settings)
    assert plain == adapter.launch(LaunchSettings("", "/v", mode="full", model="m"))
    configured = adapter.launch(LaunchSettings("/other", "/w", options={"switches": ["--no-load"]}))
    assert configured.argv == ("/other", "--no-load")
    more = adapter.launch(LaunchSettings("", "/w", options={"switches": ["--no-load"]}))
    assert more.argv == (*plain.argv, "--no-load")
    assert weak().launch(settings).argv != plain.argv
    assert Path(plain.argv[2]) == Path(scripted_agent.__file__)
