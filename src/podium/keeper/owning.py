"""The keeper's one loop: the agent's pipes, one owner, and the end."""

# pathlib would cost memory in a process that exists once per agent.
# ruff: noqa: PTH118
from __future__ import annotations

import json
import os
import selectors
import signal
import time

from .clients import CONTROL_LINE_MAX, Client, Listener
from .feeding import Feeder
from .lifetime import FOLDER_EVERY, NEVER, SIGNALS, Ground, Lifetime
from .spawning import Refused, census, spawn
from .spooling import NEW_FILE, Ring, Spool, write_atomically

TYPE_CHECKING = False  # importing typing costs memory too
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MIB = 1 << 20
SPOOL_MAX, SEGMENT_MAX, STDIN_QUEUE_MAX, STDERR_RING = 512 * MIB, 8 * MIB, 32 * MIB, MIB
NOTE_MAX, CLIENTS_MAX, READ, LAST_READS, RECORD_TRIES = 4096, 8, 1 << 16, 16, 60
DRAIN_EXTRA = LAST_READS * READ  # what a pipe can still hold when the agent has ended and the spool is full
ATTACH_MAX, GRACE, FAREWELL_MAX, RETRY, TICK = 30.0, 5.0, 5.0, 1.0, 0.05  # seconds
MUTE_MAX = 3.0  # seconds an agent may live that has closed its stdout: it can never say anything again
IN, OUT = selectors.EVENT_READ, selectors.EVENT_WRITE


class Keeper:
    def __init__(self, folder: str, spec: dict[str, Any], umask: int) -> None:
        self.folder, self.selector, self.note = folder, selectors.DefaultSelector(), str(spec.get("note", ""))
        if len(self.note) > NOTE_MAX or not spec.get("argv") or not isinstance(spec.get("env"), dict):
            raise Refused("bad_spec", f"needs argv, cwd and env, and a note of at most {NOTE_MAX} characters")
        self.linger = float(spec.get("linger", 0))
        self.ground = Ground(folder, float(spec.get("folder_every", FOLDER_EVERY)))
        self.spool = Spool(
            folder, int(spec.get("spool_max", SPOOL_MAX)), int(spec.get("segment_max", SEGMENT_MAX))
        )
        self.ring = Ring(folder, int(spec.get("stderr_ring", STDERR_RING)))
        self.gen, self.told, self.full, self.stopped = 0, 0, False, False
        self.owner: Client | None = None
        self.waiting: list[Client] = []
        self.record: dict[str, Any] | None = None
        self.lost_at = time.monotonic() + max(ATTACH_MAX, self.linger)  # no owner yet
        self.retry_at = self.mute_at = NEVER
        stdin_max = int(spec.get("stdin_max", STDIN_QUEUE_MAX))
        log = os.open(os.path.join(folder, "sends"), NEW_FILE, 0o600)
        self.listener = Listener(folder)
        try:
            write_atomically(os.path.join(folder, "address"), self.listener.address.encode())
            pid, stdin, self.out, self.err = spawn(spec, umask)
        except BaseException:
            self.listener.remove()
            raise
        self.life, self.feeder = Lifetime(pid), Feeder(stdin, log, stdin_max)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.signalled)
        self.woken, wake = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self.watch(self.woken, IN, self.awake)
        self.watch(self.listener.sock.fileno(), IN, self.accept)
        self.watch(self.out, IN, self.read_out)
        self.watch(self.err, IN, self.read_err)

    def signalled(self, number: int, _: object) -> None:
        self.stopped = self.stopped or number != signal.SIGCHLD

    def awake(self, _: int) -> None:
        os.read(self.woken, READ)

    def watch(self, fd: int, events: int, callback: Callable[[int], None]) -> None:
        """Wait for these events on fd; 0 = for none."""
        key = self.selector.get_map().get(fd)
        if key and key.events != events:
            self.selector.unregister(fd)
        if events and not (key and key.events == events):
            self.selector.register(fd, events, callback)

    def close(self, fd: int) -> int:
        self.watch(fd, 0, self.accept)
        os.close(fd)
        return -1

    # -- the agent's pipes --------------------

    def room(self) -> int:
        return self.spool.room + (DRAIN_EXTRA if self.life.status is not None else 0)

    def read_out(self, _: int) -> None:
        data = os.read(self.out, min(READ, self.room())) if self.room() > 0 else None
        if data == b"":
            self.out = self.close(self.out)
            self.mute_at = time.monotonic() + MUTE_MAX
        elif data and not self.spool.write(data):
            self.retry_at = time.monotonic() + RETRY
        self.watch_out()

    def watch_out(self) -> None:
        """Read stdout only while there is room for it; the agent then waits at its own pipe."""
        full = self.room() <= 0 or bool(self.spool.unwritten)
        if full != self.full and self.out >= 0:
            self.full = full
            self.watch(self.out, 0 if full else IN, self.read_out)
            self.tell({"spool_full": full})

    def read_err(self, _: int) -> None:
        if data := os.read(self.err, READ):
            self.ring.write(data)
        else:
            self.err = self.close(self.err)

    def feed(self, _: int = 0) -> None:
        fd = self.feeder.fd
        lost = self.feeder.flush() if fd >= 0 else 0
        if fd >= 0:
            self.watch(fd, OUT if self.feeder.queue else 0, self.feed)
        if lost:
            self.tell({"stdin_closed": lost})
        if self.feeder.room_again():
            self.tell({"stdin_ready": True})

    # -- clients --------------------

    def accept(self, _: int) -> None:
        client = Client(self.listener.sock.accept()[0])
        self.waiting.append(client)
        self.settle(client)
        if len(self.waiting) > CLIENTS_MAX:
            self.drop(self.waiting[0])

    def serve(self, client: Client, events: int) -> None:
        try:
            if events & IN:
                client.receive()
            while (message := client.next_message()) is not None and not client.gone:
                self.answer(client, message) if client is self.owner else self.greet(client, message)
        except (ValueError, TypeError, KeyError, OverflowError, MemoryError):
            client.gone = True  # it does not speak our language
        self.settle(client)

    def settle(self, client: Client) -> None:
        """After anything was said to or by a client: write on, wait for room, or let it go."""
        client.flush()
        if client.gone:
            self.drop(client)
        else:
            self.watch(
                client.sock.fileno(),
                IN | (OUT if client.out else 0),
                lambda events: self.serve(client, events),
            )

    def drop(self, client: Client) -> None:
        client.gone = True
        if client.sock.fileno() >= 0:
            self.watch(client.sock.fileno(), 0, self.accept)
            client.sock.close()
        if client in self.waiting:
            self.waiting.remove(client)
        if client is self.owner:
            self.owner, self.lost_at = None, time.monotonic() + self.linger

    def tell(self, notice: dict[str, Any]) -> None:
        if self.owner:
            self.owner.put(notice)
            self.settle(self.owner)

    def greet(self, client: Client, message: dict[str, Any]) -> None:
        gen = message["gen"]
        if not isinstance(gen, int) or isinstance(gen, bool) or gen <= self.gen:
            client.put({"fenced": self.gen})
            client.gone = True
            return
        self.gen = gen
        if self.owner:
            self.owner.put({"fenced": gen})
            self.drop(self.owner)
        self.waiting.remove(client)
        self.owner, self.lost_at, self.told = client, NEVER, self.spool.offset
        client.line_max = CONTROL_LINE_MAX
        sent, pid = self.feeder.last_sent, self.life.pid
        client.put({"attached": gen, "last_sent": sent, "offset": self.told, "agent_pid": pid,
                    "exit": self.record, "note": self.note, "spool_full": self.full})  # fmt: skip

    def answer(self, client: Client, message: dict[str, Any]) -> None:
        """One message, one answer, in order."""
        reply: dict[str, Any] = {"error": "unknown_message"}
        if "n" in message:
            closing = message.get("close_stdin") is True
            line = "" if closing else message["line"]
            reply = self.feeder.send(message["n"], line, closing, self.spool.offset)
        elif "ack" in message:
            self.spool.trim(int(message["ack"]))
            self.watch_out()
            reply = {"kept_from": self.spool.starts[0] if self.spool.starts else 0}
        elif "linger" in message:
            self.linger = max(0.0, float(message["linger"]))
            reply = {"linger": self.linger}
        elif "signal" in message:
            reply = {"signalled": self.life.signal(SIGNALS[message["signal"]], message.get("group") is True)}
        elif "note" in message:
            reply = {"note": self.note}
        elif "census" in message:
            reply = {"census": census(self.life.pid)}
        elif "end" in message:
            grace = max(0.0, float(message.get("grace", GRACE)))
            self.end(f"ended:{message['end']}"[:NOTE_MAX], grace, 2 * grace)
            reply = {"ending": self.life.reason or "exited"}
        elif message.get("release") is True:
            reply = {"released": True}
        client.put(reply)
        client.gone = client.gone or "released" in reply
        self.feed()

    # -- the end --------------------

    def end(self, reason: str, term_after: float, kill_after: float) -> None:
        self.life.end(reason, term_after, kill_after)
        self.feeder.closing = True
        self.feed()

    def round(self) -> None:
        """Wait for the next event or date, then serve whatever is due."""
        dates = (self.lost_at, self.retry_at, self.mute_at, self.ground.look_at, self.life.next_at())
        wait = min(dates) - time.monotonic()
        wait = TICK if self.life.status is not None else max(TICK, wait)
        for key, events in self.selector.select(wait):
            if self.selector.get_map().get(key.fd) is key:  # else an earlier callback of this round let it go
                try:
                    key.data(events)
                except OSError:  # nothing there after all, or a connection already gone
                    continue
        now = time.monotonic()
        self.life.tick(now)
        if self.stopped or now >= self.lost_at:
            self.lost_at = NEVER
            self.end("ended:keeper_stopped" if self.stopped else "owner_lost", 0, GRACE)
        if self.ground.due(now):
            self.end("folder_gone", 0, GRACE)
        if now >= self.mute_at:
            self.mute_at = NEVER
            self.end("stdout_closed", 0, GRACE)
        if now >= self.retry_at:
            self.retry_at = NEVER if self.spool.write(b"") else now + RETRY
        self.watch_out()
        if self.owner and not self.owner.out and self.told != self.spool.offset:
            self.told = self.spool.offset
            self.tell({"off": self.told})

    def run(self) -> None:
        while not self.life.settled(time.monotonic(), self.out >= 0):
            self.round()
        if self.life.reason:
            self.life.signal(signal.SIGKILL, group=True)
        for fd, take in ((self.out, self.spool.write), (self.err, self.ring.write)):
            try:
                for _ in range(LAST_READS if fd >= 0 else 0):
                    take(os.read(fd, READ))
            except OSError:  # empty
                continue
        status = self.life.status or 0
        code, number = (status, None) if status >= 0 else (None, -status)
        reason, at = self.life.reason or "exited", self.life.exit_at
        self.record = {"code": code, "signal": number, "reason": reason, "at": at,
                       "last_sent": self.feeder.last_sent, "offset": self.spool.offset}  # fmt: skip
        for _ in range(1 if self.life.reason == "folder_gone" else RECORD_TRIES):
            try:
                write_atomically(os.path.join(self.folder, "exit"), json.dumps(self.record).encode())
                break
            except OSError:  # the disk is full
                time.sleep(RETRY)
        self.tell({"exit": self.record})
        leave_at = time.monotonic() + FAREWELL_MAX
        while self.owner and self.owner.out and time.monotonic() < leave_at:
            self.round()
        self.listener.remove()
