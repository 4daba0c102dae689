"""A Podium of its own process for tests that kill it.

usage: host.py DATA WORKSPACE LINGER TEXT...   Sends the texts to the thread of this folder, then waits.
"""

from __future__ import annotations

import os
import sys

import anyio

import podium


async def main(data: str, workspace: str, linger: float, texts: list[str]) -> None:
    """Own the thread until somebody kills this process."""
    async with podium.open(data, environ=os.environ, linger=linger) as p:
        thread = await p.threads.create(workspace=workspace, agent="replayed", command_id="the thread")
        await thread.adopt()
        for number, text in enumerate(texts):
            await thread.post(text, client_id=f"host-{number}")
        print("READY", flush=True)
        await anyio.sleep(120)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4:])
