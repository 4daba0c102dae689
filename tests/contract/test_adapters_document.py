"""docs/adapters.md shows the small adapter as it is, and says nothing of the contract that is not so."""

from __future__ import annotations

import re

import pytest

from podium.contract.adapter import ADAPTER_STATE_MAX
from podium.contract.leaves import MANDATORY_ASKS, MUST_BE_PROVEN
from tests.contract.test_library_document import BLOCK
from tools.behaviours import ROOT

PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
SOURCE = (ROOT / "tests" / "contract" / "small_agent.py").read_text(encoding="utf-8")
BLOCKS: list[str] = BLOCK.findall(PAGE)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_each_block_stands_in_the_adapter_word_for_word(number: int) -> None:
    assert BLOCKS[number] in SOURCE


def test_nearly_the_whole_adapter_is_shown() -> None:
    assert len("".join(BLOCKS)) > len(SOURCE) / 2


def test_the_findings_it_names_are_those_of_the_check() -> None:
    code = (ROOT / "src" / "podium" / "contract" / "validation.py").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+)`", PAGE[PAGE.index("It refuses among others") :].split("###")[0]))
    assert {name for name in named if "_" in name} - {"step"} <= set(re.findall(r'"([a-z_]+)"', code))


def test_its_words_about_bounds_and_asks_hold() -> None:
    assert f"at most {ADAPTER_STATE_MAX >> 10} KiB" in PAGE
    assert all(f"`{ask}`" in PAGE for ask in MANDATORY_ASKS)
    assert {"threads.rollback", "threads.fork", "turns.steer_active", "policy.enforcement"} <= MUST_BE_PROVEN
