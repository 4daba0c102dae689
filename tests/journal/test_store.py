"""The journal under attack: one transaction or nothing, dense sequences, files left as they are."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from podium.contract.errors import StorageFailed
from podium.domain.entities import Run, Thread
from podium.journal.database import FILE_NAME, SCHEMA_VERSION, connect
from podium.journal.rows import Batch, EventRow
from podium.journal.store import PAGE_MAX, Journal
from tests.journal.writing import event, full_batch, full_batch_named

TABLES = ("events", "entities", "parts", "receipts", "processes", "sends", "owners")
WAIT = 60.0


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(tmp_path)
    yield opened
    opened.close()


def content(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Everything that is stored."""
    db = sqlite3.connect(folder / FILE_NAME)
    try:
        return {t: db.execute(f"select * from {t} order by 1, 2").fetchall() for t in TABLES}
    finally:
        db.close()


def sound(folder: Path) -> int:
    """The database is whole and its sequence dense; returns the newest sequence."""
    db = sqlite3.connect(folder / FILE_NAME)
    try:
        assert db.execute("pragma integrity_check").fetchone() == ("ok",)
        newest, count = db.execute("select coalesce(max(sequence), 0), count(*) from events").fetchone()
    finally:
        db.close()
    assert newest == count, "the sequence has a gap"
    return newest


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.journal.writing", str(folder), name, str(count)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )


STATEMENTS = (*((table, "insert") for table in TABLES), ("entities", "update"), ("sends", "update"))


@pytest.mark.behaviour("F241")
@pytest.mark.parametrize(("table", "verb"), STATEMENTS)
@pytest.mark.parametrize("kind", ["abort", "rollback", "fail"])
def test_a_failure_at_any_statement_leaves_every_table_as_it_was(
    tmp_path: Path, table: str, verb: str, kind: str
) -> None:
    """The rows of a table refuse to be written, in each way in which the database can give up."""
    journal = Journal(tmp_path)
    journal.commit(full_batch(0))
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.execute(f"create trigger no before {verb} on {table} begin select raise({kind}, 'no'); end")
    db.commit()
    before = content(tmp_path)
    batch = full_batch(1)
    batch.events.append(event(Run(id="run_0", thread_id="thr_0", ordinal=1, revision=2), run_id="run_0"))
    with pytest.raises(StorageFailed) as failed:
        journal.commit(batch)
    assert failed.value.code == "storage_failed" and failed.value.fix
    assert content(tmp_path) == before
    db.execute("drop trigger no")
    db.commit()
    db.close()
    assert journal.commit(batch) == 3  # the same connection goes on
    journal.close()
    assert sound(tmp_path) == 7


@pytest.mark.behaviour("F241")
@pytest.mark.parametrize("point", ["in transaction", "before commit"])
@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk I/O error"), RuntimeError("stop")])
def test_an_error_inside_a_transaction_undoes_all_of_it(tmp_path: Path, point: str, error: Exception) -> None:
    def fault(name: str) -> None:
        if name == point and broken:
            raise error

    broken = True
    journal = Journal(tmp_path, fault=fault)
    with pytest.raises(StorageFailed if isinstance(error, sqlite3.Error) else RuntimeError):
        journal.commit(full_batch(1))
    assert all(not rows for rows in content(tmp_path).values())
    broken = False
    assert journal.commit(full_batch(1)) == 0
    journal.close()
    assert sound(tmp_path) == 3


@pytest.mark.behaviour("F241")
def test_what_cannot_be_stored_at_all_is_a_typed_failure_and_nothing_more(journal: Journal) -> None:
    row = event(Thread(id="thr_x", workspace="/w", agent="a", agent_kind="zz"))
    for bad in (
        msgspec.structs.replace(row, actor="half \ud800"),
        msgspec.structs.replace(row, revision=2**70),
    ):
        with pytest.raises(StorageFailed):
            journal.commit(Batch(events=[row, bad]))
    assert journal.sequence() == 0
    assert journal.commit(Batch(events=[row])) == 0


@pytest.mark.behaviour("F240")
def test_a_receipt_is_kept_with_the_sequence_it_holds_for(journal: Journal) -> None:
    journal.commit(full_batch(1))
    journal.commit(full_batch(2))
    stored = journal.receipt("cmd_2")
    assert stored is not None and (stored.sequence, stored.fingerprint) == (6, "mark")
    assert journal.receipt("cmd_3") is None
    with pytest.raises(StorageFailed):  # a second receipt for one command takes its whole batch back
        journal.commit(Batch(events=full_batch(3).events, receipts=full_batch(2).receipts))
    assert journal.sequence() == 6


def test_two_processes_write_at_once_and_the_sequence_stays_dense(tmp_path: Path) -> None:
    children = [writer(tmp_path, name, 40) for name in ("a", "b")]
    told: list[int] = []
    for child in children:
        out, _ = child.communicate(timeout=WAIT)
        assert child.returncode == 0
        told.extend(int(line) for line in out.split()[1:])
    assert sound(tmp_path) == 240
    assert sorted(told) == list(range(3, 241, 3))


def test_a_killed_writer_leaves_a_sound_journal_with_all_it_told(tmp_path: Path) -> None:
    told = 0
    for round_number in range(6):
        child = writer(tmp_path, f"k{round_number}", 100_000)
        assert child.stdout is not None
        for _ in range(3 + 7 * round_number):
            line = child.stdout.readline().strip()
            told = int(line) if line.isdigit() else told
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
        told = max([told, *(int(w) for w in rest if w.isdigit())])
        child.wait(WAIT)
        child.stdout.close()
        newest = sound(tmp_path)
        assert newest >= told and newest % 3 == 0


@pytest.mark.parametrize("seconds", [3.0])
def test_a_busy_file_is_waited_for_and_nothing_is_lost_or_reordered(tmp_path: Path, seconds: float) -> None:
    journal = Journal(tmp_path)
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None, check_same_thread=False)
    other.execute("begin immediate")
    free = threading.Timer(seconds, lambda: other.execute("rollback"))
    free.start()
    bases = [journal.commit(full_batch_named("busy", n)) for n in range(5)]
    free.join()
    other.close()
    journal.close()
    assert bases == [0, 3, 6, 9, 12]
    assert sound(tmp_path) == 15


def test_a_full_disk_is_a_typed_failure_and_what_was_told_stays(tmp_path: Path) -> None:
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from podium.contract.errors import StorageFailed\n"
        "from podium.journal.store import Journal\n"
        "from tests.journal.writing import full_batch_named\n"
        "journal = Journal(Path(sys.argv[1]))\n"
        "for n in range(20):\n"
        "    print(journal.commit(full_batch_named('a', n)) + 3, flush=True)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))\n"
        "try:\n"
        "    for n in range(20, 4000):\n"
        "        print(journal.commit(full_batch_named('a', n)) + 3, flush=True)\n"
        "except StorageFailed as error:\n"
        "    print(error.code)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "print(journal.commit(full_batch_named('b', 0)) + 3)\n"
        "journal.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        check=False,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert words[-2] == "storage_failed"
    last = int(words[-3])
    assert int(words[-1]) == last + 3, "the journal went on where it stood"
    assert sound(tmp_path) == last + 3
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 600_000


@pytest.mark.behaviour("F242")
def test_a_range_beyond_one_page_is_read_page_by_page_without_gap(journal: Journal) -> None:
    run = Run(id="run", thread_id="thr", ordinal=1)
    count = 2 * PAGE_MAX + 17
    rows = [event(msgspec.structs.replace(run, revision=n), run_id="run") for n in range(1, count + 1)]
    journal.commit(Batch(events=rows))
    assert len(journal.events(0, limit=10 * PAGE_MAX)) == PAGE_MAX
    assert [e.sequence for e in journal.all_events()] == list(range(1, count + 1))
    assert [e.sequence for e in journal.events(count - 5)] == list(range(count - 4, count + 1))
    assert journal.events(count) == []
    assert len(list(journal.all_events(thread_id="other"))) == 0


@pytest.mark.behaviour("F284")
def test_a_newer_database_is_read_and_never_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.commit(full_batch(1))
    journal.close()
    path = tmp_path / FILE_NAME
    db = sqlite3.connect(path)
    db.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    db.execute("create table of_the_future (x)")
    db.commit()
    db.close()
    before = path.read_bytes()
    with pytest.raises(StorageFailed) as refused:
        Journal(tmp_path)
    assert refused.value.code == "database_newer" and refused.value.fix
    reading = Journal(tmp_path, write=False)
    assert reading.sequence() == 3 and reading.entity("run_1") is not None
    for write in _writes(reading):
        with pytest.raises(StorageFailed) as error:
            write()
        assert error.value.code == "read_only"
    reading.close()
    assert path.read_bytes() == before


def _writes(journal: Journal) -> list[Callable[[], object]]:
    return [
        lambda: journal.commit(full_batch(2)),
        lambda: journal.compact(3),
        lambda: journal.start_runtime("rt", 1.0),
        lambda: journal.end_runtime("rt", 1.0),
        lambda: journal.replace_projections([]),
    ]


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    "damage", [b"this is no database, not by far" * 100, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_broken_file_is_named_and_left_as_it_is(tmp_path: Path, write: bool, damage: bytes) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(damage)
    with pytest.raises(StorageFailed) as broken:
        Journal(tmp_path, write=write)
    assert broken.value.code == "database_corrupt" and str(path) in broken.value.message
    assert path.read_bytes() == damage
    assert sorted(p.name for p in tmp_path.iterdir()) == [FILE_NAME]


@pytest.mark.parametrize("name", ["with space", "100%", "a#b", "what?", "ümläut", "%41"])
def test_any_folder_name_will_do(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    journal = Journal(folder)
    journal.commit(full_batch(1))
    journal.close()
    assert (folder / FILE_NAME).exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]


def test_its_files_are_for_the_owner_alone(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        journal = Journal(tmp_path)
        journal.commit(full_batch(1))
        modes = {p.name: p.stat().st_mode & 0o777 for p in tmp_path.iterdir()}
        journal.close()
    finally:
        os.umask(mask)
    assert modes == dict.fromkeys((FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"), 384)


def test_many_processes_open_one_new_folder_at_once(tmp_path: Path) -> None:
    children = [writer(tmp_path, f"o{n}", 2) for n in range(5)]
    for child in children:
        child.communicate(timeout=WAIT)
        assert child.returncode == 0
    assert sound(tmp_path) == 30


def test_a_crash_within_a_migration_leaves_the_version_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    journal.commit(full_batch(1))
    journal.close()
    broken = [(SCHEMA_VERSION + 1, "create table later (x);\ncreate table later (x);\n")]
    monkeypatch.setattr("podium.journal.database.migrations", lambda: broken)
    with pytest.raises(StorageFailed):
        connect(tmp_path / FILE_NAME, write=True)
    db = sqlite3.connect(tmp_path / FILE_NAME)
    version = db.execute("pragma user_version").fetchone()
    tables = {r[0] for r in db.execute("select name from sqlite_master where type = 'table'")}
    db.close()
    assert version == (SCHEMA_VERSION,) and "later" not in tables


def test_an_event_row_is_read_back_as_it_was_written(journal: Journal) -> None:
    row: EventRow = event(Thread(id="thr", workspace="/w", agent="a", agent_kind="zz"), command_id="c")
    journal.commit(Batch(events=[row]))
    stored = journal.events(0)[0]
    assert (stored.type, stored.thread_id, stored.entity_id, stored.at, stored.actor, stored.command_id) == (
        row.type, row.thread_id, row.entity_id, row.at, row.actor, row.command_id,
    )  # fmt: skip
    assert stored.payload == row.payload


READ_ONLY = """
import os, sys
from pathlib import Path
from podium.contract.errors import StorageFailed
from podium.journal.store import Journal
if os.geteuid() == 0:  # nothing is read-only for root
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    Journal(Path(sys.argv[1]), write=False)
except StorageFailed as error:
    print(error.code, error.fix)
"""


def test_a_folder_that_may_only_be_read_says_so_and_what_to_do() -> None:
    with tempfile.TemporaryDirectory() as base:  # of which others may look inside
        data = Path(base) / "data"
        data.mkdir()
        Journal(data).close()
        (data / FILE_NAME).chmod(0o444)
        Path(base).chmod(0o755)
        data.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(data)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        data.chmod(0o755)
    assert done.stdout.startswith("data_folder_read_only "), (done.stdout, done.stderr)
    assert "PODIUM_DATA" in done.stdout
