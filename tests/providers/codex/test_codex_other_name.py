"""Nothing depends on the agent's name: under any other the core comes to the very same (C1)."""

from __future__ import annotations

import random
import sqlite3
import string
from contextlib import closing
from pathlib import Path

import pytest

from podium.journal.database import FILE_NAME
from podium.providers.codex import CodexAdapter
from podium.providers.codex.adapter import TRANSPORT
from tests.providers.codex.core_player import Played, play
from tests.providers.codex.playing import NAMES
from tests.providers.codex.projection import projection


def any_name() -> str:
    return "".join(random.choices(string.ascii_lowercase, k=12))


def stored(played: Played, kind: str) -> str:
    """Everything stored of one kind of entity."""
    with closing(sqlite3.connect(played.folder / FILE_NAME)) as db:
        rows = db.execute("select payload from entities where kind = ? order by rowid", (kind,)).fetchall()
    return "\n".join(row[0].decode() for row in rows)


@pytest.mark.behaviour("F001")
@pytest.mark.parametrize("name", NAMES)
def test_another_name_and_brand_lead_to_the_same_projection(name: str, tmp_path: Path) -> None:
    adapter, brand, instance = any_name(), any_name(), any_name()
    own = play(tmp_path / "own", name)
    other = play(tmp_path / "other", name, adapter=CodexAdapter(adapter, brand), instance=instance)
    assert other.counts == own.counts
    assert projection(other.folder, other.thread_id) == projection(own.folder, own.thread_id)
    for kind in ("thread", "session", "provider_thread", "run"):
        plain = stored(other, kind).replace(TRANSPORT, "")
        assert '"codex"' not in plain
    assert f'"agent":"{instance}"' in stored(other, "thread")
    assert f'"agent_kind":"{brand}"' in stored(other, "provider_thread")
