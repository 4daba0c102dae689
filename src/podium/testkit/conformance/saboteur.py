"""An agent that lacks exactly one leaf: the same program behind an adapter that takes that leaf away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from podium.contract.adapter import Adapter, Descriptor, LaunchPlan, LaunchSettings, Step
from podium.contract.capabilities import Capabilities
from podium.contract.errors import failure
from podium.contract.events import AskFailed, ProviderEvent, RequestOpened
from podium.contract.inputs import Ask, Attached, Command, Input, Respond
from podium.contract.requests import ACCEPT, Answer

Events = Iterable[ProviderEvent]


def _same_command(command: Command) -> Command:
    return command


def _same_event(event: ProviderEvent) -> Events:
    return (event,)


def _asks(event: RequestOpened) -> bool:
    return True


class Saboteur(msgspec.Struct, frozen=True):
    """What is taken away.

    `command` changes what the core asks, or answers it at once with events instead; `event` changes what the
    agent reports; a request that `asks` denies is accepted unseen, as an agent does that never asks. Without
    `restores` no state survives its owner, without `keeps_requests` no open request does; without `frames`
    nothing of what the agent wrote is kept; with `ends_background` an interrupt ends whatever it lets run.
    """

    command: Callable[[Command], Command | Events] = _same_command
    event: Callable[[ProviderEvent], Events] = _same_event
    asks: Callable[[RequestOpened], bool] = _asks
    restores: bool = True
    keeps_requests: bool = True
    frames: bool = True
    ends_background: bool = False


class Sabotaged:
    """An adapter behind a saboteur; its state is the adapter's own."""

    def __init__(self, adapter: Adapter[Any], saboteur: Saboteur) -> None:
        self.adapter, self.saboteur = adapter, saboteur
        self.taken_over = False

    @property
    def descriptor(self) -> Descriptor:
        """The adapter's."""
        return self.adapter.descriptor

    def capabilities(self) -> Capabilities:
        """The adapter's: a saboteur claims what it lacks."""
        return self.adapter.capabilities()

    def asks(self) -> frozenset[str]:
        """The adapter's."""
        return self.adapter.asks()

    def launch(self, settings: LaunchSettings) -> LaunchPlan:
        """The adapter's."""
        return self.adapter.launch(settings)

    def new(self) -> Any:
        """The adapter's."""
        return self.adapter.new()

    def dump(self, state: Any) -> bytes:
        """The adapter's."""
        return self.adapter.dump(state)

    def load(self, data: bytes) -> Any:
        """The adapter's, or nothing."""
        return self.adapter.load(data) if self.saboteur.restores else None

    def step(self, state: Any, given: Input) -> Step[Any]:
        """The adapter's step, with something taken away on the way in or out."""
        self.taken_over |= isinstance(given, Attached)
        if isinstance(given, Ask):
            if isinstance(given.command, Respond) and self.taken_over and not self.saboteur.keeps_requests:
                gone = failure("validation", "request_gone", "The request ended with its owner.")
                return Step(state, (AskFailed(given.command.ask_id, gone),))
            changed = self.saboteur.command(given.command)
            if not isinstance(changed, msgspec.Struct):
                return Step(state, tuple(changed))
            given = Ask(changed)
        return self._filtered(self.adapter.step(state, given))

    def _filtered(self, step: Step[Any]) -> Step[Any]:
        events: list[ProviderEvent] = []
        sends, timers, serves, state = list(step.sends), list(step.timers), list(step.serves), step.state
        for event in step.events:
            if isinstance(event, RequestOpened) and not self.saboteur.asks(event):
                answer = Respond(f"unseen-{event.key}", event.key, Answer(ACCEPT, self._first(event)))
                more = self.adapter.step(state, Ask(answer))
                state = more.state
                sends += more.sends
                timers += more.timers
                serves += more.serves
                continue
            events += self.saboteur.event(event)
        return Step(state, tuple(events), tuple(sends), tuple(timers), tuple(serves))

    def _first(self, event: RequestOpened) -> tuple[tuple[str, ...], ...] | None:
        """The first offered answer of each question, or none where nothing was asked."""
        questions = event.content.questions
        return tuple((q.options[0].label if q.options else "?",) for q in questions) or None
