"""What the agent has its client do: the file methods of the protocol. The work is done elsewhere."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import DiagnosticSeen, FileChange, ItemContent, ItemSeen, Ref
from podium.contract.inputs import Mode, OpenSession, Served
from podium.contract.serving import FileText, FileWritten, ReadTextFile, Serve, Service, WriteTextFile
from podium.providers.acp.drafting import Draft
from podium.providers.acp.reading import Json, text, whole
from podium.providers.acp.requests import new_key, same_id
from podium.providers.acp.state import SERVES_MAX, Errand, Session
from podium.providers.acp.turns import close_message, watch, working

READ, WRITE = "fs/read_text_file", "fs/write_text_file"

OPTION = "files"
"""The option of an instance that has its agent read and change files through Podium, or not."""

READ_MODES: tuple[Mode, ...] = ("read", "ask", "edit", "full")
WRITE_MODES: tuple[Mode, ...] = ("edit", "full")
"""Modes in which writing is offered: in the others a person decides, and only the agent's own tools ask."""

INVALID, INTERNAL, NOT_FOUND = -32602, -32603, -32002
CODES = {"not_found": NOT_FOUND, "path_invalid": INVALID, "outside": INVALID}


def offer(draft: Draft, command: OpenSession) -> Json:
    """What `initialize` offers of files, and remember it. An option of the instance decides, if it is set."""
    wanted = command.options.get(OPTION, draft.flavour.uses_files) is True
    modes = {READ: READ_MODES, WRITE: WRITE_MODES}
    methods = tuple(name for name, allowed in modes.items() if wanted and command.mode in allowed)
    draft.state = msgspec.structs.replace(draft.state, offered=methods)
    return {"readTextFile": READ in methods, "writeTextFile": WRITE in methods}


def asked(draft: Draft, session: Session, method: str, rpc_id: int | str, params: Json) -> None:
    """The agent wants a file. Only where it lies stands here; the text goes through and is not kept."""
    request = read(params) if method == READ else write(params)
    if any(same_id(held.rpc_id, rpc_id) for held in draft.state.errands.values()):
        draft.emit(DiagnosticSeen("request_repeated"))
    elif request is None:
        refuse(draft, rpc_id, INVALID, "params_invalid", "A path and what belongs to it are wanted.")
    elif len(draft.state.errands) >= SERVES_MAX:
        refuse(draft, rpc_id, INTERNAL, "too_many", f"{SERVES_MAX} are under way already.")
    elif method == WRITE and not may_write(draft, session):
        refuse(draft, rpc_id, INTERNAL, "mode_forbids", "This mode lets you change no files unasked.")
    else:
        turn = session.turn
        if method == WRITE:
            session, turn = working(draft, session)
        key = new_key(draft, rpc_id)
        errand = Errand(rpc_id, session.id, turn.id if turn is not None else None)
        errands = {**draft.state.errands, key: errand}
        draft.state = msgspec.structs.replace(draft.state, errands=errands)
        draft.serves.append(Serve(key, request))
        draft.emit(DiagnosticSeen(method))


def read(params: Json) -> Service | None:
    """The request to read, if it is one."""
    path, line, limit = text(params, "path"), whole(params, "line"), whole(params, "limit")
    wrong = any(params.get(key) is not None and whole(params, key) is None for key in ("line", "limit"))
    if path is None or wrong or (line or 0) < 0 or (limit or 0) < 0:
        return None
    return ReadTextFile(path, line, limit)


def write(params: Json) -> Service | None:
    """The request to write, if it is one."""
    path, content = text(params, "path"), text(params, "content")
    return WriteTextFile(path, content) if path is not None and content is not None else None


def may_write(draft: Draft, session: Session) -> bool:
    """Whether the conversation is in a mode that asks nobody; a child is in its parent's."""
    parent = draft.session(session.parent) if session.parent else None
    return (parent or session).wanted in WRITE_MODES


def served(draft: Draft, given: Served) -> None:
    """What came of it, for the agent. Nobody waits for what was withdrawn, or is answered already."""
    errand = draft.state.errands.get(given.tag)
    if errand is None:
        draft.emit(DiagnosticSeen("served_to_nobody"))
        return
    forget(draft, given.tag)
    outcome = given.outcome
    session = draft.session(errand.thread)
    if isinstance(outcome, FileText):
        draft.send({"id": errand.rpc_id, "result": {"content": outcome.text}})
    elif isinstance(outcome, FileWritten):
        draft.send({"id": errand.rpc_id, "result": {}})
        if session is not None and errand.turn is not None:
            show(draft, session, errand.turn, outcome.change)
    else:
        failed(draft, errand.rpc_id, outcome.failure)
    if session is not None and (now := draft.session(session.id)) is not None:
        watch(draft, now)


def show(draft: Draft, session: Session, turn: str, change: FileChange) -> None:
    """A change that no tool call of the agent's shows is an item of its own (R11)."""
    for tool in session.tools.values():
        content = tool.content
        named = content.path == change.path or any(c.path == change.path for c in content.changes)
        if tool.kind == "file_change" and tool.turn == turn and (named or tool.state == "open"):
            draft.emit(DiagnosticSeen("written"))
            return
    if session.turn is not None and session.turn.id == turn:
        session = close_message(
            draft, session, forget=session.message is not None and not session.message.native_id
        )
    session = draft.put(msgspec.structs.replace(session, ordinal=session.ordinal + 1))
    ref = Ref(session.id, turn, None, f"write#{session.ordinal}")
    content = ItemContent(title="Write", changes=(change,), path=change.path)
    draft.emit(ItemSeen(ref, "file_change", "completed", content))


def interrupted(draft: Draft) -> None:
    """Another owner works with this process: what was under way may or may not have been done."""
    for key, errand in list(draft.state.errands.items()):
        message = "Interrupted: it is not known whether this was done. Look, and ask again."
        refuse(draft, errand.rpc_id, INTERNAL, "interrupted", message)
        forget(draft, key)


def forget(draft: Draft, key: str) -> None:
    """Nobody waits for it any more."""
    errands = {k: held for k, held in draft.state.errands.items() if k != key}
    draft.state = msgspec.structs.replace(draft.state, errands=errands)


def failed(draft: Draft, rpc_id: int | str, why: Failure) -> None:
    """It was not done, in the words of the protocol."""
    message = f"{why.message} {why.fix}".strip()
    refuse(draft, rpc_id, CODES.get(why.code, INTERNAL), why.code, message)


def refuse(draft: Draft, rpc_id: int | str, code: int, reason: str, message: str) -> None:
    """An error as answer."""
    error: dict[str, Any] = {"code": code, "message": message, "data": {"reason": reason}}
    draft.send({"id": rpc_id, "error": error})
