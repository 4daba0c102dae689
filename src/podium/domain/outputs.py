"""What decide returns: events, text for bodies, effects; or a refusal. And the draft that gathers them."""

from __future__ import annotations

import functools
import hashlib
from typing import Literal, TypeVar

import msgspec

from podium.contract.capabilities import Capabilities
from podium.contract.events import Body
from podium.contract.inputs import Command
from podium.domain.entities import Degradation, Entity, NoticeEntry, Run
from podium.domain.events import Event, event_type
from podium.domain.state import ThreadState, evolve
from podium.policy.config import Policy
from podium.policy.resolve import Resolution

DERIVED_MAX = 4096
"""Most derived ids remembered."""


class Append(msgspec.Struct, frozen=True):
    """More text for a body; the engine numbers it."""

    owner: str
    body: Body
    text: str


class Settle(msgspec.Struct, frozen=True):
    """The agent's own whole text of a body. If it differs from the parts, a new epoch holds it (R6)."""

    owner: str
    body: Body
    text: str
    close: bool = True


class CloseBodies(msgspec.Struct, frozen=True):
    """No more text will come for this item: what there is stands."""

    owner: str


class AskAgent(msgspec.Struct, frozen=True):
    """Feed the adapter an ask, within the same transaction."""

    session_id: str
    ask: Command


class StartSession(msgspec.Struct, frozen=True):
    """Start the agent program of this session. Retried by the shell; nothing was sent yet."""

    session_id: str


class StopSession(msgspec.Struct, frozen=True):
    """End the agent process, in good order if it lets us."""

    session_id: str
    reason: str


class SetDeadline(msgspec.Struct, frozen=True):
    """Report `DeadlinePassed(name)` after the shell's bound for that name; `armed` False takes it back."""

    name: Literal["interrupt", "start"]
    run_id: str
    armed: bool = True


class CaptureFiles(msgspec.Struct, frozen=True):
    """Capture the files of the thread's folder for this checkpoint, and report `Captured`."""

    checkpoint_id: str


Output = (
    Event | Append | Settle | CloseBodies | AskAgent | StartSession | StopSession | SetDeadline | CaptureFiles
)


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that was understood and not done. A typed result, never an agent's error (F059)."""

    kind: Literal["bad_input", "not_found", "conflict", "gone", "refused"]
    code: str
    message: str
    fix: str = ""
    capability: str | None = None
    policy: str | None = None
    detail: dict[str, str] = msgspec.field(default_factory=dict[str, str])


class Facts:
    """What decide may know of the world: the time, fresh ids, capabilities, policy, who asks, and whether
    files are to be captured here.

    Ids follow from the seed alone, so equal inputs give equal ids.
    """

    def __init__(
        self,
        *,
        now: float,
        seed: str,
        capabilities: Capabilities,
        policy: Policy,
        actor: str = "system",
        command_id: str | None = None,
        captures: bool = False,
    ) -> None:
        self.now = now
        self.seed = seed
        self.capabilities = capabilities
        self.policy = policy
        self.actor = actor
        self.command_id = command_id
        self.captures = captures
        self._count = 0

    def fresh(self, prefix: str) -> str:
        """A new id of this kind."""
        self._count += 1
        digest = hashlib.blake2b(f"{self.seed}\0{self._count}".encode(), digest_size=12).hexdigest()
        return f"{prefix}_{digest}"


@functools.lru_cache(maxsize=DERIVED_MAX)  # an agent that writes names the same few things with each frame
def derived(prefix: str, *parts: str) -> str:
    """The id that always belongs to these parts: same inputs, same id (F090). Parts never run together."""
    told = "".join(f"{len(part)}:{part}" for part in parts)
    digest = hashlib.blake2b(told.encode(), digest_size=12).hexdigest()
    return f"{prefix}_{digest}"


E = TypeVar("E", bound=Entity)


class Draft:
    """Gathers outputs and keeps the state in step with them, so that each decision sees the one before it."""

    def __init__(self, state: ThreadState, facts: Facts) -> None:
        self.state = state
        self.facts = facts
        self.outputs: list[Output] = []

    @property
    def thread_id(self) -> str:
        """The thread this draft is about."""
        assert self.state.thread is not None
        return self.state.thread.id

    def put(self, entity: E) -> E:
        """Record an entity as it now is."""
        event = Event(
            type=event_type(entity),
            thread_id=entity.id if str(entity.__struct_config__.tag) == "thread" else self.thread_id,
            entity=entity,
            at=self.facts.now,
            actor=self.facts.actor,
            command_id=self.facts.command_id,
            run_id=entity.id if isinstance(entity, Run) else getattr(entity, "run_id", None),
        )
        self.state = evolve(self.state, event)
        self.outputs.append(event)
        return entity

    def change(self, entity: E, **fields: object) -> E:
        """Record a new revision of an entity; nothing happens if nothing differs."""
        if all(getattr(entity, name) == value for name, value in fields.items()):
            return entity
        return self.put(msgspec.structs.replace(entity, revision=entity.revision + 1, **fields))

    def do(self, *outputs: Output) -> None:
        """Add text or effects."""
        self.outputs.extend(outputs)

    def degrade(self, resolution: Resolution, run_id: str | None) -> None:
        """Record a fallback with its reason and consequence (C4)."""
        self.put(
            Degradation(
                id=self.facts.fresh("deg"),
                thread_id=self.thread_id,
                run_id=run_id,
                feature=resolution.feature,
                outcome=resolution.outcome,
                reason=resolution.reason,
                consequence=resolution.consequence,
                capability=resolution.capability,
                policy=resolution.policy,
                fidelity=resolution.fidelity,
            )
        )

    def note(
        self, level: Literal["info", "warning", "error"], code: str, text: str, run_id: str | None = None
    ) -> None:
        """Record something a person should see."""
        self.put(
            NoticeEntry(
                id=self.facts.fresh("not"),
                thread_id=self.thread_id,
                level=level,
                code=code,
                text=text,
                run_id=run_id,
            )
        )
