"""Texts read and replaced for an agent: what goes wrong is said, and nothing outside is ever touched."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from podium.contract.serving import (
    READ_MAX,
    WRITE_MAX,
    FileText,
    FileWritten,
    NotServed,
    Outcome,
    ReadTextFile,
    WriteTextFile,
)
from podium.workspace import texts as texts_module
from podium.workspace.texts import SHOWN_MAX, Texts

SPARE = b".podium-spare"
SECRET = "correct-horse-battery"
SWAPS = 300


def mask(text: str) -> str:
    return text.replace(SECRET, "[secret]")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path.resolve() / "ws"
    place.mkdir()
    (place / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "outside.txt").write_text("outside\n")
    (place / ".git").mkdir()
    (place / ".git" / "config").write_text("[core]\n")
    (place / "data").mkdir()
    (place / "data" / "podium.db").write_text("private")
    return place


@pytest.fixture
def texts(root: Path) -> Texts:
    return Texts(str(root), str(root / "data"), SPARE, mask)


def read(texts: Texts, path: Path | str, line: int | None = None, limit: int | None = None) -> str:
    outcome = texts.serve(ReadTextFile(str(path), line, limit))
    assert isinstance(outcome, FileText), outcome
    return outcome.text


def write(texts: Texts, path: Path | str, text: str) -> FileWritten:
    outcome = texts.serve(WriteTextFile(str(path), text))
    assert isinstance(outcome, FileWritten), outcome
    return outcome


def why(outcome: Outcome) -> str:
    assert isinstance(outcome, NotServed), outcome
    return outcome.failure.code


def both(texts: Texts, path: Path | str) -> list[str]:
    """Why a path can neither be read nor written."""
    return [why(texts.serve(ReadTextFile(str(path)))), why(texts.serve(WriteTextFile(str(path), "x")))]


def everything(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink()}


def test_a_text_is_read_whole_and_in_lines(texts: Texts, root: Path) -> None:
    assert read(texts, root / "a.txt") == "one\ntwo\nthree\n"
    assert read(texts, root / "a.txt", 2) == "two\nthree\n"
    assert read(texts, root / "a.txt", 2, 1) == "two\n"
    assert read(texts, root / "a.txt", None, 2) == "one\ntwo\n"
    assert read(texts, root / "a.txt", 0, 1) == "one\n"
    assert read(texts, root / "a.txt", 9) == ""
    assert read(texts, root / "a.txt", 1, 0) == ""
    (root / "b.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\x0bc\xe2\x80\xa8d")
    assert read(texts, root / "b.txt") == "\ufeffa\r\nb\x0bc\u2028d"
    assert read(texts, root / "b.txt", 2) == "b\x0bc\u2028d"


def test_a_text_is_replaced_whole_and_keeps_its_rights(texts: Texts, root: Path) -> None:
    place = root / "a.txt"
    place.chmod(0o751)
    before = place.stat().st_ino
    change = write(texts, place, "one\nTWO\nthree\n").change
    assert (change.path, change.kind) == (str(place), "update")
    assert "-two\n+TWO\n" in change.diff
    assert place.read_text() == "one\nTWO\nthree\n"
    assert stat.S_IMODE(place.stat().st_mode) == 0o751
    assert place.stat().st_ino != before
    assert sorted(p.name for p in root.iterdir()) == [".git", "a.txt", "data"]


def test_a_missing_file_is_made_with_its_folders(texts: Texts, root: Path) -> None:
    before = os.umask(0o027)
    try:
        change = write(texts, root / "deep" / "er" / "n.txt", "new\n").change
    finally:
        os.umask(before)
    assert (change.kind, change.diff) == ("add", "@@ -0,0 +1,1 @@\n+new\n")
    made = root / "deep" / "er" / "n.txt"
    assert made.read_text() == "new\n"
    assert stat.S_IMODE(made.stat().st_mode) == 0o640
    assert stat.S_IMODE(made.parent.stat().st_mode) == 0o750


def test_what_lies_outside_is_neither_read_nor_written(texts: Texts, root: Path, tmp_path: Path) -> None:
    other = tmp_path / "ws-other"
    other.mkdir()
    (other / "x.txt").write_text("other")
    before = everything(tmp_path)
    outside = (
        f"{root}/../outside.txt",
        f"{root}/a/../../outside.txt",
        tmp_path / "outside.txt",
        other / "x.txt",
        "/etc/hostname",
        root,
        "/",
    )
    for path in outside:
        assert both(texts, path) == ["outside", "outside"], path
    for path in ("a.txt", "", "./a.txt", "~/a.txt", f"{root}/a\0.txt", f"{root}/\ud800.txt"):
        assert both(texts, path) == ["path_invalid", "path_invalid"], path
    assert both(texts, f"{root}/{'n' * 300}") == ["path_invalid", "path_invalid"]
    assert everything(tmp_path) == before


def test_links_are_not_followed_wherever_they_stand(texts: Texts, root: Path, tmp_path: Path) -> None:
    before = everything(tmp_path)
    (root / "link.txt").symlink_to(tmp_path / "outside.txt")
    (root / "inner.txt").symlink_to("a.txt")
    (root / "dangling.txt").symlink_to(tmp_path / "made.txt")
    (root / "out").symlink_to(tmp_path)
    for path in ("link.txt", "inner.txt", "dangling.txt", "out/outside.txt", "out/made.txt", "a.txt/b"):
        assert both(texts, root / path) == ["link_in_the_way", "link_in_the_way"], path
    assert everything(tmp_path) == before
    assert not (tmp_path / "made.txt").exists()


def test_a_workspace_that_leads_elsewhere_now_is_refused(texts: Texts, root: Path, tmp_path: Path) -> None:
    root.rename(tmp_path / "moved")
    root.symlink_to(tmp_path / "moved")
    assert both(texts, root / "a.txt") == ["outside", "outside"]


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(
    texts: Texts, root: Path, tmp_path: Path
) -> None:
    """A folder and a link to the outside take turns under one name while files are read and written."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "f.txt").write_text("outside")
    real, spot, link = root / "real", root / "spot", root / "swap"
    real.mkdir()
    (real / "f.txt").write_text("inside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for before, after in ((real, spot), (spot, real)):
                with suppress(OSError):  # a write made a folder there meanwhile
                    before.rename(after)
            shutil.rmtree(spot, ignore_errors=True)
            link.symlink_to(tmp_path / "secret")
            with suppress(OSError):
                link.rename(spot)
                spot.unlink()
            link.unlink(missing_ok=True)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[str] = set()
    try:
        for _ in range(SWAPS):
            found = texts.serve(ReadTextFile(str(spot / "f.txt")))
            seen.add(found.text if isinstance(found, FileText) else why(found))
            texts.serve(WriteTextFile(str(spot / "f.txt"), "inside"))
    finally:
        stop.set()
        swapping.join()
    assert seen <= {"inside", "not_found", "link_in_the_way"}
    assert (tmp_path / "secret" / "f.txt").read_text() == "outside"
    assert [p.name for p in (tmp_path / "secret").iterdir()] == ["f.txt"]


def test_what_is_no_plain_file_is_refused_without_waiting(texts: Texts, root: Path) -> None:
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    assert both(texts, root / "folder") == ["no_file", "no_file"]
    assert both(texts, root / "pipe") == ["no_file", "no_file"]
    devices = Texts("/dev", "", SPARE, mask)
    assert both(devices, "/dev/null") == ["no_file", "no_file"]
    assert Path("/dev/null").is_char_device()


def test_git_and_podium_keep_their_own(texts: Texts, root: Path) -> None:
    before = everything(root)
    for path in (".git/config", ".GIT/config", "sub/.git/hooks/post-commit", ".git", "data/podium.db"):
        assert both(texts, root / path) == ["private", "private"], path
    (root / "other-name").symlink_to("data")
    assert both(texts, root / "other-name" / "podium.db") == ["link_in_the_way", "link_in_the_way"]
    assert {k: v for k, v in everything(root).items() if "sub" not in k} == before


def test_what_is_too_long_or_no_text_is_refused_whole(texts: Texts, root: Path) -> None:
    (root / "long.txt").write_bytes(b"x" * (READ_MAX + 1))
    assert why(texts.serve(ReadTextFile(str(root / "long.txt"), 1, 1))) == "too_long"
    (root / "long.txt").write_bytes(b"x" * READ_MAX)
    assert len(read(texts, root / "long.txt")) == READ_MAX
    sparse = root / "sparse.txt"
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    assert why(texts.serve(ReadTextFile(str(sparse)))) == "too_long"
    (root / "latin.txt").write_bytes(b"caf\xe9\n")
    assert why(texts.serve(ReadTextFile(str(root / "latin.txt")))) == "no_text"
    assert why(texts.serve(WriteTextFile(str(root / "a.txt"), "x" * (WRITE_MAX + 1)))) == "too_long"
    assert why(texts.serve(WriteTextFile(str(root / "a.txt"), "\ud800"))) == "no_text"
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert write(texts, root / "latin.txt", "café\n").change.diff == ""
    assert write(texts, root / "long.txt", "short\n").change.diff == ""
    assert write(texts, root / "a.txt", "y" * (SHOWN_MAX + 1)).change.diff == ""


def test_a_secret_is_not_read_and_not_shown(texts: Texts, root: Path) -> None:
    (root / ".env").write_text(f"KEY={SECRET}\n")
    assert why(texts.serve(ReadTextFile(str(root / ".env")))) == "holds_secret"
    change = write(texts, root / ".env", "KEY=\n").change
    assert SECRET not in change.diff
    assert "-KEY=[secret]\n+KEY=\n" in change.diff


def test_a_file_that_may_not_be_changed_stays(texts: Texts, root: Path) -> None:
    (root / "a.txt").chmod(0o444)
    assert why(texts.serve(WriteTextFile(str(root / "a.txt"), "x"))) == "not_allowed"
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert why(texts.serve(ReadTextFile(str(root / "none.txt")))) == "not_found"
    assert why(texts.serve(ReadTextFile(str(root / "none" / "none.txt")))) == "not_found"


@pytest.mark.parametrize("call", ["fsync", "fchmod", "rename"])
def test_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(
    texts: Texts, root: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(texts_module.os, call, full)
        assert why(texts.serve(WriteTextFile(str(root / "a.txt"), "x"))) == "disk_full"
    assert (root / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert sorted(p.name for p in root.iterdir()) == [".git", "a.txt", "data"]


def test_what_a_killed_write_left_is_replaced_by_the_next(texts: Texts, root: Path, tmp_path: Path) -> None:
    spare = root / os.fsdecode(SPARE)
    for left in ("link", "half"):
        if left == "link":
            spare.symlink_to(tmp_path / "outside.txt")
        else:
            spare.write_text("half")
        write(texts, root / "a.txt", f"after {left}\n")
        assert (root / "a.txt").read_text() == f"after {left}\n"
        assert not (root / "a.txt").is_symlink()
    assert (tmp_path / "outside.txt").read_text() == "outside\n"
    assert sorted(p.name for p in root.iterdir()) == [".git", "a.txt", "data"]
