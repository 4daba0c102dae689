"""What decide may know of a thread's agent and policy. Asking never fails, whatever a file says."""

from __future__ import annotations

from podium.contract.capabilities import Capabilities
from podium.contract.errors import BadInput
from podium.domain.state import ThreadState
from podium.policy.config import Policy, merge
from podium.runtime.agents import Registry
from podium.runtime.certificates import stamp
from podium.runtime.settings import Settings

RECORDS_MAX = 256
"""Most effective capability records remembered."""

POLICIES_MAX = 256
"""Most workspaces whose policy is remembered."""


class Known:
    """Capabilities and policies as they are now, with what was worked out before."""

    def __init__(self, settings: Settings, registry: Registry) -> None:
        self.versions: dict[str, str | None] = {}
        self._settings = settings
        self._registry = registry
        self._records: dict[tuple[str, str | None, bool, str | None, int], Capabilities] = {}
        self._policies: dict[str, tuple[Policy, bool]] = {}

    def capabilities(self, state: ThreadState) -> Capabilities:
        """The effective record of a thread's agent: declared, met with what is proven and negotiated (R8).

        An agent that is configured no more can do nothing, and its threads stay readable.
        """
        thread = state.thread
        if thread is None or thread.agent not in self._registry.instances:
            return Capabilities.minimal(thread.agent if thread else "none", reason="agent_unknown")
        session = state.session
        version = (session.agent_version if session else None) or self.versions.get(thread.agent)
        strict = self.policy(state).strict
        narrowed = f"{session.id}/{session.revision}" if session is not None and session.narrowed else None
        key = (thread.agent, version, strict, narrowed, stamp(self._settings.data, thread.agent))
        if key not in self._records:
            instance = self._registry.instance(thread.agent)
            record = self._registry.effective(instance, version, strict=strict)
            if session is not None and session.narrowed:
                record = record.narrowed(session.narrowed)
            self._records[key] = record
            while len(self._records) > RECORDS_MAX:
                del self._records[next(iter(self._records))]
        return self._records[key]

    def policy(self, state: ThreadState) -> Policy:
        """The policy of a thread's workspace as it was read last; the user's own where it never was."""
        return self._project(state)[0]

    def captures(self, state: ThreadState) -> bool:
        """Whether the files of a thread's workspace are captured, as it was read last."""
        return self._project(state)[1]

    def _project(self, state: ThreadState) -> tuple[Policy, bool]:
        workspace = state.thread.workspace if state.thread else "/"
        if workspace not in self._policies:
            try:
                self.read_policy(workspace)
            except BadInput:
                own = self._settings.config.captures.enabled
                return merge(self._settings.policy_layer), own is not False
        return self._policies[workspace]

    def read_policy(self, workspace: str) -> None:
        """Read a workspace's policy anew. Raises BadInput if its file is broken; the old one then stays."""
        found = self._settings.policy(workspace), self._settings.captures(workspace)
        self._policies.pop(workspace, None)
        self._policies[workspace] = found
        while len(self._policies) > POLICIES_MAX:
            del self._policies[next(iter(self._policies))]
