"""What was certified here: kept for this user, and held against the program that is installed now."""

from __future__ import annotations

from pathlib import Path

import pytest

from podium.contract.errors import StorageFailed
from podium.contract.evidence import Certification
from podium.runtime.certificates import (
    FOLDER,
    VERSIONS_MAX,
    Certificate,
    certifications,
    program_mark,
    read,
    stamp,
    store,
)


def made(program: Path, version: str = "1.0", *, passed: bool = True) -> Certificate:
    result = Certification("threads.fork", version, passed, "fork", "2026-12-01")
    lost = Certification("output.usage", version, False, "usage", "2026-12-01")
    return Certificate(
        "mine", "kind", version, "2026-12-01", "0", program_mark(str(program)), (result, lost), "partial"
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    place = tmp_path / "agent"
    place.write_text("#!/bin/sh\n")
    return place


@pytest.mark.behaviour("F032")
def test_a_certificate_holds_for_the_program_it_was_made_with(tmp_path: Path, program: Path) -> None:
    place = store(tmp_path / "data", made(program))
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    known = certifications(tmp_path / "data", "mine", str(program))
    assert {(c.leaf, c.agent_version, c.passed) for c in known} == {
        ("threads.fork", "1.0", True),
        ("output.usage", "1.0", False),
    }


@pytest.mark.behaviour("F032")
def test_another_program_of_the_same_version_is_not_the_certified_one(tmp_path: Path, program: Path) -> None:
    store(tmp_path, made(program))
    program.write_text("#!/bin/sh\n# another\n")
    [carried] = certifications(tmp_path, "mine", str(program))
    assert (carried.leaf, carried.passed, carried.agent_version) == ("threads.fork", True, "1.0+changed")


def test_the_newest_of_a_version_counts_and_their_number_is_bounded(tmp_path: Path, program: Path) -> None:
    before = stamp(tmp_path, "mine")
    store(tmp_path, made(program))
    store(tmp_path, made(program, passed=False))
    assert [c.results[0].passed for c in read(tmp_path, "mine")] == [False]
    for number in range(VERSIONS_MAX + 3):
        store(tmp_path, made(program, f"2.{number}"))
    assert len(read(tmp_path, "mine")) == VERSIONS_MAX
    assert stamp(tmp_path, "mine") != before == 0


@pytest.mark.parametrize("text", ["", "{", '{"certificates": 3}', "[]", "\0"])
def test_a_broken_file_certifies_nothing_and_is_replaced(tmp_path: Path, program: Path, text: str) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "mine.json").write_text(text)
    assert certifications(tmp_path, "mine", str(program)) == []
    store(tmp_path, made(program))
    assert len(read(tmp_path, "mine")) == 1


def test_the_name_of_an_instance_leads_nowhere_else(tmp_path: Path, program: Path) -> None:
    named = Certificate("../../up", "kind", "1.0", "", "0", "", (), "")
    assert store(tmp_path, named).parent == tmp_path / FOLDER


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, program: Path) -> None:
    (tmp_path / FOLDER).write_text("a file where the folder should be")
    with pytest.raises(StorageFailed) as refused:
        store(tmp_path, made(program))
    assert refused.value.code == "certificate_not_kept"
