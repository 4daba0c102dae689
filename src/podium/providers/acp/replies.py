"""The agent's answers to our calls."""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.errors import Failure, failure
from podium.contract.events import (
    AskDone,
    AskFailed,
    DiagnosticSeen,
    Evidence,
    Outcome,
    SessionReady,
    ThreadBound,
    ThreadMissing,
)
from podium.providers.acp import settings, usage
from podium.providers.acp.asks import PROTOCOL_VERSION, send_prompt
from podium.providers.acp.drafting import Draft
from podium.providers.acp.failures import CANCELLED, coded, is_gone, problem
from podium.providers.acp.flavours import recognised
from podium.providers.acp.reading import Json, is_object, native_id, obj, text, whole
from podium.providers.acp.state import Call, Session, Spent
from podium.providers.acp.turns import (
    LOADING,
    LOADING_END,
    LOADING_MAX,
    LOADING_QUIET,
    end,
    working,
)

ID_DIGITS = 18
"""Most digits of an id of ours."""

STOPS: dict[str, Outcome] = {
    "end_turn": "completed",
    "cancelled": "interrupted",
    "refusal": "failed",
    "max_tokens": "failed",
    "max_turn_requests": "failed",
}
UNSUPPORTED = {"support": "unsupported", "reason": "not_advertised"}
WEAK_ENDS = {"turns.terminal_quality": "weak"}
CHILDREN = ("subagents.supported", "subagents.thread_ids", "subagents.lifecycle", "approvals.from_subagents")


def reply(draft: Draft, data: Json) -> None:
    """One answer. An answer to nothing we still wait for is only counted."""
    number = own_id(data)
    call = draft.take_call(number) if number is not None else None
    if call is None:
        draft.emit(DiagnosticSeen("reply_to_nothing"))
        return
    error = data.get("error")
    if error is not None:
        failed(draft, call, problem(error, draft.flavour))
        return
    result = obj(data, "result")
    match call.kind:
        case "initialize":
            ready(draft, call, result)
        case "new" | "load" | "resume" | "fork":
            bound(draft, call, result)
        case "prompt":
            stopped(draft, call, result)
        case "mode" | "model":
            session = settings.settled(draft, call, result)
            if session is not None:
                ready_if_settled(draft, session, call, took=call.wanted in (None, session.wanted))
        case "steer":
            draft.emit(AskDone(call.ask_id or ""))


def own_id(data: Json) -> int | None:
    """The id of our call. Ours are numbers; an agent that gives one back as text means the same one."""
    said = text(data, "id")
    if said is not None and said.isascii() and said.isdecimal() and len(said) <= ID_DIGITS:
        return int(said)
    return whole(data, "id")


def ready(draft: Draft, call: Call, result: Json) -> None:
    """The handshake: who this is, and what it does not advertise, which is narrowed away (F286)."""
    ask_id = call.ask_id or ""
    version = whole(result, "protocolVersion")
    if version != PROTOCOL_VERSION:
        fix = "Install a version of the agent that speaks protocol version 1."
        why = failure(
            "provider", "protocol_version", f"The agent speaks protocol version {version}.", fix=fix
        )
        draft.emit(AskFailed(ask_id, why))
        return
    shown = recognised(result)
    if shown is not None and draft.flavour.name == "general":
        draft.flavour = shown
        draft.state = msgspec.structs.replace(draft.state, flavour=shown.name)
    flavour = draft.flavour
    offers = obj(result, "agentCapabilities")
    more, sessions = obj(offers, "_meta"), obj(offers, "sessionCapabilities")
    draft.state = msgspec.structs.replace(
        draft.state,
        loads=offers.get("loadSession") is True,
        resumes=is_object(sessions.get("resume")),
        forks=is_object(sessions.get("fork")),
        steers=bool(flavour.steer_sign) and more.get(flavour.steer_sign) is True,
    )
    narrowed: dict[str, Any] = dict.fromkeys(flavour.lacks, UNSUPPORTED)
    if not (draft.state.resumes or (draft.state.loads and not flavour.load_destroys)):
        narrowed["lifecycle.persistent"] = UNSUPPORTED
    if not draft.state.steers:
        narrowed["turns.steer_active"] = UNSUPPORTED
    if not draft.state.forks:
        narrowed["threads.fork"] = UNSUPPORTED
    if flavour.child_sign and more.get(flavour.child_sign) is not True:
        narrowed |= dict.fromkeys(CHILDREN, UNSUPPORTED)
    if flavour.errors_as_text:
        narrowed |= WEAK_ENDS
    draft.emit(SessionReady(ask_id, text(obj(result, "agentInfo"), "version"), narrowed))


def bound(draft: Draft, call: Call, result: Json) -> None:
    """A conversation is there, with the modes and models it offers."""
    resumed = call.kind in ("load", "resume")
    thread = call.thread if resumed else text(result, "sessionId") or ""
    if native_id({"id": thread}, "id") != thread or not thread:
        why = failure("provider", "bad_session_id", "The agent named no usable conversation.")
        draft.emit(AskFailed(call.ask_id or "", why))
        return
    session = Session(
        thread,
        wanted=call.wanted,
        used=None if resumed else Spent(),
        resumed=(call.ask_id or "").rpartition(":")[2][: settings.NAME_MAX] if resumed else "",
    )
    session = settings.offered(draft, session, result)
    if call.model not in (None, session.model, *draft.state.models):
        offered = ", ".join(draft.state.models)[:500]
        why = failure("validation", "model_not_offered", f"The agent offers {offered}.")
        draft.emit(AskFailed(call.ask_id or "", why))
        return
    before = draft.session(thread)
    if before is not None:
        session = msgspec.structs.replace(
            session, resumed=before.resumed, turns=before.turns, turn=before.turn, tools=before.tools
        )
    draft.put(session)
    if resumed:
        begin_loading(draft, session, call)
    else:
        announce(draft, session, call)


def begin_loading(draft: Draft, session: Session, call: Call) -> None:
    """Some agents replay the history behind their answer: it must have come before our prompt goes (B38)."""
    draft.put(msgspec.structs.replace(session, loading=call))
    draft.timer(LOADING + session.id, LOADING_QUIET)
    draft.timer(LOADING_END + session.id, LOADING_MAX)


def loaded(draft: Draft, name: str) -> None:
    """No more history comes, or it has had its time."""
    session = draft.session(name.partition(":")[2])
    if session is None or session.loading is None:
        return
    call = session.loading
    session = draft.put(msgspec.structs.replace(session, loading=None))
    draft.timer(LOADING + session.id, None)
    draft.timer(LOADING_END + session.id, None)
    announce(draft, session, call)


def announce(draft: Draft, session: Session, call: Call) -> None:
    """The conversation is ready for prompts, at once or when its mode and model have taken hold.

    The mode is set after a load too: some agents come back in another one than they were left in.
    """
    if not draft.flavour.holds_settings:
        is_bound(draft, session, call)
        settings.set_mode(draft, session, call.wanted)
        settings.set_model(draft, session, call.model)
        return
    by_start = bool(draft.flavour.full_meta) and call.wanted == "full"
    settings.unset_mode(draft, session, call.wanted, by_start=by_start)
    sent = [
        settings.set_mode(draft, session, call.wanted),
        settings.set_model(draft, session, call.model),
    ]
    if any(sent):
        draft.put(msgspec.structs.replace(session, settling=call))
    else:
        is_bound(draft, session, call)


def is_bound(draft: Draft, session: Session, call: Call) -> None:
    """Say that the conversation is there."""
    resumed = call.kind in ("load", "resume")
    model = session.model if draft.flavour.holds_settings else call.model or session.model
    draft.emit(ThreadBound(call.ask_id, session.id, draft.handle(session.id), resumed, model))
    settings.offers(draft, session)


def ready_if_settled(draft: Draft, session: Session, call: Call, *, took: bool) -> None:
    """A setting was answered; with the last one the conversation is ready. In a wrong mode it never is."""
    waiting, held = session.settling, session.held
    ask_id = waiting.ask_id if waiting is not None else held.ask_id if held is not None else None
    if ask_id is None:
        return
    free = msgspec.structs.replace(session, settling=None, held=None)
    if call.kind == "mode" and not took and call.wanted != "full":
        draft.put(free)
        fix = "Choose another mode, or set it in the agent's own configuration."
        why = failure("permission", "mode_refused", f"The agent did not go to its mode {call.mode}.", fix=fix)
        draft.emit(AskFailed(ask_id, why))
    elif call.kind == "model" and session.model != call.model:
        draft.put(free)
        why = failure("provider", "model_refused", f"The agent did not take the model {call.model}.")
        draft.emit(AskFailed(ask_id, why))
    elif any(c.thread == session.id and c.kind in ("mode", "model") for c in draft.state.calls.values()):
        return
    elif waiting is not None:
        is_bound(draft, draft.put(free), waiting)
    elif held is not None:
        send_prompt(draft, draft.put(free), held)


def stopped(draft: Draft, call: Call, result: Json) -> None:
    """The prompt is answered: its turn is over. An unknown stop word leaves the outcome unknown."""
    session = draft.session(call.thread)
    if session is None or session.turn is None:
        draft.emit(DiagnosticSeen("reply_to_nothing"))
        return
    shown, error = session.turn.shown, session.turn.error
    session, turn = working(draft, session)
    session = usage.turn_usage(draft, session, turn.id, result)
    word = text(result, "stopReason")
    outcome = STOPS.get(word or "")
    evidence: Evidence = "provider"
    if outcome == "completed" and draft.flavour.errors_as_text:
        # This agent tells its errors as text and ends as if all were well; silence is no success either.
        outcome, evidence = ("completed" if shown else None), "inferred"
    why = failure("provider", f"stop_{word}", "The agent stopped early.") if outcome == "failed" else None
    if outcome == "completed" and error:
        outcome, why = "failed", coded(error, "The agent told an error as its last words.")
    end(draft, session, outcome, evidence=evidence, failure=why, word=word[:100] if word else None)


def failed(draft: Draft, call: Call, why: Failure) -> None:
    """A call was refused."""
    ask_id = call.ask_id or ""
    if call.kind in ("load", "resume"):
        draft.emit(ThreadMissing(ask_id, "missing" if is_gone(why) else "not_resumable", why))
    elif call.kind in ("mode", "model"):
        settings.refused(draft, call, why.message)
        session = draft.session(call.thread)
        if session is not None:
            ready_if_settled(draft, session, call, took=False)
    elif call.kind != "prompt":
        draft.emit(AskFailed(ask_id, why))
    else:
        prompt_failed(draft, call, why)


def prompt_failed(draft: Draft, call: Call, why: Failure) -> None:
    """An error instead of a stop reason: a refused prompt if no work was seen, else the turn's end."""
    session = draft.session(call.thread)
    if session is None or session.turn is None:
        draft.emit(DiagnosticSeen("reply_to_nothing"))
    elif session.turn.cancelled:
        session, _ = working(draft, session)
        end(draft, session, "interrupted", failure=why)
    elif session.turn.started:
        end(draft, session, "interrupted" if why.code == CANCELLED else "failed", failure=why)
    else:
        draft.put(msgspec.structs.replace(session, turn=None))
        draft.emit(AskFailed(call.ask_id or "", why))
