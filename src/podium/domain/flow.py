"""What happens next: open a session, bind the conversation, send the prompt, start the next queued run.

`advance` is called after every change and looks only at the state, so a restart continues where it stopped.
Ask ids name what they are for, so that an answer finds its entity after a restart.
"""

from __future__ import annotations

from podium.contract.handles import Handle
from podium.contract.inputs import Block, EnsureThread, ImageBlock, OpenSession, SendTurn, TextBlock
from podium.domain.checkpoints import awaits_start, capture_start
from podium.domain.entities import Attempt, Message, ProviderThread, Run, Session
from podium.domain.outputs import AskAgent, Draft, SetDeadline, StartSession, derived
from podium.domain.waiting import settle_waiting

OPEN = "open"
BIND = "bind"
TURN = "turn"
STOP = "stop"
ANSWER = "answer"
STEER = "steer"


def ask_id(purpose: str, *parts: str) -> str:
    """The id of the ask with this purpose for these entities."""
    return ":".join((purpose, *parts))


def parse_ask(text: str) -> tuple[str, str]:
    """Purpose and entity id of an ask id."""
    purpose, _, rest = text.partition(":")
    return purpose, rest.split(":")[0]


def begin_run(draft: Draft, run: Run) -> Run:
    """The first attempt of a run that is about to start; one that was put back keeps the one it has.

    It is `preparing` until the files are captured as they are before it (R11).
    """
    attempt = draft.state.attempts.get(run.attempt_id or "") or draft.put(
        Attempt(id=draft.facts.fresh("att"), thread_id=draft.thread_id, run_id=run.id, ordinal=1)
    )
    state = "preparing" if capture_start(draft, run) else "starting"
    run = draft.change(run, state=state, attempt_id=attempt.id)
    settle_waiting(draft, run)
    return draft.state.runs[run.id]


def advance(draft: Draft) -> None:
    """Issue whatever the state now calls for."""
    state = draft.state
    thread, session = state.thread, state.session
    if thread is None or thread.archived:
        return
    run = state.active
    began = run is None
    if run is None:
        if not state.queue or (session is not None and session.state == "ending"):
            return  # a session on its way out takes no new run along: it begins with the next one
        run = begin_run(draft, state.queue[0])  # one promoted for each ended run (F255)
    attempt = draft.state.attempts.get(run.attempt_id or "")
    if attempt is None or attempt.state != "new":
        return
    if session is None:
        open_session(draft, run)
    elif session.state == "ready":
        bind_or_send(draft, run, attempt, session)
    if began and draft.state.attempts[attempt.id].state == "new":
        draft.do(SetDeadline("start", run.id))


def open_session(draft: Draft, run: Run) -> None:
    """Have the shell start the agent program for this run."""
    thread = draft.state.thread
    assert thread is not None
    fences = [link.fence for p in draft.state.provider_threads.values() for link in p.chain.links]
    session = draft.put(
        Session(
            id=draft.facts.fresh("ses"),
            thread_id=thread.id,
            agent=thread.agent,
            adapter=draft.facts.capabilities.adapter,
            fence=max(fences, default=0) + 1,
        )
    )
    draft.do(StartSession(session.id), SetDeadline("start", run.id))


def greet(draft: Draft, session: Session) -> None:
    """The process runs: begin the handshake."""
    thread = draft.state.thread
    assert thread is not None
    draft.do(
        AskAgent(
            session.id,
            OpenSession(
                ask_id=ask_id(OPEN, session.id),
                workspace=thread.workspace,
                mode=thread.mode,
                model=thread.model,
            ),
        )
    )


def bind_or_send(draft: Draft, run: Run, attempt: Attempt, session: Session) -> None:
    """Bind the thread's conversation to this session, or send the prompt if it is bound and may be sent."""
    thread = draft.state.thread
    assert thread is not None
    main = draft.state.main
    if main is None:
        main = draft.put(
            ProviderThread(
                id=derived("pth", thread.id, thread.agent, "1"), thread_id=thread.id, agent=thread.agent
            )
        )
    if main.session_id == session.id and main.state == "bound":
        if not awaits_start(draft, run):
            send_prompt(draft, run, attempt, session, main)
    elif main.session_id != session.id:
        draft.change(main, state="binding", session_id=session.id)
        draft.do(
            AskAgent(
                session.id,
                EnsureThread(
                    ask_id=ask_id(BIND, main.id, draft.facts.fresh("bnd")),
                    workspace=thread.workspace,
                    mode=thread.mode,
                    handle=main.chain.current,
                    model=run.model or thread.model,
                ),
            ),
            SetDeadline("start", run.id),
        )


def send_prompt(draft: Draft, run: Run, attempt: Attempt, session: Session, main: ProviderThread) -> None:
    """Send the run's message as one turn. From here on nothing is sent twice (R2)."""
    handle = main.chain.current
    message = draft.state.messages.get(run.message_id or "")
    assert handle is not None and message is not None
    draft.change(attempt, state="asked")
    draft.do(
        AskAgent(
            session.id,
            SendTurn(
                ask_id=ask_id(TURN, attempt.id),
                thread=handle.native_id,
                client_id=message.id,
                blocks=blocks_of(message),
                model=run.model,
            ),
        ),
        SetDeadline("start", run.id, armed=False),
    )


def blocks_of(message: Message) -> tuple[Block, ...]:
    """The content of a message as sent; the engine fills the text from the item's body."""
    images = tuple(ImageBlock(str(a["path"]), str(a["media_type"])) for a in message.attachments)
    return (TextBlock(""), *images)


def main_handle(draft: Draft) -> Handle | None:
    """The handle of the thread's own conversation."""
    main = draft.state.main
    return None if main is None else main.chain.current
