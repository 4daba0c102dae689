"""A command for a thread that another living runtime owns: it is left in the journal, and its owner takes it.

So `podium requests answer` reaches a `podium run --wait` in another terminal. Receipts make it exactly once.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable

import anyio
import anyio.to_thread
import msgspec

from podium.contract.errors import Conflict, PodiumError
from podium.domain.commands import AnswerRequest, InterruptRun
from podium.journal.store import Journal
from podium.runtime.receipts import Receipt, receipt_of

HANDOVER_POLL = 0.2
"""Seconds between looks for commands left by others, and for the answer to ours."""

HANDOVER_MAX = 15.0
"""Longest wait for the owner to take a command, in seconds; an older one is never taken."""

Portable = AnswerRequest | InterruptRun
"""Commands that may be handed over: they concern work that the owner has at hand."""


class _Left(msgspec.Struct):
    command: Portable
    actor: str


async def hand_over(
    journal: Journal, thread_id: str, command: Portable, *, actor: str, command_id: str | None
) -> Receipt:
    """Leave a command for the thread's owner and wait, bounded, for its receipt.

    Raises the refusal the owner gave, or Conflict `thread_in_use` if the owner did not take it in time.
    """
    command_id = command_id or f"handed:{uuid.uuid4().hex}"
    payload = msgspec.json.encode(_Left(command, actor))
    await anyio.to_thread.run_sync(journal.hand_over, command_id, thread_id, time.time(), payload)
    with anyio.move_on_after(HANDOVER_MAX):
        while True:
            stored = journal.receipt(command_id)
            if stored is not None:
                return receipt_of(stored)
            await anyio.sleep(HANDOVER_POLL)
    raise Conflict(
        "thread_in_use",
        "Another Podium on this machine works with this thread and did not take the command.",
        fix="Wait for it to end, or stop it first.",
    )


async def take_handed_over(
    journal: Journal,
    mine: Callable[[str], bool],
    submit: Callable[[str, Portable, str, str], Awaitable[object]],
) -> None:
    """Apply what others left for our threads, until cancelled. A refusal is their answer, not our error."""
    seen = -1
    while True:
        await anyio.sleep(HANDOVER_POLL)
        version = journal.data_version()
        if version == seen:
            continue
        seen = version
        for command_id, thread_id, payload in journal.handed_over(time.time() - HANDOVER_MAX):
            if not mine(thread_id):
                continue
            try:
                left = msgspec.json.decode(payload, type=_Left)
            except msgspec.MsgspecError:
                continue  # of a newer version: its sender is told that nobody took it
            try:
                await submit(thread_id, left.command, left.actor, command_id)
            except PodiumError:
                continue
