"""Owners come and go at any moment; the agent and the keeper do not mind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from tests.keeper.keeping import ECHO, Kept, alive, eventually


def test_a_newer_generation_fences_an_older(kept: Kept) -> None:
    first = kept.start(ECHO, linger=60).client(3)
    assert kept.client(None).ask({"gen": 3}, "fenced") == {"fenced": 3}
    assert kept.client(None).ask({"gen": 2}, "fenced") == {"fenced": 3}
    first.send(1, "one")
    second = kept.client(4)
    assert second.attached["last_sent"] == 1
    assert first.until("fenced") == {"fenced": 4}
    assert first.ended()
    assert second.send(2, "two")["last_sent"] == 2
    late = kept.client(None)
    assert late.ask({"gen": 4}, "fenced") == {"fenced": 4}
    assert late.ended()


def test_a_fenced_client_writes_nothing_more(kept: Kept) -> None:
    first = kept.start(ECHO, linger=60).client(1)
    second = kept.client(2)
    with contextlib.suppress(BrokenPipeError):
        first.put({"n": 1, "line": "from the old one"})
    assert second.send(1, "from the new one")["last_sent"] == 1
    second.written()
    assert kept.output() == b"got from the new one\n"


@pytest.mark.parametrize("gen", ["1", None, True, 1.0, 0, -1, [], {}])
def test_a_generation_is_a_positive_integer(kept: Kept, gen: Any) -> None:
    client = kept.start(ECHO).client(None)
    assert client.ask({"gen": gen}, "fenced") == {"fenced": 0}
    assert kept.client(1).attached["attached"] == 1


GARBAGE = [
    b"\n",
    b"garbage\n",
    b"[]\n",
    b"null\n",
    b'"gen"\n',
    b'{"n":1,"line":"x"}\n',
    b"\xff\xfe\x00\n",
    b"[" * 3000 + b"\n",
    b"x" * 10_000,
    b'{"gen": ' + b"9" * 5000 + b"}\n",
]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_before_the_attach_drops_only_that_client(kept: Kept, garbage: bytes) -> None:
    owner = kept.start(ECHO, linger=60).client(1)
    bad = kept.client(None)
    bad.sock.sendall(garbage)
    bad.ended()
    assert owner.send(1, "x")["last_sent"] == 1


@pytest.mark.parametrize(
    "garbage",
    [
        *(line for line in GARBAGE if line.endswith(b"\n") and b"gen" not in line and b'"n"' not in line),
        b'{"n":"1","line":"x"}\n',
        b'{"n":true,"line":"x"}\n',
        b'{"n":1}\n',
        b'{"n":1,"line":7}\n',
        b'{"ack":"far"}\n',
        b'{"ack":null}\n',
        b'{"linger":[]}\n',
        b'{"signal":"HUP"}\n',
        b'{"signal":[]}\n',
        b'{"end":"x","grace":"long"}\n',
    ],
)
def test_garbage_from_the_owner_drops_it_and_keeps_the_agent(kept: Kept, garbage: bytes) -> None:
    owner = kept.start(ECHO, linger=60).client(1)
    owner.sock.sendall(garbage)
    owner.ended()
    assert kept.client(2).send(1, "x")["last_sent"] == 1


def test_messages_of_a_later_version_are_answered_and_change_nothing(kept: Kept) -> None:
    owner = kept.start(ECHO, note="opaque").client(1)
    assert owner.ask({"new": 1}, "error") == {"error": "unknown_message"}
    assert owner.attached["note"] == "opaque"
    assert owner.ask({"note": True}, "note") == {"note": "opaque"}


def test_a_lone_surrogate_is_refused_not_fatal(kept: Kept) -> None:
    owner = kept.start(ECHO).client(1)
    owner.sock.sendall(b'{"n":1,"line":"\\ud83d"}\n')
    assert owner.until("refused")["code"] == "not_encodable"
    assert owner.send(1, "x")["last_sent"] == 1


def test_a_client_that_vanishes_between_any_two_bytes(kept: Kept) -> None:
    """An earlier sketch died when a client vanished within one select round."""
    kept.start(ECHO, linger=60)
    gen = 0
    message = b'{"n":1,"line":"x"}\n{"census":true}\n'
    for cut in range(len(message) + 1):
        for hard in (False, True):
            gen += 1
            client = socket.socket(socket.AF_UNIX)
            client.connect(kept.answer["address"])
            client.sendall(b'{"gen":%d}\n' % gen + message[:cut])
            if hard:  # with unread data on both sides
                client.shutdown(socket.SHUT_RD)
            client.close()
    greeting = b'{"gen":999}\n'
    for cut in range(len(greeting)):
        client = socket.socket(socket.AF_UNIX)
        client.connect(kept.answer["address"])
        client.sendall(greeting[:cut])
        client.close()
    owner = kept.client(1000)
    assert owner.send(1, "x")["last_sent"] == 1  # whether it arrived before or not
    assert owner.send(2, "y")["last_sent"] == 2
    owner.ask({"n": 3, "close_stdin": True}, "n")
    owner.until("exit")
    assert [row[0] for row in kept.sends()] == [1, 2, 3]
    assert kept.output() == b"got x\ngot y\n"


def test_bytes_one_at_a_time(kept: Kept) -> None:
    client = kept.start(ECHO).client(None)
    for byte in b'{"gen":1}\n{"n":1,"line":"caf\xc3\xa9"}\n':
        client.sock.sendall(bytes([byte]))
    client.until("n")
    client.written()
    assert kept.output() == "got café\n".encode()


def test_many_idle_connections_do_not_keep_the_owner_out(kept: Kept) -> None:
    kept.start(ECHO)
    idle = [kept.client(None) for _ in range(30)]
    assert kept.client(1).send(1, "x")["last_sent"] == 1
    assert len(idle) == 30


def test_an_owner_that_does_not_read_is_dropped_and_the_agent_runs_on(kept: Kept) -> None:
    owner = kept.start(ECHO, linger=60).client(1)
    owner.sock.setblocking(False)
    flood = b'{"note":true}\n' * 1000
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(100_000):
            try:
                owner.sock.send(flood)
            except BlockingIOError:
                time.sleep(0.001)
    assert kept.client(2).send(1, "x")["last_sent"] == 1


def test_a_control_line_that_never_ends_is_dropped(kept: Kept) -> None:
    owner = kept.start(ECHO, linger=60).client(1)
    piece = b"x" * (1 << 20)
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(70):
            owner.sock.sendall(piece)
    assert kept.client(2).send(1, "x")["last_sent"] == 1


@pytest.mark.parametrize("leave", ["vanish", "release"])
def test_linger_zero_ends_the_agent_at_once(kept: Kept, leave: str) -> None:
    client = kept.start("import time; time.sleep(600)").client(1)
    client.put({"release": True}) if leave == "release" else client.close()
    record = kept.finished()
    assert record["reason"] == "owner_lost"
    assert record["signal"] == signal.SIGTERM


def test_linger_waits_for_the_next_owner(kept: Kept) -> None:
    kept.start(ECHO, linger=60).client(1).close()
    owner = kept.client(2)
    assert owner.send(1, "x")["last_sent"] == 1
    assert owner.ask({"linger": 1}, "linger") == {"linger": 1.0}
    owner.close()
    record = kept.finished()
    assert record["reason"] == "owner_lost"
    assert record["code"] == 0  # stdin was closed first, and that was enough
    assert kept.output() == b"got x\n"


def test_release_answers_and_closes(kept: Kept) -> None:
    owner = kept.start(ECHO, linger=60).client(1)
    assert owner.ask({"release": True}, "released") == {"released": True}
    assert owner.ended()
    assert kept.client(2).attached["exit"] is None


def test_the_launcher_may_be_killed(kept: Kept) -> None:
    """The keeper is nobody's child and in a session of its own."""
    kept.start(ECHO, linger=60)
    fields = Path(f"/proc/{kept.pid}/stat").read_text().rpartition(")")[2].split()
    parent, group, session = int(fields[1]), int(fields[2]), int(fields[3])
    assert group == session == kept.pid
    assert parent != os.getpid()
    assert {os.readlink(f"/proc/{kept.pid}/fd/{fd}") for fd in (0, 1, 2)} == {"/dev/null"}  # noqa: PTH115


def test_argv_and_environment_of_the_keeper_hold_no_secret(kept: Kept) -> None:
    kept.start(ECHO, env={"PATH": "/usr/bin", "TOKEN": "hunter2hunter2"}, note="note-secret")
    for name in ("cmdline", "environ"):
        data = Path(f"/proc/{kept.pid}/{name}").read_bytes()
        assert b"hunter2" not in data
        assert b"note-secret" not in data
    for path in kept.folder.iterdir():
        if path.is_file():
            assert b"hunter2" not in path.read_bytes()


def test_killing_the_keeper_kills_the_agent(kept: Kept) -> None:
    """The kernel does it (parent-death signal), so no agent outlives its keeper."""
    client = kept.start(
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"
    ).client(1)
    client.written()
    os.kill(kept.pid, signal.SIGKILL)
    eventually(lambda: not alive(kept.agent))
    assert kept.exit() is None
    assert kept.output() == b"up\n"


def test_a_keeper_asked_to_terminate_ends_its_agent_with_a_record(kept: Kept) -> None:
    kept.start(ECHO, linger=60).client(1)
    os.kill(kept.pid, signal.SIGTERM)
    assert kept.finished()["reason"] == "ended:keeper_stopped"


def test_offsets_are_coalesced_and_end_at_the_newest(kept: Kept) -> None:
    script = "import sys\nfor i in range(20_000): print('%09d' % i, flush=True)\nsys.stdin.read()"
    client = kept.start(script).client(1)
    client.written(200_000)
    offsets = [int(message["off"]) for message in client.seen if "off" in message]
    assert offsets == sorted(set(offsets))
    assert len(offsets) < 20_000


def test_the_answer_stands_in_a_file_too(kept: Kept) -> None:
    kept.start(ECHO)
    assert json.loads((kept.folder / "launched").read_text()) == kept.answer
    assert (kept.folder / "address").read_text() == kept.answer["address"]
