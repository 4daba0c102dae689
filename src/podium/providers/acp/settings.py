"""Modes and models: what the agent offers, how they are set, and what is believed of its answer.

There are two ways: config options, and the older methods `session/set_mode` and `session/set_model` that some
agents still have alone. Only what was advertised is ever sent, because several agents accept any word; and
the answer's own statement of what is current is what counts.
"""

from __future__ import annotations

import msgspec

from podium.contract.events import DiagnosticSeen, Notice, OffersSeen, SlashCommand, ThreadChanged
from podium.contract.inputs import Mode
from podium.providers.acp.drafting import Draft
from podium.providers.acp.reading import Json, native_id, obj, rows, text
from podium.providers.acp.state import Call, Session

MODES_MAX = 12
"""Most modes remembered of one conversation."""

MODELS_MAX = 200
"""Most models remembered of one agent."""

COMMANDS_MAX = 40
"""Most slash commands remembered of one agent."""

DESCRIPTION_MAX = 80
"""Longest description or hint of a command that is kept, in characters."""

NAME_MAX = 100
"""Longest id of a mode or model, in characters."""

RIGHTS: tuple[Mode, ...] = ("read", "ask", "edit", "full")
"""Our modes by what they allow, the least first."""


def short(name: str | None) -> str | None:
    """The id of a mode or model; one too long or too odd to be one is none."""
    return name if name and len(name) <= NAME_MAX and name.isascii() and name.isprintable() else None


def names(given: list[Json], key: str, most: int) -> tuple[str, ...]:
    """The ids under a key of these rows."""
    return tuple(name for name in (short(text(row, key)) for row in given[:most]) if name)


def option_of(result: Json, name: str, by: str = "category") -> Json | None:
    """The config option of a category, or of an id."""
    found = (row for row in rows(result, "configOptions") if text(row, by) == name)
    return next(found, None)


def choices(option: Json) -> list[Json]:
    """The values of an option; those in groups are values too."""
    return [
        row
        for entry in rows(option, "options")
        for row in ([entry] if "value" in entry else rows(entry, "options"))
    ]


def offered(draft: Draft, session: Session, result: Json) -> Session:
    """What an answer says of modes and models. A config option is taken before an older field."""
    own = draft.flavour.mode_option
    modes, models = {} if own else obj(result, "modes"), obj(result, "models")
    mode = option_of(result, own, "id") if own else option_of(result, "mode")
    model = option_of(result, "model")
    if modes:
        session = msgspec.structs.replace(
            session,
            modes=names(rows(modes, "availableModes"), "id", MODES_MAX),
            mode=short(text(modes, "currentModeId")),
            mode_by="",
        )
    elif mode is not None:
        session = msgspec.structs.replace(
            session,
            modes=names(choices(mode), "value", MODES_MAX),
            mode=short(text(mode, "currentValue")),
            mode_by=native_id(mode, "id") or "",
        )
    if model is not None:
        catalog = names(choices(model), "value", MODELS_MAX)
        current, by = short(text(model, "currentValue")), native_id(model, "id") or ""
    elif models:
        catalog = names(rows(models, "availableModels"), "modelId", MODELS_MAX)
        current, by = short(text(models, "currentModelId")), ""
    else:
        return session
    draft.state = msgspec.structs.replace(draft.state, models=catalog)
    return msgspec.structs.replace(session, model=current, model_by=by)


def commands(draft: Draft, session: Session | None, given: Json) -> None:
    """The agent lists its slash commands: told with its conversation, and again when they change."""
    found: list[SlashCommand] = []
    for row in rows(given, "availableCommands")[:COMMANDS_MAX]:
        name = short(text(row, "name"))
        if name is not None:
            hint = text(obj(row, "input"), "hint")
            said = (text(row, "description") or "")[:DESCRIPTION_MAX]
            found.append(SlashCommand(name, said, hint[:DESCRIPTION_MAX] if hint else None))
    if tuple(found) == draft.state.commands:
        draft.emit(DiagnosticSeen("available_commands_update"))
        return
    draft.state = msgspec.structs.replace(draft.state, commands=tuple(found))
    waits = session is None or session.settling is not None or session.loading is not None
    if session is None or waits or not draft.flavour.holds_settings:
        draft.emit(DiagnosticSeen("available_commands_update"))
    else:
        draft.emit(OffersSeen(session.id, commands=tuple(found)))


def offers(draft: Draft, session: Session) -> None:
    """Tell what the agent offers in a conversation that is ready now."""
    if draft.flavour.holds_settings:
        state = draft.state
        draft.emit(OffersSeen(session.id, state.models, session.modes, state.commands))


def native_mode(draft: Draft, session: Session, mode: Mode | None) -> str | None:
    """The agent's name of our mode; one that cannot only read is told to ask, and never left to its own."""
    found = exact_mode(draft, session, mode)
    return exact_mode(draft, session, "ask") if found is None and mode == "read" else found


def exact_mode(draft: Draft, session: Session, mode: Mode | None) -> str | None:
    """The agent's name of our mode, if it advertises one."""
    if mode is None:
        return None
    return next((name for name in draft.flavour.modes.get(mode, ()) if name in session.modes), None)


def lowers(draft: Draft, session: Session, mode: Mode | None) -> bool:
    """Whether a prompt asks for less than the conversation may do, and the agent cannot be told."""
    held = session.wanted
    if mode is None or held is None or exact_mode(draft, session, mode) is not None:
        return False
    return RIGHTS.index(mode) < RIGHTS.index(held)


def changes(draft: Draft, session: Session, mode: Mode | None, model: str | None) -> bool:
    """Whether anything must be set before a prompt that wants these."""
    name = native_mode(draft, session, mode)
    return name not in (None, session.mode) or model not in (None, session.model)


def set_mode(draft: Draft, session: Session, mode: Mode | None) -> bool:
    """Bring the mode to what is wanted; whether anything had to be sent."""
    name = native_mode(draft, session, mode)
    if name is None or name == session.mode:
        return False
    call = Call("mode", None, session.id, mode=name, wanted=mode)
    if session.mode_by:
        params: Json = {"sessionId": session.id, "configId": session.mode_by, "value": name}
        draft.call("session/set_config_option", params, call)
    else:
        draft.call("session/set_mode", {"sessionId": session.id, "modeId": name}, call)
    return True


def set_model(draft: Draft, session: Session, model: str | None) -> bool:
    """Bring the model to what is wanted; whether anything had to be sent."""
    if model is None or model == session.model or model not in draft.state.models:
        return False
    call = Call("model", None, session.id, model=model)
    if session.model_by:
        params: Json = {"sessionId": session.id, "configId": session.model_by, "value": model}
        draft.call("session/set_config_option", params, call)
    else:
        draft.call("session/set_model", {"sessionId": session.id, "modelId": model}, call)
    return True


def unset_mode(draft: Draft, session: Session, mode: Mode | None, *, by_start: bool) -> None:
    """Tell a person that the agent has no such mode and keeps its own."""
    if mode is None or not draft.flavour.holds_settings or exact_mode(draft, session, mode) is not None:
        return
    if mode == draft.flavour.own_mode or by_start:
        return
    instead = native_mode(draft, session, mode)
    kept = f"it keeps its own{f' ({session.mode})' if session.mode else ''}"
    said = f"The agent has no mode for {mode!r}; {f'{instead!r} is used' if instead else kept}."
    draft.emit(Notice("warning", "mode_not_offered", said, session.id))


def settled(draft: Draft, call: Call, result: Json) -> Session | None:
    """The agent took a setting. What it then says is current is believed, not what was asked for."""
    session = draft.session(call.thread)
    if session is None:
        draft.emit(ThreadChanged(call.thread, call.model, call.mode))
        return None
    before = session
    believed = offered(draft, session, result) if "configOptions" in result else None
    mode = (believed.mode if believed else call.mode) if call.kind == "mode" else None
    model = (believed.model if believed else call.model) if call.kind == "model" else None
    session = believed or session
    session = msgspec.structs.replace(
        session, mode=mode or session.mode, model=model or session.model, wanted=call.wanted or session.wanted
    )
    if (call.kind == "mode" and mode != call.mode) or (call.kind == "model" and model != call.model):
        refused(draft, call, "it keeps its own")
        session = msgspec.structs.replace(session, wanted=before.wanted)
    session = draft.put(session)
    draft.emit(ThreadChanged(call.thread, model, mode))
    return session


def refused(draft: Draft, call: Call, why: str) -> None:
    """The agent did not take a setting."""
    said = f"The agent did not take {call.kind} {call.mode or call.model}: {why}"
    draft.emit(Notice("warning", f"{call.kind}_refused", said, call.thread))


def changed(draft: Draft, session: Session, given: Json) -> bool:
    """The agent says its settings by itself; whether any of them is another than was known."""
    after = draft.put(offered(draft, session, given))
    mode = after.mode if after.mode != session.mode else None
    model = after.model if after.model != session.model else None
    if mode is None and model is None:
        return False
    draft.emit(ThreadChanged(session.id, model, mode))
    return True
