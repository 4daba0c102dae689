"""`podium run`: one prompt to its end, streamed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from cyclopts import Parameter

from podium.contract.errors import BadInput

if TYPE_CHECKING:
    from podium.cli.driving import Choices, Drive, Hand
    from podium.cli.output import Output
    from podium.contract.inputs import Mode
    from podium.runtime.interface import AnyPodium, AnyThread

STDIN = "-"

REHEARSED = ": no model runs, and nothing is sent anywhere (podium agents lists the others)"
"""What a person is told who named no agent and has none."""

PROMPT_BYTES_MAX = 64 * 1024 * 1024
"""Most bytes read from stdin; the limit of a prompt is far below."""


def run(
    prompt: Annotated[str | None, Parameter(allow_leading_hyphen=False)] = None,
    /,
    *,
    agent: Annotated[str | None, Parameter(name=["--agent", "-a"])] = None,
    workspace: Annotated[Path | None, Parameter(name=["--workspace", "-C"])] = None,
    model: Annotated[str | None, Parameter(name=["--model", "-m"])] = None,
    mode: Literal["read", "ask", "edit", "full"] | None = None,
    thread: str | None = None,
    image: tuple[Path, ...] = (),
    fresh: bool = False,
    json: bool = False,
    approve: Literal["ask", "all", "none"] = "ask",
    keep: bool = False,
    wait: bool = False,
) -> int:
    """Give an agent one prompt and follow it to its end.

    Exit codes: 0 completed, 1 failed, 2 usage, 3 refused, 4 agent unavailable, 5 waiting for a person,
    130 interrupted. Told to end by SIGTERM (143) or a closed terminal (129), it ends the run too, unless
    --keep is given.

    Parameters
    ----------
    prompt
        What the agent should do; - reads it from stdin. With --thread it may be left out.
    agent
        The agent to use; `podium agents` lists them.
    workspace
        The folder the agent works in; this folder by default.
    model
        The model, by the agent's own name for it.
    mode
        What the agent may do unasked.
    thread
        Continue this thread, or the newest with `last`.
    image
        An image to send along; may be repeated.
    fresh
        Begin a new conversation in the thread; the agent will not know what was said before.
    json
        Print one event a line.
    approve
        What to answer when the agent asks for permission.
    keep
        Leave the agent and its open request behind when this command leaves.
    wait
        Wait for an answer from elsewhere instead of leaving with exit code 5.
    """
    import anyio

    from podium.cli.driving import Choices

    text = read_prompt(prompt)
    if text is None and thread is None:
        raise BadInput("prompt_missing", "There is no prompt.", fix='Write it: podium run "what to do".')
    if text is not None and not text.strip() and not image:
        raise BadInput("prompt_empty", "The prompt is empty.", fix="Write what the agent should do.")
    wish = Wish(text, agent, workspace, model, mode, thread, image, fresh, Choices(approve, wait, keep, json))
    return anyio.run(wish.carry_out)


def read_prompt(prompt: str | None) -> str | None:
    """The prompt as it was given, byte for byte. Raises BadInput `prompt_not_text`."""
    if prompt != STDIN:
        data = os.fsencode(prompt) if prompt is not None else None
    else:
        data = sys.stdin.buffer.read(PROMPT_BYTES_MAX)
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(
            "prompt_not_text",
            f"The prompt is no UTF-8 text: byte {error.start} does not belong.",
            fix="Convert it to UTF-8.",
        ) from error


class Wish(msgspec.Struct, frozen=True):
    """What one `podium run` was asked for."""

    text: str | None
    agent: str | None
    workspace: Path | None
    model: str | None
    mode: Mode | None
    thread: str | None
    images: tuple[Path, ...]
    fresh: bool
    choices: Choices

    async def carry_out(self) -> int:
        """The exit code."""
        from podium.cli.driving import attended, served
        from podium.runtime.runtime import LINGER_MAX

        alone = bool(self.images)  # a server takes none yet
        wish = self
        if served() and not alone:  # a server keeps its agents, and their requests open
            choices = msgspec.structs.replace(self.choices, keep=True, served=True, stays=self.choices.keep)
            wish = msgspec.structs.replace(self, choices=choices)
        return await attended(LINGER_MAX if self.choices.keep else 0.0, wish._drive, alone=alone)

    async def _drive(self, podium: AnyPodium, output: Output, hand: Hand) -> int:
        from podium.cli.driving import Drive
        from podium.cli.stream import Stream

        with Stream(podium) as stream:
            drive = Drive(podium, stream, output, self.choices)
            hand.drive = drive
            thread = await self._thread(podium, drive)
            code = await self._earlier(podium, thread, drive)
            if code is not None:
                return code
            assert self.text is not None
            receipt = await thread.post(
                self.text, model=self.model, images=tuple(map(str, self.images)), fresh=self.fresh
            )
            return await self._finish(drive, receipt.result["run"])

    async def _thread(self, podium: AnyPodium, drive: Drive) -> AnyThread:
        from podium.runtime.images import check_images
        from podium.runtime.incoming import working_folder

        check_images(tuple(map(str, self.images)))
        if self.thread is not None:
            handle = podium.threads.get(newest(podium) if self.thread == "last" else self.thread)
            await handle.adopt()
            self._check_same(handle)
        else:
            handle = await podium.threads.create(
                workspace=self.workspace or working_folder(),
                agent=self.agent,
                mode=self.mode,
                model=self.model,
            )
            if self.agent is None:
                await self._tell_default(podium, handle, drive)
        drive.begin(handle)
        return handle

    async def _tell_default(self, podium: AnyPodium, handle: AnyThread, drive: Drive) -> None:
        thread = handle.state.thread
        if thread is not None:
            rehearsal = await podium.is_rehearsal(thread.agent)
            drive.tell(f"no agent was named; taking {thread.agent}" + (REHEARSED if rehearsal else ""))

    def _check_same(self, handle: AnyThread) -> None:
        thread = handle.state.thread
        if thread is None:
            return
        given = (
            ("--agent", self.agent, thread.agent),
            ("--workspace", str(self.workspace.resolve()) if self.workspace else None, thread.workspace),
            ("--mode", self.mode, thread.mode),
        )
        for name, wanted, held in given:
            if wanted is not None and wanted != held:
                raise BadInput(
                    "thread_settled",
                    f"This thread has {name} {held}.",
                    fix=f"Leave {name} out, or begin a thread.",
                )

    async def _earlier(self, podium: AnyPodium, thread: AnyThread, drive: Drive) -> int | None:
        """Follow what is still open in a thread. An exit code where that is all there is to do."""
        active = thread.state.active
        if active is None:
            if self.text is not None:
                return None
            return self._nothing_open(thread, drive)
        code = await self._finish(drive, active.id)
        if self.text is None:
            return code
        if code == WAITING:
            drive.tell("the prompt was not sent")
            return code
        return None

    def _nothing_open(self, thread: AnyThread, drive: Drive) -> int:
        from podium.cli.driving import exit_code

        last = thread.state.last_run
        if last is None:
            raise BadInput("prompt_missing", "Nothing is open in this thread.", fix="Give it a prompt.")
        drive.tell("nothing is open in this thread; its last run:")
        drive.summary(last)
        return exit_code(last)

    async def _finish(self, drive: Drive, run_id: str) -> int:
        from podium.cli.driving import exit_code

        ended = await drive.follow(run_id)
        if ended is not None:
            drive.summary(ended)
            code = exit_code(ended)
        else:
            drive.waits()
            code = WAITING
            if not self.choices.keep:
                await drive.expire(run_id)
        if self.choices.keep and not (self.choices.served and ended is not None):
            drive.kept()
        return code


WAITING = 5


def newest(podium: AnyPodium) -> str:
    """The id of the thread begun last. Raises BadInput `thread_unknown`."""
    threads = podium.threads.list()
    if not threads:
        raise BadInput("thread_unknown", "There is no thread yet.", fix="Begin one: podium run PROMPT")
    return max(threads, key=lambda t: t.created_at).id
