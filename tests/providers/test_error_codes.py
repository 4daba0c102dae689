"""The table of codes in docs/library.md: every code of the sources is listed, and no listed code is dead."""

from __future__ import annotations

import re

import pytest

from tests.providers.error_codes import CODE, INDIRECT, SOURCES, scan
from tools.behaviours import ROOT

PAGE = ROOT / "docs" / "library.md"
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.M)
CLASSES = {
    "BadInput",
    "NotFound",
    "Conflict",
    "Denied",
    "Gone",
    "Refused",
    "Unavailable",
    "StorageFailed",
    "PodiumError",
    "Failure: process",
    "Failure: agent",
    "Failure: files",
}


def listed() -> dict[str, tuple[str, str]]:
    """The rows of the table of codes."""
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len({code for code, _, _ in rows}) == len(rows)
    return {code: (kind, meaning) for code, kind, meaning in rows}


def used() -> set[str]:
    """Every code of the sources; one whose end is made up as it goes has a star."""
    codes, _ = scan()
    indirect = {code for found in INDIRECT.values() for code in found}
    return set(codes) | {f"{code}*" if code.endswith("_") else code for code in indirect}


def test_every_code_in_the_sources_is_listed() -> None:
    assert used() - set(listed()) == set()


def test_no_listed_code_is_dead() -> None:
    assert set(listed()) - used() == set()


def test_each_row_says_how_the_code_comes_and_what_it_means() -> None:
    for code, (kind, meaning) in listed().items():
        assert CODE.fullmatch(code), code
        assert kind in CLASSES, code
        assert meaning.strip(), code


def test_the_table_is_in_order() -> None:
    assert list(listed()) == sorted(listed())


def test_a_code_that_comes_from_elsewhere_is_known_here() -> None:
    _, elsewhere = scan()
    assert elsewhere - set(INDIRECT) == set()


@pytest.mark.parametrize("file", sorted(INDIRECT))
def test_a_code_said_to_begin_in_a_file_stands_there(file: str) -> None:
    text = (SOURCES / file).read_text(encoding="utf-8")
    for code in INDIRECT[file]:
        assert f'"{code}' in text, code
