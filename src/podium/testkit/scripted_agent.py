"""The rehearsal agent, startable by the path of this file: `python -I scripted_agent.py`.

The program itself is `podium.testkit.rehearsal`, the folder beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # An isolated interpreter need not have this very Podium on its path.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from podium.testkit.rehearsal.program import VERSION, main
from podium.testkit.rehearsal.scripts import HELP, script_for
from podium.testkit.rehearsal.steps import STEPS

__all__ = ["HELP", "STEPS", "VERSION", "script_for"]

if __name__ == "__main__":
    main(sys.argv[1:])
