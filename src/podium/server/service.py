"""What the routes work with: the open data folder, the hub of the stream, the rights."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from litestar.di import NamedDependency

import podium
from podium.contract.errors import Conflict, Unavailable
from podium.runtime.agents import Registry
from podium.runtime.bodyviews import BODY_INLINE_MAX, RANGE_MAX
from podium.runtime.health import Found, probe_all, rejected
from podium.runtime.podium import Podium
from podium.runtime.snapshot import ITEMS_MAX, Snapshots
from podium.server.access import Access
from podium.server.schema import AgentCard, Info, InputBlock, PlanWish, RunInput, ShownPlan
from podium.server.stream import REPLAY_MAX, Hub
from podium.transport.masking import Secrets
from podium.transport.rings import DiagnosticRing
from podium.workspace.values import RestorePlan

FEATURES = (
    "threads",
    "messages",
    "interrupt",
    "requests",
    "events",
    "items",
    "bodies",
    "diff",
    "checkpoints",
    "diagnostics",
    "agents",
    "capabilities",
)
"""What a client may count on; it asks here before it uses something newer."""

DIAGNOSTIC_LINES = 500
"""Most diagnostic lines of one answer, from the end."""

ACTOR_PAGE, ACTOR_API = "page", "api"
"""Who a command came from, as the journal records it."""


class Service:
    """One server's shared parts."""

    def __init__(self, opened: Podium, access: Access, home: Path) -> None:
        self.podium = opened
        self.access = access
        self.home = home
        self.runtime = opened.runtime
        self.snapshots = Snapshots(opened.runtime)
        self.hub = Hub(opened.runtime.journal, opened.runtime.engine.feed)
        self.identity = opened.runtime.journal.identity()

    @property
    def boot(self) -> str:
        """The runtime that answers; another one after a restart."""
        return self.runtime.id

    @property
    def registry(self) -> Registry:
        """The agents."""
        return self.runtime.registry

    def check_ready(self) -> None:
        """Raise StorageFailed if nothing can be read, or what is written is kept nowhere."""
        self.runtime.engine.check_open()
        self.runtime.engine.check_written()
        self.runtime.journal.sequence()
        self.runtime.journal.check_there()

    def info(self) -> Info:
        """Versions, features, limits."""
        limits = {
            "body_inline_chars": BODY_INLINE_MAX,
            "range_chars": RANGE_MAX,
            "items_page": ITEMS_MAX,
            "replay_events": REPLAY_MAX,
        }
        return Info(podium.__version__, self.boot, self.identity, FEATURES, limits)

    def default_agent(self) -> str:
        """The agent of a thread that names none."""
        return self.registry.default()

    async def agents(self) -> tuple[AgentCard, ...]:
        """Every agent for people, the default one first, then what works."""
        names = [n for n in self.registry.listed() if self.registry.offered(n)]
        found = [*await probe_all(self.registry, names), *rejected(self.registry)]
        try:
            default = self.default_agent()
        except Unavailable:
            default = ""
        cards = [self._card(f, default) for f in found]
        return tuple(sorted(cards, key=lambda c: (not c.default, c.health != "ok", c.name.lower())))

    def _card(self, found: Found, default: str) -> AgentCard:
        instance = self.registry.instances.get(found.id)
        return AgentCard(
            id=found.id,
            name=found.name,
            agent_kind=found.agent_kind,
            adapter=found.adapter,
            health=found.health,
            version=found.version,
            problem=found.problem,
            fix=found.fix,
            sign_in=found.sign_in,
            sign_in_hint=found.sign_in_hint,
            sign_in_flows=found.sign_in_flows,
            rehearsal=found.rehearsal,
            default=found.id == default,
            model=instance.settings.model if instance else None,
            mode=instance.settings.mode if instance else None,
            modes=self.registry.modes(instance) if instance else (),
        )

    async def plan(self, wish: PlanWish) -> ShownPlan:
        """What a restore would do, with its digest."""
        checkpoints = self.podium.checkpoints
        make = checkpoints.undo_plan if wish.undo else checkpoints.plan
        plan = await make(wish.target, force=wish.force)
        return ShownPlan(plan, digest(plan))

    async def planned(self, wish: PlanWish, shown: str) -> RestorePlan:
        """The plan again. Raises Conflict `plan_changed` where it is not what was shown."""
        now = await self.plan(wish)
        if now.digest != shown:
            raise Conflict(
                "plan_changed",
                "The files changed since the plan was shown; nothing was touched.",
                fix="Look at the new plan first.",
            )
        return now.plan

    def run_input(self, run_id: str) -> RunInput:
        """What a run's messages gave the agent, byte for byte. Raises NotFound `run_unknown`."""
        run = self.runtime.reading.run(run_id)
        blocks: list[InputBlock] = []
        for message in self.snapshots.messages(run):
            text = self.snapshots.words(message)
            blocks.append(InputBlock("text", "user", message.id, text))
            blocks += [InputBlock("image", "user", message.id, None, a) for a in message.attachments]
        return RunInput(run.id, tuple(blocks))

    def diagnostics(self, thread_id: str) -> tuple[str, ...]:
        """The newest masked diagnostic lines of a thread."""
        ring = DiagnosticRing(self.runtime.settings.data / "diagnostics", Secrets({}), name=thread_id)
        return tuple(ring.read()[-DIAGNOSTIC_LINES:])


Served = NamedDependency[Service]
"""What a route is given under the name `service`."""


def digest(plan: RestorePlan) -> str:
    """What names exactly this plan, whenever it is made."""
    steps: list[Any] = [plan.root, plan.checkout, plan.forced, plan.steps, plan.folders]
    return hashlib.sha256(msgspec.json.encode(steps, order="deterministic")).hexdigest()
