"""The event stream."""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.openapi import ResponseSpec
from litestar.params import FromQuery, HeaderParameter, QueryParameter
from litestar.response import Stream

from podium.contract.errors import BadInput, NotFound
from podium.runtime.snapshot import Snapshot
from podium.server.schema import Frames
from podium.server.service import Served
from podium.server.stream import ALL, Opening, frames

THREADS_MAX = 1000
"""Most threads that one stream can name."""

NO_BUFFER = {"x-accel-buffering": "no"}


@get(
    "/events",
    media_type="text/event-stream",
    sync_to_thread=False,
    responses={
        200: ResponseSpec(
            Frames, description="Frames", media_type="text/event-stream", generate_examples=False
        )
    },
    description="Server-sent events: hello, event, delta, heartbeat, reset, snapshot. See docs/http.md.",
)
def events(
    service: Served,
    threads: FromQuery[str | None] = None,
    live: FromQuery[str | None] = None,
    after: Annotated[str | None, QueryParameter(max_length=100)] = None,
    journal: Annotated[str | None, QueryParameter(max_length=100)] = None,
    last_event_id: Annotated[str | None, HeaderParameter(name="Last-Event-ID", max_length=100)] = None,
) -> Stream:
    """Everything that becomes true, once and in order; deltas of the live threads at once."""
    shown = names(live) or frozenset[str]()
    opening = Opening(names(threads), shown, last_event_id or after, journal)

    def snapshots() -> list[Snapshot]:
        found: list[Snapshot] = []
        for thread_id in sorted(shown - {ALL}):
            try:
                found.append(service.snapshots.thread(thread_id))
            except NotFound:  # the reader asked for what this journal never held
                continue
        return found

    stream = frames(service.hub, opening, service.boot, service.identity, snapshots)
    return Stream(stream, media_type="text/event-stream", headers=NO_BUFFER)


def names(given: str | None) -> frozenset[str] | None:
    """A list of threads, None for all of them."""
    if given is None or not given.strip():
        return None
    found = frozenset(n.strip() for n in given.split(",") if n.strip())
    if len(found) > THREADS_MAX:
        raise BadInput("too_many_threads", f"A stream can name {THREADS_MAX} threads.", fix="Leave it out.")
    return found


ROUTES = [events]
