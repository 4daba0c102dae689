"""One process that owns one agent and its pipes: `python -I -S keeper.py DIR`, the launch spec on stdin.

It copies bytes and knows nothing of frames. In DIR (0700, files 0600) it leaves `out.<offset>` (stdout,
position = absolute offset), `stderr`, `stderr.old`, `sends` (JSON lines [n, offset, time, sha256, bytes]),
`address`, `launched` and at the end `exit`. Its socket speaks JSON lines: {"gen": n} first, a newer one
fences an older one. If the keeper itself dies, the kernel kills the agent (Linux); all else is in the files.
Rules R2 and R3. Standard library only.
"""

# pathlib would cost memory in a process that exists once per agent.
# ruff: noqa: PTH100, PTH101, PTH103, PTH110, PTH118, PTH120
from __future__ import annotations

import contextlib
import json
import os
import signal
import sys

if __name__ == "__main__":  # a script has no package; with this one it finds its neighbours and nothing else
    __package__, __path__ = "keeper", [os.path.dirname(os.path.abspath(__file__))]
    sys.modules["keeper"] = sys.modules["__main__"]

from .owning import Keeper
from .spawning import Refused, start_ticks
from .spooling import write_atomically

TYPE_CHECKING = False  # importing typing costs memory too
if TYPE_CHECKING:
    from typing import Any

SPEC_MAX = 16 << 20
FDS = 4096


def start(folder: str, data: bytes, umask: int) -> tuple[Keeper | None, dict[str, Any]]:
    """The keeper with its agent running, and the answer for the launcher."""
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        os.chmod(folder, 0o700)
        if os.path.exists(os.path.join(folder, "launched")):
            raise Refused("folder_used", "this folder belongs to another agent process; give a new one")
        if len(data) > SPEC_MAX:
            raise Refused("bad_spec", f"the launch spec is longer than {SPEC_MAX} bytes")
        keeper = Keeper(folder, json.loads(data), umask)
        pid = keeper.life.pid
        answer = {
            "ok": True,
            "pid": os.getpid(),
            "agent_pid": pid,
            "agent_start": start_ticks(pid),
            "address": keeper.listener.address,
        }
    except Refused as refused:
        return None, {"ok": False, "code": refused.args[0], "message": refused.args[1]}
    except (ValueError, TypeError, AttributeError) as problem:
        return None, {"ok": False, "code": "bad_spec", "message": f"{type(problem).__name__}: {problem}"}
    except OSError as problem:
        return None, {"ok": False, "code": "spawn_failed", "message": str(problem)}
    with contextlib.suppress(OSError):  # the answer on stdout says the same
        write_atomically(os.path.join(folder, "launched"), json.dumps(answer).encode())
    return keeper, answer


def main() -> None:
    folder, umask = os.path.abspath(sys.argv[1]), os.umask(0o077)
    os.closerange(3, FDS)
    with open(0, "rb", closefd=False) as file:
        data = file.read(SPEC_MAX + 1)
    if os.fork():  # the launcher waits for this one only; the keeper belongs to init
        os._exit(0)
    os.setsid()
    os.chdir("/")
    keeper, answer = start(folder, data, umask)
    del data  # the environment in it holds secrets
    with contextlib.suppress(OSError):  # the launcher is gone; linger decides
        os.write(1, json.dumps(answer).encode() + b"\n")
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    if keeper:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        keeper.run()
    os._exit(0)


if __name__ == "__main__":
    main()
