"""The file methods of the protocol, at the adapter: offered where nobody has to be asked, answered once."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX
from podium.contract.errors import failure
from podium.contract.events import DiagnosticSeen, FileChange, ItemSeen, OpaqueSeen, SubagentSeen
from podium.contract.inputs import Ask, Attached, EnsureThread, Exit, OpenSession, Served
from podium.contract.serving import (
    FileText,
    FileWritten,
    NotServed,
    Outcome,
    ReadTextFile,
    Serve,
    WriteTextFile,
)
from podium.providers.acp import adapter, grok, vibe
from podium.providers.acp.flavours import KNOWN
from podium.providers.acp.state import SERVES_MAX
from podium.providers.scripted import adapter as scripted
from podium.testkit.cassettes import decode_cassette, encode_cassette
from tests.providers.acp.acp_play import Play

READ, WRITE = "fs/read_text_file", "fs/write_text_file"
CHANGE = FileChange("/w/a.txt", "update", "@@ -1,1 +1,1 @@\n-a\n+b\n")
OUTCOMES: dict[str, Outcome] = {
    READ: FileText("text\n"),
    WRITE: FileWritten(CHANGE),
}
GONE = NotServed(failure("storage", "not_found", "There is no such file."))


def offered(play: Play) -> tuple[bool, bool]:
    fs = play.lines[0]["params"]["clientCapabilities"]["fs"]
    return fs["readTextFile"], fs["writeTextFile"]


def opened(mode: Any = "full", *, files: Any = True, of: Any = grok) -> Play:
    play = Play(of)
    play.feed(Ask(OpenSession("open", "/w", mode, options={} if files is None else {"files": files})))
    play.reply({"protocolVersion": 1, "agentCapabilities": {}})
    return play


def working(mode: Any = "full", **more: Any) -> Play:
    return opened(mode, **more).bound(mode).prompted()


def want(play: Play, method: str, rpc_id: Any, **params: Any) -> tuple[Serve, ...]:
    given = {
        "sessionId": "s",
        "path": "/w/a.txt",
        **({"content": "b\n"} if method == WRITE else {}),
        **params,
    }
    return play.frame(method, given, id=rpc_id).serves


def answers(play: Play) -> dict[Any, Any]:
    """What the agent was answered, by its own ids; none twice."""
    found = [
        (line["id"], line.get("result", line.get("error"))) for line in play.lines if "method" not in line
    ]
    assert len({str(key) for key, _ in found}) == len(found)
    return dict(found)


def reason(answer: Any) -> str:
    return str(answer["data"]["reason"])


@pytest.mark.parametrize(
    ("mode", "reads", "writes"),
    [("read", True, False), ("ask", True, False), ("edit", True, True), ("full", True, True)],
)
def test_a_write_is_offered_only_where_nobody_decides(mode: Any, reads: bool, writes: bool) -> None:
    assert offered(opened(mode)) == (reads, writes)
    assert offered(opened(mode, of=scripted, files=None)) == (reads, writes)
    assert offered(opened(mode, of=scripted, files=False)) == (False, False)
    assert offered(opened(mode, files="yes")) == (False, False)


def test_no_real_agent_is_offered_files_unless_the_instance_says_so() -> None:
    for of in (grok, vibe, adapter):
        assert offered(opened(files=None, of=of)) == (False, False)
    assert not any(flavour.uses_files for flavour in KNOWN)


@pytest.mark.parametrize("method", [READ, WRITE, "terminal/create", "terminal/output"])
def test_what_was_not_offered_is_answered_by_the_protocols_own_error(method: str) -> None:
    play = working(files=None)
    assert want(play, method, 7) == ()
    assert answers(play)[7]["code"] == -32601
    assert play.of(OpaqueSeen)[-1].name == method
    play = working("ask")
    if method != READ:
        assert want(play, method, 8) == ()
        assert answers(play)[8]["code"] == -32601


def test_a_read_and_a_write_are_asked_for_and_answered() -> None:
    play = working()
    [read] = want(play, READ, 0, line=3, limit=2)
    [write] = want(play, WRITE, "w")
    assert read.request == ReadTextFile("/w/a.txt", 3, 2)
    assert write.request == WriteTextFile("/w/a.txt", "b\n")
    play.feed(Served(write.tag, OUTCOMES[WRITE]))
    play.feed(Served(read.tag, OUTCOMES[READ]))
    assert answers(play) == {"w": {}, 0: {"content": "text\n"}}
    assert play.state.errands == {}


@pytest.mark.parametrize("order", tuple(permutations(range(3))))
def test_outcomes_in_any_order_reach_the_request_they_belong_to(order: tuple[int, ...]) -> None:
    play = working()
    tags = [want(play, READ, number)[0].tag for number in range(3)]
    for number in order:
        play.feed(Served(tags[number], FileText(str(number))))
    assert answers(play) == {number: {"content": str(number)} for number in range(3)}


def test_an_outcome_nobody_waits_for_is_only_counted() -> None:
    play = working()
    [serve] = want(play, READ, 0)
    play.feed(Served(serve.tag, OUTCOMES[READ]))
    before = len(play.lines)
    for tag in (serve.tag, "never", ""):
        for outcome in (*OUTCOMES.values(), GONE):
            play.feed(Served(tag, outcome))
    assert len(play.lines) == before
    assert play.of(DiagnosticSeen)[-1].name == "served_to_nobody"


def test_a_failure_reads_as_the_protocol_says_it() -> None:
    play = working()
    for number, (code, wanted) in enumerate(
        [("not_found", -32002), ("outside", -32602), ("path_invalid", -32602), ("too_long", -32603)]
    ):
        [serve] = want(play, READ, number)
        play.feed(Served(serve.tag, NotServed(failure("storage", code, "No.", fix="Do it."))))
        answer = answers(play)[number]
        assert (answer["code"], answer["message"], reason(answer)) == (wanted, "No. Do it.", code)


@pytest.mark.parametrize(
    "params",
    [
        {"path": None},
        {"path": 7},
        {"line": -1},
        {"limit": -1},
        {"line": "2"},
        {"limit": True},
        {"line": 2**70},
    ],
)
def test_a_malformed_request_is_refused_at_once(params: dict[str, Any]) -> None:
    play = working()
    assert want(play, READ, 0, **params) == ()
    assert reason(answers(play)[0]) == "params_invalid"
    assert want(play, WRITE, 1, content=None) == ()
    assert reason(answers(play)[1]) == "params_invalid"


def test_a_repeated_request_is_done_once_and_answered_once() -> None:
    play = working()
    [serve] = want(play, WRITE, 5)
    assert want(play, WRITE, 5) == ()
    play.feed(Served(serve.tag, OUTCOMES[WRITE]))
    assert answers(play) == {5: {}}
    [again] = want(play, WRITE, 5, content="c\n")  # an id that is free again names another request
    assert again.tag != serve.tag


def test_too_many_at_once_are_refused_and_the_state_holds_no_text() -> None:
    play = working()
    text = "x" * ADAPTER_STATE_MAX
    for number in range(SERVES_MAX):
        assert len(want(play, WRITE, f"{'i' * 100}{number}", content=text, path="/w/" + "p" * 9000)) == 1
    assert want(play, WRITE, "over") == ()
    assert reason(answers(play)["over"]) == "too_many"
    assert len(play.machine.dump()) < ADAPTER_STATE_MAX // 4


def test_a_new_owner_answers_what_was_under_way_and_does_nothing_again() -> None:
    play = working()
    tags = [want(play, method, number)[0].tag for number, method in enumerate((READ, WRITE))]
    step = play.feed(Attached("replay"))
    assert step.serves == ()
    assert {reason(answer) for answer in answers(play).values()} == {"interrupted"}
    for tag in tags:
        play.feed(Served(tag, OUTCOMES[WRITE]))
    assert len(answers(play)) == 2
    assert not play.of(ItemSeen)
    assert play.feed(Attached("replay")).sends == ()


def test_the_end_of_the_process_forgets_what_was_under_way() -> None:
    play = working()
    [serve] = want(play, READ, 0)
    play.feed(Exit(0))
    assert play.feed(Served(serve.tag, OUTCOMES[READ])).sends == ()
    assert play.state.errands == {}


def test_a_request_that_is_taken_back_is_answered_so() -> None:
    play = working()
    [serve] = want(play, READ, "r")
    play.frame("$/cancel_request", {"requestId": "r"})
    play.feed(Served(serve.tag, OUTCOMES[READ]))
    assert answers(play)["r"]["code"] == -32800


def test_a_conversation_in_a_lesser_mode_than_the_process_writes_nothing() -> None:
    play = opened("full")
    play.feed(Ask(EnsureThread("bind", "/w", "ask")))
    play.reply({"sessionId": "s"})
    play.prompted()
    assert want(play, WRITE, 0) == ()
    assert reason(answers(play)[0]) == "mode_forbids"
    assert len(want(play, READ, 1)) == 1


def test_a_child_works_in_the_mode_of_its_parent() -> None:
    play = working()
    [serve] = want(play, WRITE, 0, sessionId="child")
    assert [seen.child for seen in play.of(SubagentSeen)] == ["child"]
    play.feed(Served(serve.tag, OUTCOMES[WRITE]))
    [item] = [seen for seen in play.of(ItemSeen) if seen.kind == "file_change"]
    assert item.ref.thread == "child"


def test_a_write_without_a_tool_call_is_an_item_of_its_own() -> None:
    play = working()
    [serve] = want(play, WRITE, 0)
    assert not play.of(ItemSeen)
    play.feed(Served(serve.tag, OUTCOMES[WRITE]))
    [item] = play.of(ItemSeen)
    assert (item.kind, item.state, item.content.changes) == ("file_change", "completed", (CHANGE,))
    assert item.ref.turn == "t1"


@pytest.mark.parametrize("ended", [False, True])
def test_a_write_that_a_tool_call_shows_is_no_second_item(ended: bool) -> None:
    play = working()
    diff = {"type": "diff", "path": "/w/a.txt", "oldText": "a\n", "newText": "b\n"}
    play.update("tool_call", toolCallId="c", title="Edit", kind="edit", content=[diff])
    if ended:
        play.update("tool_call_update", toolCallId="c", status="completed")
    [serve] = want(play, WRITE, 0)
    play.feed(Served(serve.tag, OUTCOMES[WRITE]))
    assert len({(seen.ref.id, seen.ref.fingerprint) for seen in play.of(ItemSeen)}) == 1


def test_a_write_that_fails_is_no_change() -> None:
    play = working()
    [serve] = want(play, WRITE, 0)
    play.feed(Served(serve.tag, GONE))
    assert not play.of(ItemSeen)


@pytest.mark.parametrize("method", [READ, WRITE])
def test_state_can_be_stored_between_any_two_inputs(method: str) -> None:
    play = working()
    [serve] = want(play, method, 0)
    for given in (Served(serve.tag, OUTCOMES[method]), Served(serve.tag, GONE), Attached("replay"), Exit(0)):
        state = grok.load(play.machine.dump())
        assert state is not None and state == play.state
        assert grok.step(state, given) == grok.step(play.state, given)
        assert decode_cassette(encode_cassette([given])) == [given]
