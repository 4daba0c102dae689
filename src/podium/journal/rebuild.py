"""Projections against their events: verify that they agree, or make them anew (F273).

The projection of an entity is the payload of its newest event. Compaction empties superseded payloads only,
so it changes nothing here (F274).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from podium.contract.errors import StorageFailed
from podium.domain.entities import Entity
from podium.domain.state import is_open, position_of
from podium.journal.rows import ProjectionRow
from podium.journal.store import Journal

_decoder = msgspec.json.Decoder(Entity)


class Difference(msgspec.Struct, frozen=True):
    """A projection that is not what its events say; None where one of the two is not there."""

    entity_id: str
    stored: ProjectionRow | None
    expected: ProjectionRow | None


def expected(journal: Journal) -> Iterator[ProjectionRow]:
    """What every projection should be, by entity id. Raises StorageFailed `event_unreadable`."""
    for row in journal.newest_events():
        try:
            entity = _decoder.decode(row.payload)
        except msgspec.DecodeError as error:
            raise StorageFailed(
                "event_unreadable",
                f"Event {row.sequence} cannot be read: {error}.",
                fix="Keep the database and read it with the version that wrote it.",
            ) from error
        yield msgspec.structs.replace(row, open=is_open(entity), position=position_of(entity))


def verify(journal: Journal) -> list[Difference]:
    """Every projection that its events do not bear out; empty where all is well."""
    found: list[Difference] = []
    stored, wanted = journal.projections(), expected(journal)
    one, other = next(stored, None), next(wanted, None)
    while one is not None or other is not None:
        entity_id = min(row.id for row in (one, other) if row is not None)
        mine = one if one is not None and one.id == entity_id else None
        theirs = other if other is not None and other.id == entity_id else None
        if mine != theirs:
            found.append(Difference(entity_id, mine, theirs))
        one = next(stored, None) if mine is not None else one
        other = next(wanted, None) if theirs is not None else other
    return found


def rebuild(journal: Journal) -> int:
    """Make all projections anew from their events, in one transaction; how many had been wrong.

    Raises StorageFailed; then nothing was changed.
    """
    wrong = len(verify(journal))
    if wrong:
        journal.replace_projections(expected(journal))
    return wrong
