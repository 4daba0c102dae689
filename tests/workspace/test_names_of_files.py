"""Names of files as text and back, and what may name a checkpoint."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.errors import BadInput
from podium.workspace.names import checked_name, inside, is_git_metadata, raw_of, text_of


@given(st.binary(min_size=1).filter(lambda raw: b"\0" not in raw))
def test_any_name_goes_through_json_and_comes_back(raw: bytes) -> None:
    text = msgspec.json.decode(msgspec.json.encode(text_of(raw)), type=str)
    assert raw_of(text) == raw


@given(st.binary(min_size=1), st.binary(min_size=1))
def test_two_names_are_never_one_text(one: bytes, other: bytes) -> None:
    assert (text_of(one) == text_of(other)) == (one == other)


@pytest.mark.parametrize(
    "name", ["", ".a", "-a", "a/b", "a..b", "a.lock", "a.", "a b", "a\n", "a~", "x" * 121]
)
def test_what_cannot_stand_in_a_ref_is_refused(name: str) -> None:
    with pytest.raises(BadInput):
        checked_name(name)


@pytest.mark.parametrize(
    "path", [b".git", b".git/config", b"a/.GIT/x", b".git./x", b"GIT~1/x", b"sub/.git", b".git /x"]
)
def test_gits_own_files_are_known_however_they_are_spelt(path: bytes) -> None:
    assert is_git_metadata(path)


@pytest.mark.parametrize("path", [b".gitignore", b"a.git", b"git/x", b"a/.github/x"])
def test_other_names_are_not_taken_for_them(path: bytes) -> None:
    assert not is_git_metadata(path)


def test_a_path_that_an_agent_named_is_found_in_its_checkout(tmp_path: Path) -> None:
    (tmp_path / "repo/d").mkdir(parents=True)
    (tmp_path / "repo/out").symlink_to(tmp_path)
    (tmp_path / "repo/link").symlink_to("d")
    root = tmp_path / "repo"
    assert inside(root, "d/x.txt") == "d/x.txt"
    assert inside(root, str(root / "d/../y")) == "y"
    assert inside(root, "link") == "link"
    assert inside(root, "link/x") == "d/x"
    for path in ("../x", "/etc/passwd", "out/x", ".", str(root)):
        assert inside(root, path) is None
