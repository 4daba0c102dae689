"""A machine of its own for each test, and a census after it: nothing may be left running."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.runtime.house import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    """A machine; whatever a test did with it, no process of it may outlive the test."""
    place = House(tmp_path)
    yield place
    try:
        await place.empty()
    finally:
        place.clear()
