"""A small owner of one thread for the kill matrix: whatever is left to do, it does, and then it ends.

usage: host.py DATA WORKSPACE AGENT PROMPT...   Run it again after it was killed: it continues.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import msgspec

import podium
from podium.contract.errors import PodiumError
from podium.contract.inputs import Mode
from podium.contract.requests import Answer
from podium.domain.entities import Run
from podium.runtime.podium import Podium, ThreadHandle

LINGER = 60.0
WAIT = 25.0


async def settle(p: Podium, thread: ThreadHandle, run_id: str) -> Run:
    """Answer what is asked until the run is over."""
    while True:
        with thread.subscribe() as reader:
            for request in p.requests.pending():
                try:
                    await p.requests.answer(request.id, Answer("accept"), command_id=f"answer:{request.id}")
                except PodiumError as error:
                    print("ANSWER", error.code, flush=True)
            run = thread.run(run_id)
            if run.state == "ended":
                return run
            with anyio.move_on_after(1.0):
                await reader.next()


async def main(data: Path, workspace: Path, agent: str, prompts: list[str]) -> None:
    async with podium.open(data, linger=LINGER) as p:
        mode = msgspec.convert(os.environ.get("HOST_MODE", "ask"), Mode)
        thread = await p.threads.create(workspace=workspace, agent=agent, mode=mode, command_id="create")
        await thread.adopt()
        with anyio.fail_after(WAIT):
            for number, prompt in enumerate(prompts, 1):
                receipt = await thread.post(prompt, client_id=f"m-{number}")
                run = await settle(p, thread, receipt.result["run"])
                print("END", run.state, run.outcome, run.evidence, run.failure, flush=True)
        await p.runtime.stop_agents("matrix")
    print("DONE", flush=True)


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
