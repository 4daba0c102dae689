"""A host to be killed: it begins a thread, posts prompts and tells what happens, until somebody ends it.

usage: host.py DATA WORKSPACE AGENT LINGER PROMPT...
"""

from __future__ import annotations

import sys

import anyio

import podium
from podium.domain.entities import Item, Run


async def main(data: str, workspace: str, agent: str, linger: float, prompts: list[str]) -> None:
    async with podium.open(data, linger=linger) as p:
        thread = await p.threads.create(workspace=workspace, agent=agent)
        print("THREAD", thread.id, flush=True)
        with thread.subscribe() as reader:
            for prompt in prompts:
                receipt = await thread.post(prompt, intent="queue")
                print("RUN", receipt.result["run"], flush=True)
            while (entry := await reader.next()) is not None:
                entity = getattr(getattr(entry, "event", None), "entity", None)
                if isinstance(entity, Run):
                    print("STATE", entity.state, flush=True)
                elif isinstance(entity, Item):
                    print("ITEM", entity.item_kind, entity.state, flush=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5:])
