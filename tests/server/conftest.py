"""A machine of its own for each test, with a server on it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.server.desk import Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    """A machine whose server begins with `desk.serve()`; no process of it may outlive the test."""
    place = Desk(tmp_path)
    yield place
    try:
        await place.empty()
    finally:
        place.clear()
