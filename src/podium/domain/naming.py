"""Which entities a command is about: the engine brings them back into view before it decides (F250, F251).

Memory holds open entities only (R5). A late frame, a repeated one, or a late answer names a closed one;
without it in view it would look new, and what had ended would begin again.
"""

from __future__ import annotations

from podium.contract.events import Ref, RequestClosed, RequestOpened, SubagentSeen
from podium.domain.commands import AnswerRequest, DomainCommand, Reported, Restored, SendMessage
from podium.domain.entities import ProviderThread
from podium.domain.outputs import derived
from podium.domain.state import ThreadState


def turn_id(provider_thread: ProviderThread, native: str) -> str:
    """Our id of a native turn: always the same for the same turn (F090)."""
    return derived("trn", provider_thread.id, native)


def request_id(session_id: str, key: str) -> str:
    """Our id of a request: the adapter's key is unique within its process."""
    return derived("req", session_id, key)


def child_node_id(run_id: str, event: SubagentSeen) -> str:
    """The node of a child within a run."""
    return derived("nod", run_id, "child", event.child or event.ref.id or "")


def message_id(thread_id: str, client_id: str) -> str:
    """Our id of a message: the same client id names the same message (F281)."""
    return derived("msg", thread_id, client_id)


def named(state: ThreadState, command: DomainCommand) -> list[str]:
    """The ids of everything this command may be about, open, closed or not there at all."""
    if isinstance(command, AnswerRequest):
        return [command.request_id]
    if isinstance(command, Restored):
        return [command.checkpoint_id]
    if isinstance(command, SendMessage) and state.thread is not None:
        return [message_id(state.thread.id, command.client_id)]
    if not isinstance(command, Reported):
        return []
    event = command.event
    ids = [command.item_id] if command.item_id is not None else []
    thread, native = _place(event)
    provider_thread = state.by_native(thread) if thread is not None else None
    turn = None
    if provider_thread is not None and native is not None:
        ids.append(key := turn_id(provider_thread, native))
        turn = state.turns.get(key)
    if isinstance(event, RequestOpened | RequestClosed):
        ids.append(request_id(command.session_id, event.key))
    if isinstance(event, SubagentSeen):
        run = state.open_run(turn.run_id) if turn else state.working
        if run is not None:
            ids.append(child_node_id(run.id, event))
    return ids


def _place(event: object) -> tuple[str | None, str | None]:
    ref = getattr(event, "ref", None)
    if isinstance(ref, Ref):
        return ref.thread, ref.turn
    thread, turn = getattr(event, "thread", None), getattr(event, "turn", None)
    return (thread if isinstance(thread, str) else None), (turn if isinstance(turn, str) else None)
