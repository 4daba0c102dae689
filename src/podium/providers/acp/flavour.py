"""What differs between agents that speak this protocol, as data: one `Flavour` each, and no code."""

from __future__ import annotations

from typing import Literal

import msgspec

from podium.contract.adapter import EnvVar, Preset
from podium.contract.inputs import Mode

MODE_NAMES: dict[Mode, tuple[str, ...]] = {
    "read": ("read-only",),
    "ask": ("default",),
    "edit": ("accept-edits", "acceptEdits", "auto-edit", "autoEdit"),
    "full": ("full-access", "auto-approve", "bypassPermissions", "yolo"),
}
"""Names that several agents give to our modes; the first one that an agent advertises is taken.

"ask" is not among them: with one agent it asks before it acts, with another it only answers questions.
"""


SUBAGENTS = (
    "subagents.supported",
    "subagents.thread_ids",
    "subagents.lifecycle",
    "approvals.from_subagents",
)
QUESTIONS = ("planning.questions", "approvals.user_input")
PLANS = ("planning.plan_updates", "planning.todo_list")
"""Leaves that an agent lacks together."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent is found and started.

    `own` starts an agent that has no program of its own, where none is configured. `arguments` make the
    program speak the protocol; the option named `option` replaces them (`adds` False) or follows them.
    """

    display_name: str
    executables: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    option: str = "arguments"
    adds: bool = False
    native_programs: tuple[str, ...] = ()
    version_args: tuple[str, ...] = ("--version",)
    environment: tuple[EnvVar, ...] = ()
    install_hint: str = ""
    login_hint: str = ""
    login_command: str = ""
    presets: tuple[Preset, ...] = ()
    start_seconds: float = 30.0
    stuck_seconds: float | None = None


class Flavour(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent does and does not do on the wire. Every field is a fact that was seen.

    Recognised by `names` (agentInfo.name) or `sign` (a member of `_meta` in the answer to `initialize`).

    - `resumes`, `load_destroys`: whether conversations are kept; a load that destroys is never sent.
    - `asks`, `interrupts`, `selects`, `forks`: whether it asks for permission, can be cancelled, lets models
      be chosen, branches a conversation.
    - `steer_method`, `steer_sign`: the extension that changes a running turn, and the member of the
      capabilities' `_meta` that offers it.
    - `has_ids`, `streams`, `ends_messages`, `infers_end`: whether messages and tools carry ids; whether it
      shows its work; whether a message is seen to end before its turn does; whether it may fall silent
      instead of saying that a turn is over.
    - `child_sign`: the member of the capabilities' `_meta` that offers child conversations.
    - `modes`: its names for our modes; `full_meta`: a member of `_meta` in `session/new` that asks nobody.
    - `mode_option`: the config option whose values are its modes, where what it calls modes says something
      else than what may be done unasked.
    - `own_mode`: the mode it is in by itself, where no name is needed for it.
    - `mode_echo`: how the text begins that it says in the conversation when its mode is set.
    - `holds_settings`: a conversation counts as ready only once its mode and model took hold, and a mode that
      cannot be set is told. `echoes_ids`: it gives back the id of a message.
    - `news`: prefixes of notifications that are known and mean nothing here, and of requests that are known
      and not served: these are refused by the protocol's own error, and counted.
    - `side_channel`: the notification that carries the agent's own updates; `side` maps their names to ours.
    - `end_method`: the notification that ends a turn which the agent began by itself.
    - `retry_method`: the notification that says that the agent tries again by itself.
    - `tool_meta`: the member of a tool call's `_meta` whose `kind` says what it is where `kind` does not.
    - `describes`: the text of a call that has not ended says what it is, and is none of its output.
    - `titles_commands`: the title of a command's call is the command.
    - `uses_files`: it is offered the file methods, where the instance does not say otherwise.
    - `question_method`: the extension request that asks a person; `question_meta`: the member of a tool
      call's `_meta` whose questions make a permission one.
    - `alone_meta`: the member of a piece's `_meta` that makes it a message of its own.
    - `counts_pieces`: each answer of the model has its usage in the `_meta` of a piece.
    - `usage_of`: whether the usage in the answer to a prompt counts the turn or the conversation so far.
    - `errors_as_text`: errors come as chat text and the turn ends as if all were well. `error_words`: how
      such a text begins; a turn with one as its last words has failed. `retry_words`: how a text begins and
      ends that says that the agent tries again.
    - `errors`: its own error codes. `lacks`: leaves that are not there, whatever the handshake says.
    """

    name: str
    names: tuple[str, ...] = ()
    sign: str = ""
    resumes: bool = True
    load_destroys: bool = False
    asks: bool = True
    interrupts: bool = True
    selects: bool = True
    forks: bool = False
    steer_method: str = ""
    steer_sign: str = ""
    has_ids: bool = True
    streams: bool = True
    ends_messages: bool = True
    infers_end: bool = False
    child_sign: str = ""
    modes: dict[Mode, tuple[str, ...]] = msgspec.field(default_factory=lambda: dict(MODE_NAMES))
    full_meta: str = ""
    mode_option: str = ""
    own_mode: Mode | None = None
    mode_echo: str = ""
    holds_settings: bool = True
    echoes_ids: bool = False
    news: tuple[str, ...] = ()
    side_channel: str = ""
    side: dict[str, Side] = msgspec.field(default_factory=dict[str, "Side"])
    end_method: str = ""
    retry_method: str = ""
    tool_meta: str = ""
    describes: bool = False
    titles_commands: bool = False
    uses_files: bool = False
    question_method: str = ""
    question_meta: str = ""
    alone_meta: str = ""
    counts_pieces: bool = False
    usage_of: Literal["turn", "conversation"] = "turn"
    errors_as_text: bool = False
    error_words: str = ""
    retry_words: tuple[str, str] = ("", "")
    errors: dict[int, str] = msgspec.field(default_factory=dict[int, str])
    lacks: tuple[str, ...] = ()


Side = Literal["child_started", "child_ended", "turn_ended", "retry"]
"""What an update on a side channel can mean here; every other one means nothing."""
