"""A thread driven by hand: every decision is checked against what must always hold, as it is made.

It stands where the engine stands: it keeps every entity ever made, brings closed ones into view before a
command that names them, and remembers which asks went out and which waits were begun.
"""

from __future__ import annotations

from typing import Any

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.events import ProviderEvent, TurnEnded
from podium.contract.handles import Handle
from podium.contract.inputs import SendTurn
from podium.domain.commands import CreateThread, DeadlinePassed, DomainCommand, Reported
from podium.domain.decide import Decision, decide
from podium.domain.entities import (
    Attempt,
    Checkpoint,
    Entity,
    Item,
    Message,
    Node,
    Plan,
    Request,
    Run,
    Session,
    Turn,
)
from podium.domain.events import Event, event_type
from podium.domain.naming import named
from podium.domain.outputs import (
    Append,
    AskAgent,
    CaptureFiles,
    CloseBodies,
    Facts,
    SetDeadline,
    Settle,
    StartSession,
    StopSession,
    derived,
)
from podium.domain.state import ThreadState, apply_entity, evolve
from podium.policy.config import Policy

ABLE = Capabilities.build(
    {"turns.interrupt": {"support": "native"}, "input.images": {"support": "native"}},
    adapter="zz-fake",
)
"""An agent whose turns can be interrupted."""

PLAIN = Capabilities.minimal("zz-fake")
"""An agent that can nothing beyond taking prompts."""

REFUSALS = {"bad_input", "not_found", "conflict", "gone", "refused"}


def handle(native: str) -> Handle:
    """A handle of the agent in these tests."""
    return Handle("zz", "zz-fake", native)


class World:
    """One thread, everything that was ever decided about it, and the checks."""

    def __init__(
        self, capabilities: Capabilities = ABLE, policy: Policy | None = None, *, captures: bool = False
    ) -> None:
        self.captures = captures
        self.capturing: list[str] = []
        self.capabilities = capabilities
        self.policy = policy or Policy()
        self.state = ThreadState()
        self.store: dict[str, Entity] = {}
        self.events: list[Event] = []
        self.outputs: list[object] = []
        self.asks: list[Any] = []
        self.armed: set[tuple[str, str]] = set()
        self.started: list[str] = []
        self.stopped: list[str] = []
        self.closed_bodies: set[str] = set()
        self.commands = 0
        self.do(CreateThread("/w", "agent", "zz-fake"))

    # ---- driving

    def report(
        self, event: ProviderEvent, *, session: str | None = None, item: str | None = None
    ) -> Decision:
        """One event of the agent; its item id follows from its native names, as the correlator's would."""
        ref = getattr(event, "ref", None)
        if item is None and ref is not None:
            item = derived("itm", ref.thread, ref.turn or "", ref.id or "")
        current = self.state.session
        return self.do(Reported(session or (current.id if current else "ses_none"), event, item))

    def do(self, command: DomainCommand) -> Decision:
        """Decide, check, and take the outputs in."""
        self.commands += 1
        for entity_id in named(self.state, command):
            if entity_id in self.store and not self.in_view(entity_id):
                self.state = apply_entity(self.state, self.store[entity_id])
        before, frozen = self.state, msgspec.json.encode(self.state)
        decision = decide(before, command, self.facts())
        again = decide(before, command, self.facts())
        assert msgspec.json.encode(before) == frozen, "decide changed its argument"
        assert again == decision, "equal inputs, unequal outputs"
        if decision.refusal is not None:
            assert decision.refusal.kind in REFUSALS and decision.refusal.code and decision.refusal.message
            assert decision.state == before and not decision.outputs
            return decision
        if isinstance(command, DeadlinePassed):
            self.armed.discard((command.name, command.run_id))
        ended: set[str] = set()
        for output in decision.outputs:
            self.take(output, command, ended)
        assert self.state == decision.state, "evolve over the events is not the decision's state"
        self.outputs.extend(decision.outputs)
        self.check()
        return decision

    def facts(self) -> Facts:
        return Facts(
            now=1000.0 + self.commands,
            seed=f"seed{self.commands}",
            capabilities=self.capabilities,
            policy=self.policy,
            captures=self.captures,
        )

    def in_view(self, entity_id: str) -> bool:
        """Whether memory holds this entity, open or closed."""
        state = self.state
        held = (state.items, state.turns, state.nodes, state.requests, state.known)
        return any(entity_id in h for h in held)

    # ---- one output

    def take(self, output: object, command: DomainCommand, ended: set[str]) -> None:
        match output:
            case Event():
                self.check_event(output, command, ended)
                self.state = evolve(self.state, output)
                self.store[output.entity.id] = output.entity
                self.events.append(output)
            case Append() | Settle():
                owner = self.store[output.owner]
                if isinstance(output, Append):
                    assert isinstance(owner, Item) and owner.state == "open"
                    assert output.owner not in self.closed_bodies
            case CloseBodies():
                self.closed_bodies.add(output.owner)
            case AskAgent():
                self.check_ask(output)
            case StartSession():
                assert output.session_id not in self.started
                self.started.append(output.session_id)
            case CaptureFiles():
                checkpoint = self.store[output.checkpoint_id]
                assert isinstance(checkpoint, Checkpoint) and checkpoint.state == "pending"
                assert output.checkpoint_id not in self.capturing
                self.capturing.append(output.checkpoint_id)
            case StopSession():
                self.stopped.append(output.session_id)
            case SetDeadline():
                key = (output.name, output.run_id)
                (self.armed.add if output.armed else self.armed.discard)(key)
            case _:
                raise AssertionError(f"unknown output {output!r}")

    def check_ask(self, output: AskAgent) -> None:
        ask = output.ask
        assert ask.ask_id not in [a.ask_id for a in self.asks], f"ask {ask.ask_id} twice"
        assert self.state.session is not None and output.session_id == self.state.session.id
        if isinstance(ask, SendTurn):
            run = self.state.active
            assert run is not None
            starts = self.checkpoints(run, "start")
            assert all(c.state != "pending" for c in starts), "a prompt before its files were captured"
            assert ask.client_id not in [a.client_id for a in self.asks if isinstance(a, SendTurn)]
        self.asks.append(ask)

    def check_event(self, event: Event, command: DomainCommand, ended: set[str]) -> None:
        new = event.entity
        old = self.store.get(new.id)
        assert event.type == event_type(new)
        assert event.thread_id == (self.state.thread.id if self.state.thread else new.id)
        assert new.revision == (old.revision + 1 if old else 1), f"{new.id} jumps in its revisions"
        if old is not None:
            assert type(old) is type(new) and old != new
            _legal(old, new)
        run_id = new.id if isinstance(new, Run) else getattr(new, "run_id", None)
        assert run_id is None or run_id not in ended, f"{new.id} changes after the end of its run"
        if isinstance(new, Run) and new.state == "ended":
            self.check_end(new, command)
            ended.add(new.id)
        if isinstance(new, Run) and isinstance(old, Run) and old.state == "queued" != new.state != "ended":
            assert self.state.active is None and self.state.queue[0].id == new.id, "not the next in the queue"

    def check_end(self, run: Run, command: DomainCommand) -> None:
        assert run.outcome is not None and run.evidence is not None and run.ended_at is not None
        if run.outcome == "completed":
            assert run.evidence in ("provider", "inferred")
        if isinstance(command, Reported) and isinstance(command.event, TurnEnded):
            backing = self.state.by_native(command.event.thread)
            assert backing is not None and backing.parent_node_id is None, "a child's end ended the run"
        for entity in self.store.values():
            if getattr(entity, "run_id", None) != run.id:
                continue
            if isinstance(entity, Checkpoint) and entity.moment == "end":
                self.check_captured_end(entity)
                continue
            open_words = {"open", "running", "pending", "new", "asked"}
            assert getattr(entity, "state", None) not in open_words, f"{entity} is open in an ended run"
            if isinstance(entity, Plan):
                assert entity.final

    def check_captured_end(self, checkpoint: Checkpoint) -> None:
        """A run ends after its files were captured, unless the agent went on by itself meanwhile."""
        if checkpoint.state == "pending":
            assert not checkpoint.quiescent

    # ---- the whole

    def check(self) -> None:
        state = self.state
        active = [r for r in state.runs.values() if r.state not in ("queued", "ended")]
        assert len(active) <= 1, "two active runs"
        for run in active:
            pending = [r for r in state.requests.values() if r.run_id == run.id and r.state == "pending"]
            assert (run.state == "waiting") == bool(pending)
            ends = self.checkpoints(run, "end")
            assert bool(ends) == (run.ending is not None)
            assert len(ends) <= 1 and all(c.state == "pending" for c in ends)
            if run.ending is not None:
                assert run.state == "running"
                assert all(c.state == "ready" for c in self.checkpoints(run, "start"))
            if run.state == "preparing":
                assert [c.state for c in self.checkpoints(run, "start")] == ["pending"]
            attempt = state.attempts.get(run.attempt_id or "")
            if attempt is not None and attempt.state == "new":
                assert state.session is not None
                assert ("start", run.id) in self.armed, "a start that nothing bounds"
            if run.interrupt_requested_at is not None and run.ending is None:
                leaving = state.session is None or state.session.state == "ending"
                assert leaving or ("interrupt", run.id) in self.armed, "an interrupt that nothing bounds"
        if state.queue and not active:
            assert state.session is not None and state.session.state == "ending", "a queue that nothing moves"
        pending = {c.id for c in self.of(Checkpoint) if c.state == "pending"}
        assert pending <= set(state.checkpoints) and pending <= set(self.capturing)
        positions = [e.position for e in self.store.values() if isinstance(e, Item)]
        assert positions == list(range(1, len(positions) + 1))
        roots = [t.provider_thread_id for t in state.turns.values()]
        assert len(roots) == len(set(roots)), "two turns at once in one conversation"

    def checkpoints(self, run: Run, moment: str) -> list[Checkpoint]:
        """The checkpoints of a run for one moment that are not stale."""
        found = [c for c in self.of(Checkpoint) if c.run_id == run.id and c.moment == moment]
        return [c for c in found if c.state != "stale"]

    def of(self, kind: type[Any]) -> list[Any]:
        """Everything of one kind, in the order it was made."""
        return [e for e in self.store.values() if isinstance(e, kind)]


def _legal(old: Entity, new: Entity) -> None:
    """What may follow what. Nothing leaves an end."""
    match old, new:
        case Run(), Run():
            assert old.state != "ended" and old.ordinal == new.ordinal
            if old.ending is not None:
                assert new.state == "ended", "a run whose end was decided changed"
                told = (new.outcome, new.evidence, new.failure)
                assert told == (old.ending.outcome, old.ending.evidence, old.ending.failure)
        case Checkpoint(), Checkpoint():
            assert old.state == "pending" or (old.state, new.state) in {
                ("ready", "stale"),
                ("failed", "stale"),
            }
        case Turn(), Turn() if old.state == "ended":
            assert (new.state, new.outcome, new.evidence) == (old.state, old.outcome, old.evidence)
        case Item(), Item() if old.state != "open":
            assert new.state != "open" and old.closed_by == "barrier" and new.corrected and not old.corrected
        case Item(), Item():
            assert new.position == old.position and new.run_id == old.run_id
        case Node(), Node():
            assert old.state == "running"
        case Attempt(), Attempt():
            assert old.state not in ("ended", "superseded")
        case Session(), Session():
            assert old.state != "ended"
            order = ["opening", "ready", "ending", "ended"]
            assert order.index(new.state) >= order.index(old.state)
        case Request(), Request() if old.state != "pending":
            assert new.state == old.state and new.answer == old.answer
        case Message(), Message():
            assert old.delivery == "pending" and new.delivery != "pending"
        case _:
            pass
