"""The journal: one transaction in, rows out. About fifteen statements behind one small interface.

Writing belongs to one thread at a time; reading goes through a connection of its own beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from podium.contract.errors import StorageFailed
from podium.journal.database import FILE_NAME, connect
from podium.journal.rows import (
    Batch,
    EventRow,
    PartRow,
    ProcessRow,
    ProjectionRow,
    SendRow,
    StoredEvent,
    StoredReceipt,
)

PAGE_MAX = 1000
"""Most rows one read returns; a longer range is read in pages (F242)."""

_EVENT = "sequence, type, thread_id, run_id, entity_id, at, actor, command_id, payload"
_PROCESS = (
    "id, session_id, thread_id, runtime_id, adapter, token, folder, address, generation, read_offset, inputs,"
    " state, correlator, timers, closed"
)


class Journal:
    """Durable state of a data folder. `fault` is called before each step of a commit, for crash tests."""

    def __init__(
        self, folder: Path, *, write: bool = True, fault: Callable[[str], None] | None = None
    ) -> None:
        self.path = folder / FILE_NAME
        self._writer = connect(self.path, write=True) if write else None
        self._reader = connect(self.path, write=False)
        self._fault = fault or _no_fault
        self._inode = self.path.stat().st_ino

    def check_there(self) -> None:
        """Raise StorageFailed `data_folder_gone` if the database is not at its path any more.

        SQLite writes on into a file that was deleted or moved, and nobody ever finds that again.
        """
        try:
            there = self.path.stat().st_ino == self._inode
        except OSError:
            there = False
        if not there:
            raise StorageFailed(
                "data_folder_gone",
                f"The database {self.path} was taken away; what is written now is kept nowhere.",
                fix="Stop what runs on it, and start it on a folder that is there.",
            )

    def close(self) -> None:
        """Close both connections."""
        self._reader.close()
        if self._writer is not None:
            self._writer.close()

    # ---- writing

    def commit(self, batch: Batch) -> int:
        """Write one batch in one transaction; returns the sequence before its first event.

        Raises StorageFailed if anything could not be written; then nothing was (F241).
        """
        with self._transaction() as db:
            base: int = db.execute("select coalesce(max(sequence), 0) from events").fetchone()[0]
            self._fault("in transaction")
            self._write(db, batch, base)
            self._fault("before commit")
        return base

    def _opened(self) -> sqlite3.Connection:
        if self._writer is None:
            raise StorageFailed("read_only", "This journal was opened for reading.")
        return self._writer

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        """All or nothing; a value that cannot be stored at all is a failure like a full disk."""
        db = self._opened()
        try:
            db.execute("begin immediate")
            yield db
            db.execute("commit")
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            _roll_back(db)
            raise StorageFailed(
                "storage_failed",
                f"The journal could not be written: {error}.",
                fix="Free space on the disk or mend the data folder; what was reported as done is kept.",
            ) from error
        except BaseException:
            _roll_back(db)
            raise

    def _write(self, db: sqlite3.Connection, batch: Batch, base: int) -> None:
        db.executemany(
            "insert into owners values (?, ?)"
            " on conflict (thread_id) do update set runtime_id = excluded.runtime_id",
            batch.claims,
        )
        db.executemany(
            f"insert into events ({_EVENT}, entity_kind, revision) values (?,?,?,?,?,?,?,?,?,?,?)",
            (_event_values(e, base + i) for i, e in enumerate(batch.events, 1)),
        )
        db.executemany(
            "insert into entities values (?,?,?,?,?,?,?,?,?) on conflict (id) do update set"
            " run_id = excluded.run_id, open = excluded.open, position = excluded.position,"
            " revision = excluded.revision, sequence = excluded.sequence, payload = excluded.payload",
            (_entity_values(e, base + i) for i, e in enumerate(batch.events, 1)),
        )
        db.executemany("insert into parts values (?,?,?,?,?,?,?)", map(_part_values, batch.parts))
        db.executemany(
            "insert into receipts values (?,?,?,?,?)",
            ((r.command_id, r.fingerprint, r.thread_id, base + r.after, r.payload) for r in batch.receipts),
        )
        marks = ",".join("?" * 15)
        db.executemany(
            f"insert or replace into processes ({_PROCESS}) values ({marks})",
            map(_process_values, batch.processes),
        )
        db.executemany(
            "insert into sends values (?,?,?,?,?)",
            ((s.process_id, s.n, s.ask_id, int(s.prompt), s.line) for s in batch.sends),
        )
        for process in batch.processes:
            if process.closed:
                db.execute("update sends set line = '' where process_id = ?", (process.id,))

    def start_runtime(self, runtime_id: str, at: float) -> None:
        """Name a runtime before it owns anything."""
        self._plain("insert into runtimes values (?, ?, null)", (runtime_id, at))

    def end_runtime(self, runtime_id: str, at: float) -> None:
        """Record that a runtime left, or was found gone."""
        self._plain("update runtimes set ended_at = ? where id = ?", (at, runtime_id))

    def _plain(self, statement: str, values: tuple[object, ...]) -> None:
        with self._transaction() as db:
            db.execute(statement, values)

    def hand_over(self, command_id: str, thread_id: str, at: float, payload: bytes) -> None:
        """Leave a command for the runtime that owns the thread; a receipt proves that it was taken."""
        self._plain("insert or ignore into inbox values (?, ?, ?, ?)", (command_id, thread_id, at, payload))

    def compact(self, before: int) -> int:
        """Drop the payload of superseded events older than `before`; projections stay the same (F274).

        The rows stay, so that the sequence stays dense. Returns how many were emptied.
        """
        with self._transaction() as db:
            cursor = db.execute(
                "update events set payload = null where sequence < ? and payload is not null and exists"
                " (select 1 from events later where later.entity_id = events.entity_id"
                " and later.sequence > events.sequence)",
                (before,),
            )
        return cursor.rowcount

    def replace_projections(self, rows: Iterable[ProjectionRow]) -> None:
        """Put these projections in the place of all there are, in one transaction (F273)."""
        with self._transaction() as db:
            kept = list(rows)
            db.execute("delete from entities")
            db.executemany("insert into entities values (?,?,?,?,?,?,?,?,?)", map(_projection_values, kept))

    # ---- reading

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        try:
            return self._reader.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise StorageFailed("storage_failed", f"The journal could not be read: {error}.") from error

    def identity(self) -> str:
        """What names this journal among all others, so that a cursor of another one is known (F243)."""
        with suppress(StorageFailed):  # a journal of the first schema, opened for reading, has none yet
            rows = self._rows("select value from facts where name = 'journal'")
            return str(rows[0][0]) if rows else ""
        return ""

    def sequence(self) -> int:
        """The newest sequence."""
        return _int(self._rows("select coalesce(max(sequence), 0) from events")[0][0])

    def events(self, after: int, *, thread_id: str | None = None, limit: int = PAGE_MAX) -> list[StoredEvent]:
        """Events above a sequence, oldest first, at most `limit` and never more than PAGE_MAX."""
        most = min(limit, PAGE_MAX)
        where, values = (
            ("", (after, most)) if thread_id is None else ("and thread_id = ?", (after, thread_id, most))
        )
        rows = self._rows(
            f"select {_EVENT} from events where sequence > ? {where} order by sequence limit ?", values
        )
        return [_stored_event(r) for r in rows]

    def all_events(self, *, thread_id: str | None = None) -> Iterator[StoredEvent]:
        """Every event in order, page by page."""
        after = 0
        while page := self.events(after, thread_id=thread_id):
            yield from page
            after = page[-1].sequence

    def newest_events(self, after: str = "") -> Iterator[ProjectionRow]:
        """The newest event of each entity, by entity id; `open` and `position` are not yet known."""
        while page := self._rows(
            "select e.entity_id, e.entity_kind, e.thread_id, e.run_id, 0, 0, e.revision, e.sequence,"
            " e.payload from (select entity_id, max(sequence) as newest from events where entity_id > ?"
            " group by entity_id order by entity_id limit ?) m join events e on e.sequence = m.newest"
            " order by e.entity_id",
            (after, PAGE_MAX),
        ):
            yield from map(_projection, page)
            after = str(page[-1][0])

    def projections(self, after: str = "") -> Iterator[ProjectionRow]:
        """Every stored projection, by entity id, page by page."""
        while page := self._rows(
            "select id, kind, thread_id, run_id, open, position, revision, sequence, payload from entities"
            " where id > ? order by id limit ?",
            (after, PAGE_MAX),
        ):
            yield from map(_projection, page)
            after = str(page[-1][0])

    def entity(self, entity_id: str) -> bytes | None:
        """The projection of one entity."""
        rows = self._rows("select payload from entities where id = ?", (entity_id,))
        return _bytes(rows[0][0]) if rows else None

    def entities(
        self,
        kind: str,
        *,
        thread_id: str | None = None,
        run_id: str | None = None,
        open_only: bool = False,
        before: int | None = None,
        limit: int = PAGE_MAX,
        newest_first: bool = False,
    ) -> list[bytes]:
        """Projections of one kind in stored order, or from the end."""
        where, values = ["kind = ?"], list[object]([kind])
        for clause, value in (("thread_id = ?", thread_id), ("run_id = ?", run_id), ("position < ?", before)):
            if value is not None:
                where.append(clause)
                values.append(value)
        if open_only:
            where.append("open = 1")
        order = "desc" if newest_first else "asc"
        rows = self._rows(
            f"select payload from entities where {' and '.join(where)}"
            f" order by position {order}, sequence {order}, id limit ?",
            (*values, limit),
        )
        return [_bytes(r[0]) for r in rows]

    def open_entities(self, thread_id: str) -> list[bytes]:
        """What a thread's memory is rebuilt from: open entities, oldest first (R5)."""
        rows = self._rows(
            "select payload from entities where thread_id = ? and open = 1 order by position, sequence, id",
            (thread_id,),
        )
        return [_bytes(r[0]) for r in rows]

    def worked_at(self, thread_id: str) -> float | None:
        """When something of a run last happened in a thread (unix seconds)."""
        rows = self._rows(
            "select at from events where thread_id = ? and run_id is not null order by sequence desc limit 1",
            (thread_id,),
        )
        at = rows[0][0] if rows else None
        return at if isinstance(at, float) else None

    def highest(self, thread_id: str, kind: str) -> int:
        """The highest position a kind has reached in a thread."""
        rows = self._rows(
            "select coalesce(max(position), 0) from entities where thread_id = ? and kind = ?",
            (thread_id, kind),
        )
        return _int(rows[0][0])

    def parts(self, owner: str, body: str, epoch: int) -> list[PartRow]:
        """The parts of one body in order."""
        rows = self._rows(
            "select thread_id, owner, body, epoch, from_part, to_part, text from parts"
            " where owner = ? and body = ? and epoch = ? order by from_part",
            (owner, body, epoch),
        )
        return [
            PartRow(str(r[0]), str(r[1]), str(r[2]), _int(r[3]), _int(r[4]), _int(r[5]), str(r[6]))
            for r in rows
        ]

    def epochs(self, owner: str) -> list[tuple[str, int]]:
        """The bodies of an owner, each with its newest epoch."""
        rows = self._rows("select body, max(epoch) from parts where owner = ? group by body", (owner,))
        return [(str(r[0]), _int(r[1])) for r in rows]

    def receipt(self, command_id: str) -> StoredReceipt | None:
        """The stored answer of a command."""
        rows = self._rows(
            "select command_id, fingerprint, thread_id, sequence, payload from receipts where command_id = ?",
            (command_id,),
        )
        if not rows:
            return None
        r = rows[0]
        return StoredReceipt(str(r[0]), str(r[1]), _text(r[2]), _int(r[3]), _bytes(r[4]))

    def handed_over(self, since: float) -> list[tuple[str, str, bytes]]:
        """Commands left in the inbox since a time that have no receipt yet: id, thread, payload."""
        rows = self._rows(
            "select command_id, thread_id, payload from inbox where at >= ? and not exists"
            " (select 1 from receipts where receipts.command_id = inbox.command_id) order by at limit ?",
            (since, PAGE_MAX),
        )
        return [(str(r[0]), str(r[1]), _bytes(r[2])) for r in rows]

    def data_version(self) -> int:
        """A number that changes whenever another connection has committed."""
        return _int(self._rows("pragma data_version")[0][0])

    def owner(self, thread_id: str) -> str | None:
        """The runtime a thread belongs to."""
        rows = self._rows("select runtime_id from owners where thread_id = ?", (thread_id,))
        return str(rows[0][0]) if rows else None

    def owned(self, runtime_id: str) -> list[str]:
        """Threads of a runtime that still hold something open: a run, session, request or checkpoint."""
        rows = self._rows(
            "select distinct e.thread_id from owners o join entities e on e.thread_id = o.thread_id"
            " where o.runtime_id = ? and e.open = 1 and e.kind in ('run', 'session', 'request', 'checkpoint')"
            " order by 1",
            (runtime_id,),
        )
        return [str(r[0]) for r in rows]

    def runtimes(self) -> list[str]:
        """Runtimes that never recorded their end."""
        return [
            str(r[0])
            for r in self._rows("select id from runtimes where ended_at is null order by started_at")
        ]

    def processes(self, *, thread_id: str | None = None, open_only: bool = True) -> list[ProcessRow]:
        """Agent processes, the not yet consumed ones by default."""
        where, values = ["1 = 1"], list[object]()
        if thread_id is not None:
            where.append("thread_id = ?")
            values.append(thread_id)
        if open_only:
            where.append("closed = 0")
        rows = self._rows(f"select {_PROCESS} from processes where {' and '.join(where)}", tuple(values))
        return [_stored_process(r) for r in rows]

    def sends(self, process_id: str, after: int = 0) -> list[SendRow]:
        """Sends of a process above a number, in order."""
        rows = self._rows(
            "select process_id, n, ask_id, prompt, line from sends where process_id = ? and n > ? order by n",
            (process_id, after),
        )
        return [SendRow(str(r[0]), _int(r[1]), _text(r[2]), bool(r[3]), str(r[4])) for r in rows]

    def last_send(self, process_id: str) -> int:
        """The newest send number of a process."""
        rows = self._rows("select coalesce(max(n), 0) from sends where process_id = ?", (process_id,))
        return _int(rows[0][0])

    def size(self) -> int:
        """Bytes of the database's pages."""
        return _int(self._rows("pragma page_count")[0][0]) * _int(self._rows("pragma page_size")[0][0])


def _roll_back(db: sqlite3.Connection) -> None:
    """Undo what is open; a disk that failed may have undone it already."""
    if db.in_transaction:
        with suppress(sqlite3.Error):
            db.execute("rollback")


def _no_fault(name: str) -> None:
    """Where no crash test runs, nothing happens at a fault point."""


def _event_values(e: EventRow, sequence: int) -> tuple[object, ...]:
    return (
        sequence, e.type, e.thread_id, e.run_id, e.entity_id, e.at, e.actor, e.command_id, e.payload,
        e.entity_kind, e.revision,
    )  # fmt: skip


def _entity_values(e: EventRow, sequence: int) -> tuple[object, ...]:
    return (
        e.entity_id, e.entity_kind, e.thread_id, e.run_id, int(e.open), e.position, e.revision, sequence,
        e.payload,
    )  # fmt: skip


def _projection_values(p: ProjectionRow) -> tuple[object, ...]:
    return (
        p.id, p.kind, p.thread_id, p.run_id, int(p.open), p.position, p.revision, p.sequence, p.payload,
    )  # fmt: skip


def _projection(r: tuple[object, ...]) -> ProjectionRow:
    return ProjectionRow(
        str(r[0]), str(r[1]), str(r[2]), _text(r[3]), bool(r[4]), _int(r[5]), _int(r[6]), _int(r[7]),
        b"" if r[8] is None else _bytes(r[8]),
    )  # fmt: skip


def _part_values(p: PartRow) -> tuple[object, ...]:
    return (p.owner, p.body, p.epoch, p.from_part, p.to_part, p.thread_id, p.text)


def _process_values(p: ProcessRow) -> tuple[object, ...]:
    return (
        p.id, p.session_id, p.thread_id, p.runtime_id, p.adapter, p.token, p.folder, p.address, p.generation,
        p.read_offset, p.inputs, p.state, p.correlator, p.timers, int(p.closed),
    )  # fmt: skip


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def _bytes(value: object) -> bytes:
    assert isinstance(value, bytes)
    return value


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _stored_event(r: tuple[object, ...]) -> StoredEvent:
    at = r[5]
    assert isinstance(at, float)
    return StoredEvent(
        _int(r[0]), str(r[1]), str(r[2]), _text(r[3]), str(r[4]), at, str(r[6]), _text(r[7]),
        None if r[8] is None else _bytes(r[8]),
    )  # fmt: skip


def _stored_process(r: tuple[object, ...]) -> ProcessRow:
    return ProcessRow(
        str(r[0]), str(r[1]), str(r[2]), str(r[3]), str(r[4]), str(r[5]), str(r[6]), str(r[7]), _int(r[8]),
        _int(r[9]), _int(r[10]), _bytes(r[11]), _bytes(r[12]), _bytes(r[13]), bool(r[14]),
    )  # fmt: skip
