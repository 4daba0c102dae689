"""A keeper in a folder of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.keeper.keeping import Kept


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    keeper = Kept(tmp_path / "k")
    yield keeper
    keeper.stop()
