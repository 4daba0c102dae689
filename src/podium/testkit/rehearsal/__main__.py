"""`python -I -m podium.testkit.rehearsal`."""

from __future__ import annotations

import sys

from podium.testkit.rehearsal.program import main

main(sys.argv[1:])
