"""A one-shot command for proofs: it plays the script in its prompt.

    echo '{"play": [{"do": "say", "text": "Hello."}]}' | python -I one_shot_command.py

Standard library only. Words in front of the script are what it is asked to recall; what it waits for is a
file in the folder that PODIUM_PROOF_RELEASED names. It leaves with exit code 1 where the script says so.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

RELEASED = "PODIUM_PROOF_RELEASED"
SCRIPT = '{"play":'
MARK = re.compile(r"MARK-\w+")
HOLD_SECONDS = 60.0
POLL_SECONDS = 0.02


def wait_for(place: Path) -> None:
    """Wait, bounded, until a file is there."""
    for _ in range(int(HOLD_SECONDS / POLL_SECONDS)):
        if place.exists():
            return
        time.sleep(POLL_SECONDS)


def main() -> None:
    """Read the prompt to its end, play, leave."""
    prompt = sys.stdin.read()
    rows: list[dict[str, Any]] = json.loads(prompt[prompt.index(SCRIPT) :])["play"]
    for row in rows:
        match row["do"]:
            case "say":
                print(row["text"], end="", flush=True)
            case "recite":
                print(f"I was told {(MARK.findall(prompt) or ['nothing'])[-1]}. ", end="", flush=True)
            case "hold":
                wait_for(Path(os.environ[RELEASED]) / str(row["name"]))
            case _:
                raise SystemExit(1)


if __name__ == "__main__":
    main()
