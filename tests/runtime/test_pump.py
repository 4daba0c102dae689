"""The pump: bytes in, reports and numbered sends out, however the bytes come and whatever restarts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.contract.adapter import HttpSend, Step
from podium.contract.events import (
    DiagnosticSeen,
    ItemContent,
    ItemSeen,
    Notice,
    OpaqueSeen,
    Ref,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from podium.contract.inputs import Input, InterruptTurn, SendTurn, TextBlock
from podium.domain.commands import NoteTrouble, SessionFailed
from podium.runtime.pump import Process, Pump, Report
from podium.transport import lines as lines_module
from podium.transport.lines import LineReader
from podium.transport.masking import Secrets
from tests.runtime.engine_rig import Puppet, frame

SECRET = "hunter2-hunter2-hunter2"
SECRETS = Secrets({"SITE_PASSWORD": SECRET})
MASK = "[secret SITE_PASSWORD]"


def say(text: str, item: str = "i1") -> TextDelta:
    return TextDelta(Ref("n1", "t1", item), "assistant_message", "text", text)


def pump(adapter: Any = None, secrets: Secrets = SECRETS) -> Pump:
    return Pump(Process("pr", "ses", "thr", "rt", "token", "/f"), adapter or Puppet(), "strong", secrets)


def fed(given_pump: Pump, data: bytes, size: int | None = None) -> list[Report]:
    """What comes out when these bytes come in pieces of this size."""
    reports: list[Report] = []
    for start in range(0, len(data), size or max(1, len(data))):
        for line in given_pump.lines(data[start : start + (size or len(data))]):
            reports += given_pump.line(line)
    return reports


def restored(old: Pump, adapter: Any = None) -> Pump:
    """The pump as a new runtime finds it."""
    found = Pump.restore(old.row(), adapter or Puppet(), "strong", old.secrets, old.next_send - 1)
    assert found is not None
    return found


STREAM = b"".join(
    (
        b"Welcome!\n\n",
        frame(TurnStarted("n1", "t1")),
        b"\x1b[1 q" + frame(say("ümläut 漢 ")),
        b"[info] log\n",
        frame(say(f"key {SECRET[:7]}")),
        frame(say(f"{SECRET[7:]} end ")),
        frame(say(SECRET[:12])),
        frame(ItemSeen(Ref("n1", "t1", "c"), "command", "completed", ItemContent(command=f"echo {SECRET}"))),
        frame(DiagnosticSeen("known")),
        b'{"half": \n',
        frame(TurnEnded("n1", "t1", "completed")),
        b'{"events": [], "no": "newline"}',
    )
)


def whole(reports: list[Report]) -> str:
    return "".join(r.text for r in reports if isinstance(r, TextDelta))


def test_every_cut_of_the_bytes_gives_the_same_reports() -> None:
    one = pump()
    wanted = [*fed(one, STREAM), *one.exit(0, None, "exited")]
    assert len(wanted) > 6 and one.read_offset == len(STREAM)
    for at in range(len(STREAM) + 1):
        other = pump()
        got = [*fed(other, STREAM[:at]), *fed(other, STREAM[at:]), *other.exit(0, None, "exited")]
        assert got == wanted and other.read_offset == len(STREAM)
        assert other.noise == one.noise and other.counts == one.counts
    single = pump()
    assert [*fed(single, STREAM, 1), *single.exit(0, None, "exited")] == wanted


def test_a_restart_at_any_byte_gives_the_same_reports() -> None:
    """Stored, dropped, restored, and read on from where it was consumed."""
    one = pump()
    wanted = [*fed(one, STREAM), *one.exit(0, None, "exited")]
    for at in range(len(STREAM) + 1):
        first = pump()
        got = fed(first, STREAM[:at])
        second = restored(first)
        assert second.row() == first.row()
        got += [*fed(second, STREAM[second.read_offset :]), *second.exit(0, None, "exited")]
        assert got == wanted, f"differs after a restart at byte {at}"
        assert second.row() == one.row()


pieces = st.lists(st.sampled_from(["a ", SECRET, SECRET[:5], SECRET[5:], "ü", "sk-"]), max_size=12)


@pytest.mark.behaviour("F277")
@settings(max_examples=200)
@given(pieces, st.data())
def test_no_secret_leaves_whole_however_text_is_cut(words: list[str], data: st.DataObject) -> None:
    text = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    made = pump()
    reports: list[Report] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        reports += fed(made, frame(say(text[start:end])))
        assert SECRET.encode() not in made.row().correlator
    reports += made.release()
    assert SECRET not in whole(reports)
    if "sk-" not in words:  # what follows it may be masked as one token or as two secrets
        assert whole(reports) == SECRETS.mask_text(text)


@pytest.mark.behaviour("F277")
def test_a_secret_is_masked_in_frames_noise_and_what_is_stored() -> None:
    made = pump()
    reports = fed(made, STREAM)
    row = made.row()
    for stored in (
        msgspec.json.encode(reports),
        *(n.encode() for n in made.noise),
        row.state,
        row.correlator,
    ):
        assert SECRET.encode() not in stored
    items = [r for r in reports if isinstance(r, ItemSeen)]
    assert items[0].content.command == f"echo {MASK}"
    fed(made, f"\nlogin with {SECRET}\n".encode())
    assert made.noise[-1] == f"login with {MASK}"


def test_held_text_comes_before_whatever_follows_it() -> None:
    made = pump()
    assert fed(made, frame(say("word hunter2-"))) == [say("word ")]
    after = fed(made, frame(TurnEnded("n1", "t1", "completed")))
    assert after == [say("hunter2-"), TurnEnded("n1", "t1", "completed")]
    assert made.release() == []


def test_lines_over_the_bound_are_dropped_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "LINE_MAX", 1000)
    made = pump()
    made.reader = LineReader(line_max=1000)
    data = b'{"x": "' + b"y" * 5000 + b'"}\n' + frame(TurnStarted("n1", "t1"))
    reports = fed(made, data, 700)
    assert isinstance(reports[0], NoteTrouble) and reports[0].code == "frame_too_long"
    assert reports[1:] == [TurnStarted("n1", "t1")] and made.read_offset == len(data)


@pytest.mark.parametrize("line", [b'{"events": [], "x": "\\ud83d"}\n', b'{"events": [], "x": "\xff\xfe"}\n'])
def test_what_is_no_text_is_mended_and_said_a_bounded_number_of_times(line: bytes) -> None:
    made = pump()
    told: list[Report] = []
    for _ in range(50):
        told += fed(made, line)
        made = restored(made)
    codes = [r.code for r in told if isinstance(r, NoteTrouble)]
    assert codes == ["frame_repaired"] * len(codes) and 1 <= len(codes) <= 5
    assert made.inputs == 50


def test_storms_of_what_nothing_depends_on_are_bounded() -> None:
    made = pump()
    reports: list[Report] = []
    for _ in range(400):
        reports += fed(made, frame(OpaqueSeen("new", {}), Notice("info", "n", "n")))
    assert len(reports) <= 202
    assert fed(made, frame(TurnStarted("n1", "t1"))) == [TurnStarted("n1", "t1")]
    assert len(fed(made, frame(OpaqueSeen("new", {})))) == 1


def test_asks_become_sends_with_dense_numbers_over_a_restart() -> None:
    made = pump()
    made.ask(SendTurn("turn:a", "n1", "m1", (TextBlock("hello"),)))
    made.ask(InterruptTurn("stop:r", "n1", "t1"))
    rows = made.take_sends()
    assert [(r.n, r.ask_id, r.prompt) for r in rows] == [(1, "turn:a", True), (2, "stop:r", False)]
    assert made.take_sends() == []
    again = restored(made)
    again.ask(InterruptTurn("stop:s", "n1", "t1"))
    assert [r.n for r in again.take_sends()] == [3]


class Odd(Puppet):
    """An adapter of another package that breaks its contract in one way."""

    def __init__(self, way: str) -> None:
        self.way = way

    def step(self, state: Any, given: Input) -> Any:
        match self.way:
            case "raises":
                raise ValueError("odd")
            case "returns":
                return None
            case _:
                return Step(state, sends=(HttpSend("t", "GET", "/"),))


@pytest.mark.behaviour("F272")
@pytest.mark.parametrize("way", ["raises", "returns", "http"])
def test_a_broken_adapter_is_a_failed_session_once(way: str) -> None:
    made = pump(Odd(way))
    reports = fed(made, frame(TurnStarted("n1", "t1")) * 3)
    assert len(reports) == 1 and isinstance(reports[0], SessionFailed)
    assert (reports[0].session_id, reports[0].failure.code) == ("ses", "adapter_fault")
    assert made.ask(InterruptTurn("a", "n1")) == [] and made.take_sends() == []
    assert made.read_offset == 3 * len(frame(TurnStarted("n1", "t1"))) and made.row().state


def test_a_state_over_its_bound_is_stored_as_it_last_was() -> None:
    made = pump()
    fed(made, frame(size=10))
    assert made.row().state == b"1" * 10
    fed(made, frame(size=300_000))
    row = made.row()
    assert row.state == b"1" * 10 and row.closed
    assert made.broken is not None and made.broken.code == "adapter_fault"
    assert fed(made, frame(TurnStarted("n1", "t1"))) == []
