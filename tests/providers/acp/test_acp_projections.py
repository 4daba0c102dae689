"""Every recorded conversation, played through the real core, leaves what it left when it was looked at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.providers.acp.acp_core import play
from tests.providers.acp.acp_play import FOLDERS, NAMES, place_of
from tests.providers.codex.projection import projection
from tests.providers.codex.test_codex_projections import written

REWRITE = "REWRITE_EXPECTED"
"""Set to 1 to write the projections anew; look at the difference before committing it."""

OTHER_ASKS = {"grok/two_threads", "vibe/two_threads", "vibe/fork", "vibe/modes"}
"""Recordings with asks that a person cannot cause yet: a second conversation, a branch, a mode for one
prompt. What the adapter makes of them stands in `expected`."""

PLAYED = tuple(name for name in NAMES if name not in OTHER_ASKS)


def shown(folder: Path, name: str) -> dict[str, Any]:
    """The projection with how each input was dealt with."""
    played = play(folder, name)
    return {"inputs": played.counts, **projection(played.folder, played.thread_id)}


@pytest.mark.parametrize("name", PLAYED)
def test_a_recording_leaves_the_expected_projection(name: str, tmp_path: Path) -> None:
    path = place_of(name, "projections")
    found = shown(tmp_path / "data", name)
    if os.environ.get(REWRITE) == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(written(found))
    assert written(found) == path.read_text()


def test_every_projection_has_its_recording() -> None:
    for agent, (folder, _, _) in FOLDERS.items():
        held = sorted(f"{agent}/{path.stem}" for path in (folder / "projections").glob("*.json"))
        assert held == [name for name in PLAYED if name.startswith(f"{agent}/")]
