"""Parts of messages as items: what the agent says, thinks and does."""

from __future__ import annotations

import msgspec

from podium.contract.errors import failure
from podium.contract.events import (
    AskDone,
    Body,
    DiagnosticSeen,
    FileChange,
    ItemContent,
    ItemKind,
    ItemSeen,
    ItemState,
    OpaqueSeen,
    SubagentSeen,
    TextDelta,
    Usage,
    UsageSeen,
)
from podium.providers.opencode.children import adopted, introduce
from podium.providers.opencode.drafting import Draft, part_ref
from podium.providers.opencode.reading import Json, count, digest, ident, obj, text
from podium.providers.opencode.state import Part, Session, Turn
from podium.providers.opencode.turns import begin

MARK = "podium"
"""The key under which a prompt of ours carries its id; the agent keeps it with the message."""

KINDS: dict[str, ItemKind] = {
    "bash": "command",
    "edit": "file_change",
    "write": "file_change",
    "patch": "file_change",
    "apply_patch": "file_change",
    "multiedit": "file_change",
    "task": "subagent",
    "question": "question",
    "webfetch": "web_search",
    "websearch": "web_search",
    "codesearch": "web_search",
}
SPOKEN: dict[str, tuple[ItemKind, Body]] = {
    "text": ("assistant_message", "text"),
    "reasoning": ("reasoning", "reasoning"),
}
BODIES: dict[ItemKind, Body] = {"assistant_message": "text", "reasoning": "reasoning"}
QUIET = frozenset({"step-start", "snapshot", "patch", "agent", "retry", "file", "subtask"})
"""Parts that say nothing which another frame does not say."""

DECLINED = ("The user rejected permission", "The user dismissed")
ABORTED = ("Tool execution aborted", "Task cancelled")


def part_seen(draft: Draft, session: Session, part: Json) -> None:
    """A part began, changed or ended; it may be said again."""
    name, message, kind = ident(part, "id"), ident(part, "messageID"), text(part, "type") or ""
    role = session.messages.get(message or "")
    if name is None or message is None:
        draft.emit(OpaqueSeen("part", part, session.id))
    elif role == "user":
        user_part(draft, session, name, message, part)
    elif role is None or role == "summary" or session.turn is None:
        draft.emit(DiagnosticSeen("part_unplaced"))
    elif kind in SPOKEN:
        spoken(draft, session, session.turn, name, message, part)
    elif kind == "tool":
        tool(draft, session, session.turn, name, message, part)
    elif kind == "step-finish":
        used(draft, session, session.turn, name, part)
    elif kind in QUIET:
        draft.emit(DiagnosticSeen(f"part_{kind}"))
    else:
        draft.emit(OpaqueSeen(f"part_{kind}"[:100], part, session.id, session.turn.id))


def user_part(draft: Draft, session: Session, name: str, message: str, part: Json) -> None:
    """A part of a user message: ours by the mark that it carries, or the beginning of a compaction."""
    prompt = session.prompt
    if text(part, "type") == "compaction":
        if session.turn is None:
            session = begin(draft, session, message, None)
        assert session.turn is not None
        if name not in session.parts:
            made = Part("compaction", message, session.turn.id)
            session = draft.put_part(session, name, made)
            draft.emit(ItemSeen(part_ref(session, name, made), "compaction", "open"))
    elif prompt is None or text(obj(part, "metadata"), MARK) != prompt.client_id:
        draft.emit(DiagnosticSeen("user_part"))
    elif session.turn is None:
        begin(draft, session, message, None if prompt.steers else prompt)
        if prompt.steers:
            _steered(draft, session.id, prompt.ask_id)
    else:
        draft.put_turn(session, session.turn, users=(*session.turn.users, message))
        _steered(draft, session.id, prompt.ask_id)


def _steered(draft: Draft, thread: str, ask_id: str) -> None:
    """The agent took a message for the turn that runs."""
    held = draft.session(thread)
    if held is not None:
        draft.put(held, prompt=None)
    draft.emit(AskDone(ask_id))


def spoken(draft: Draft, session: Session, turn: Turn, name: str, message: str, part: Json) -> None:
    """Text of the model, or its reasoning. What it says at the end is the whole of it."""
    kind, body = SPOKEN[text(part, "type") or "text"]
    held = session.parts.get(name)
    if held is None:
        held = Part(kind, message, turn.id)
        session = draft.put_part(session, name, held)
        draft.emit(ItemSeen(part_ref(session, name, held), kind, "open"))
    if held.open and count(obj(part, "time"), "end") is not None:
        draft.put_part(session, name, msgspec.structs.replace(held, open=False))
        final: dict[Body, str] = {body: text(part, "text") or ""}
        draft.emit(ItemSeen(part_ref(session, name, held), kind, "completed", final=final))


def delta(draft: Draft, session: Session, given: Json) -> None:
    """More text of a part. Text and reasoning look alike: the part that was announced tells them apart."""
    name, more = ident(given, "partID"), text(given, "delta")
    part = session.parts.get(name or "")
    body = BODIES.get(part.kind) if part is not None else None
    if name is None or part is None or body is None or not more or text(given, "field") != "text":
        draft.emit(DiagnosticSeen("delta_unplaced"))
    else:
        draft.emit(TextDelta(part_ref(session, name, part), part.kind, body, more))


def used(draft: Draft, session: Session, turn: Turn, name: str, part: Json) -> None:
    """What one answer of the model took. The agent counts cached input and reasoning apart from the rest."""
    tokens = obj(part, "tokens")
    fresh, said = count(tokens, "input"), count(tokens, "output")
    cached, written = count(obj(tokens, "cache"), "read"), count(obj(tokens, "cache"), "write")
    thought = count(tokens, "reasoning")
    usage = Usage(
        input=fresh + (cached or 0) + (written or 0) if fresh is not None else None,
        cached_input=cached,
        output=said + (thought or 0) if said is not None else None,
        reasoning=thought,
        total=count(tokens, "total"),
    )
    window = draft.state.models.get(session.told_model or "")
    draft.emit(UsageSeen(session.id, turn.id, usage, context_window=window or None, key=name))


def tool(draft: Draft, session: Session, turn: Turn, name: str, message: str, part: Json) -> None:
    """A call of a tool, from its first sign to its result."""
    called, told = text(part, "tool") or "tool", obj(part, "state")
    status = text(told, "status") or ""
    held = session.parts.get(name)
    if held is None:
        held = Part(KINDS.get(called, "tool_call"), message, turn.id, ident(part, "callID"))
        session = draft.put_part(session, name, held)
    ref = part_ref(session, name, held)
    if not held.open:
        draft.emit(DiagnosticSeen("tool_again"))
        return
    state = state_of(status, told, stopping=turn.stopping)
    output = text(obj(told, "metadata"), "output")
    if held.kind == "command" and output is not None:
        held, more = _grown(held, output)
        session = draft.put_part(session, name, held)
        if more:
            draft.emit(TextDelta(ref, held.kind, "output", more))
    final: dict[Body, str] = {}
    if state != "open":
        session = draft.put_part(session, name, msgspec.structs.replace(held, open=False))
        whole = output if held.kind == "command" and output is not None else text(told, "output")
        if whole is not None and held.kind != "file_change":
            final["output"] = whole
    draft.emit(ItemSeen(ref, held.kind, state, content_of(draft, called, told), final))
    if called == "task":
        child(draft, session, name, told, state)


def state_of(status: str, told: Json, *, stopping: bool) -> ItemState:
    """The state of a call; one that was stopped with its turn is told as completed or as an error."""
    if status == "completed":
        return "interrupted" if stopping and "aborted" in (text(told, "output") or "")[-200:] else "completed"
    if status != "error":
        return "open"
    why = text(told, "error") or ""
    if why.startswith(DECLINED):
        return "declined"
    return "interrupted" if why.startswith(ABORTED) else "failed"


def _grown(part: Part, output: str) -> tuple[Part, str]:
    """What is new of an output that is always told from its beginning; nothing where it was rewritten."""
    same = part.shown == 0 or digest(output[: part.shown]) == part.digest
    if not same or len(output) <= part.shown:
        return part, ""
    more = output[part.shown :]
    return msgspec.structs.replace(part, shown=len(output), digest=digest(output)), more


def content_of(draft: Draft, called: str, told: Json) -> ItemContent:
    """What a call says of itself."""
    given, meta, time = obj(told, "input"), obj(told, "metadata"), obj(told, "time")
    started, ended = count(time, "start"), count(time, "end")
    server = next((one for one in draft.state.servers if called.startswith(f"{one}_")), None)
    error = text(told, "error")
    return ItemContent(
        title=text(told, "title") or text(given, "description"),
        command=text(given, "command") if called == "bash" else None,
        exit_code=count(meta, "exit"),
        duration_ms=ended - started if started is not None and ended is not None else None,
        changes=changes_of(given, meta) if KINDS.get(called) == "file_change" else (),
        tool=called.removeprefix(f"{server}_") if server else called,
        server=server,
        arguments=given or None,
        path=text(given, "filePath") or text(given, "path"),
        query=text(given, "query") or text(given, "url") or text(given, "pattern"),
        native_kind=called,
        failure=failure("provider", "tool_failed", error) if error is not None else None,
    )


def changes_of(given: Json, meta: Json) -> tuple[FileChange, ...]:
    """The file that a call changes, with its patch once it is known."""
    path = text(obj(meta, "filediff"), "file") or text(meta, "filepath") or text(given, "filePath")
    if path is None:
        return ()
    patch = text(obj(meta, "filediff"), "patch") or text(meta, "diff") or ""
    return (FileChange(path, "add" if meta.get("exists") is False else "update", patch),)


def child(draft: Draft, session: Session, name: str, told: Json, state: ItemState) -> None:
    """A call that makes a child: who it is, and how it went."""
    native = ident(obj(told, "metadata"), "sessionId")
    if native is None:
        return
    adopted(draft, session, native)
    asked = text(obj(told, "input"), "prompt")
    introduce(draft, native, session, name, text(told, "title"), asked)
    part = session.parts.get(name)
    if state == "open" or part is None:
        return
    ends = {"completed": "completed", "interrupted": "interrupted", "declined": "interrupted"}
    word = ends.get(state)
    ref = part_ref(session, name, part)
    outcome = "completed" if word == "completed" else "interrupted" if word == "interrupted" else "failed"
    draft.emit(SubagentSeen(ref, outcome, native, draft.handle(native)))
