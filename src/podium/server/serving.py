"""One server on a data folder: the socket, the life of its tasks, and the file that says where it is.

SIGTERM leaves agents working, for an upgrade; so does the first Ctrl-C, which says how many there are (R3).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import msgspec
import uvicorn

from podium.contract.errors import BadInput, Conflict
from podium.domain.entities import Thread
from podium.journal.store import Journal
from podium.runtime.incoming import working_folder
from podium.runtime.live import decode_entity
from podium.runtime.place import LOCK_FILE, SERVER_FILE, Place, read_place, write_place
from podium.runtime.podium import Podium
from podium.runtime.podium import open as open_podium
from podium.runtime.runtime import LINGER_MAX
from podium.runtime.settings import Settings
from podium.server.access import Access, check_host, read_token
from podium.server.app import create_app
from podium.server.service import Service
from podium.server.static import Page

DEFAULT_PORT = 7311

GRACE_SECONDS = 5
"""Seconds that open requests get when the server leaves."""

BACKLOG = 128

LEFT_OPEN = ("run", "session", "request", "checkpoint")
"""What a thread may have open when its server leaves."""

LOCK_RETRY, LOCK_TRIES = 0.01, 20
"""Seconds between tries to be the server, and how many."""

START_POLL = 0.005
"""Seconds between looks whether the server answers."""


def hold(descriptor: int) -> None:
    """Take the lock. Who only looks whether a server runs holds it for a moment: that is waited for."""
    for _ in range(LOCK_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            time.sleep(LOCK_RETRY)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def forget_place(data: Path) -> None:
    """Take away the file that says where a server is."""
    with contextlib.suppress(OSError):
        (data / SERVER_FILE).unlink()


@contextmanager
def only_server(data: Path) -> Generator[None]:
    """Be the one server of a data folder. Raises Conflict `server_running` if there is one."""
    descriptor = os.open(data / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            hold(descriptor)
        except OSError as error:
            place = read_place(data)
            where = f" at {place.url}" if place is not None else ""
            raise Conflict(
                "server_running",
                f"A server runs on this data folder already{where}.",
                fix="Open it: podium serve --url. Stop it: podium stop.",
            ) from error
        forget_place(data)  # of a server that was killed
        try:
            yield
        finally:  # only who holds the lock may take the file away
            forget_place(data)
    finally:
        os.close(descriptor)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises BadInput `port_taken` or `bad_host`. Port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, the loop sends each answer at once and waits for no receipt of the last one.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host.strip("[]"), port))
    except (OSError, OverflowError, UnicodeError) as error:
        found.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            text, fix = f"Port {port} is taken.", "Choose another: podium serve --port 0 takes a free one."
            raise BadInput("port_taken", text, fix=fix) from error
        raise BadInput(
            "bad_host", f"{host}:{port} cannot be listened at: {error}.", fix="Name another."
        ) from error
    found.listen(BACKLOG)
    found.set_inheritable(False)
    return found


def free_or(port: int | None, host: str) -> socket.socket:
    """The asked port; without one the usual one, or a free one if that is taken."""
    if port is not None:
        return listening(host, port)
    try:
        return listening(host, DEFAULT_PORT)
    except BadInput as error:
        if error.code != "port_taken":
            raise
        return listening(host, 0)


class Running(msgspec.Struct, frozen=True):
    """A server at work. `open_url` signs one browser in, once."""

    place: Place
    open_url: str
    service: Service


class _Server(uvicorn.Server):
    """uvicorn without its own signals: who started us listens to them."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def serving(
    settings: Settings, *, host: str = "127.0.0.1", port: int | None = None, linger: float = LINGER_MAX
) -> AsyncGenerator[Running]:
    """Serve a data folder inside this block. Agents outlive it for `linger` seconds (R3)."""
    check_host(host)
    with only_server(settings.data):
        bound = free_or(port, host)
        try:
            async with (
                open_podium(settings.data, environ=settings.environ, linger=linger) as opened,
                at_work(opened, settings, bound, host) as running,
            ):
                yield running
        finally:
            bound.close()


@asynccontextmanager
async def at_work(
    opened: Podium, settings: Settings, bound: socket.socket, host: str
) -> AsyncGenerator[Running]:
    """The tasks of a server on an open data folder."""
    token = read_token(settings.data)
    number: int = bound.getsockname()[1]
    access = Access(token)
    access.serve_as(host, number)
    service = Service(opened, access, working_folder())
    config = uvicorn.Config(
        create_app(service, Page.built()),
        lifespan="off",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = _Server(config)
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    place = Place(f"http://{shown}:{number}", token, os.getpid(), opened.runtime.id)
    problem: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(service.hub.run)
        group.start_soon(_take_over, opened)
        async with anyio.create_task_group() as answering:
            answering.start_soon(_serve, server, bound)
            await _started(server)
            write_place(settings.data, place)
            try:
                yield Running(place, f"{place.url}/#code={access.new_code()}", service)
            except Exception as error:  # raised again below, outside of the groups
                problem = error
            finally:
                server.should_exit = True
                service.hub.close()
        group.cancel_scope.cancel()
    if problem is not None:
        raise problem


async def _started(server: uvicorn.Server) -> None:
    while not server.started:  # noqa: ASYNC110 - it has no event for it
        await anyio.sleep(START_POLL)


async def _serve(server: uvicorn.Server, bound: socket.socket) -> None:
    await server.serve(sockets=[bound])


async def _take_over(opened: Podium) -> None:
    """Own what a server before us left working, so that it is seen and can be answered (F247).

    A killed one is found by its lock; one that left in good order by what it left open.
    """
    runtime = opened.runtime
    await runtime.recover_all()
    for thread_id in left_open(runtime.journal):
        if not runtime.owns(thread_id):
            with contextlib.suppress(Conflict):  # another Podium works with it
                await runtime.take_over(thread_id)


def left_open(journal: Journal) -> list[str]:
    """The threads with a run, a session, a request or a capture that is not over."""
    rows = [row for kind in LEFT_OPEN for row in journal.entities(kind, open_only=True)]
    found = (decode_entity(row) for row in rows)
    return list(dict.fromkeys(e.thread_id for e in found if not isinstance(e, Thread)))


def open_agents(service: Service) -> int:
    """How many agents work or wait right now."""
    return len(service.runtime.sessions.live)
