"""The one form in which events leave Podium, as the lines of `--json` and in the event stream."""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec

from podium.domain.entities import Entity
from podium.domain.events import Delta, Event
from podium.journal.rows import StoredEvent

_HARMFUL = re.compile(rb"\x7f|\xc2[\x80-\x9f]")
"""DEL and the C1 controls in UTF-8: JSON may carry them bare, and a terminal would obey them."""


PLAIN = frozenset((str, int, float, bool, type(None)))
"""What is data already. Most of what an entity holds is: it is asked for first."""


@functools.cache  # by type: there are as many as the contract has
def _shape(kind: type[msgspec.Struct]) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """The tag of a type as it is shown, and its fields with the names they are shown by."""
    config = kind.__struct_config__
    tag = {} if config.tag is None else {str(config.tag_field): str(config.tag)}
    return tag, tuple(zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True))


def whole(value: Any) -> Any:
    """Plain data with every field, defaults too: what is stored leaves them out, what is shown does not."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, msgspec.Struct):
        tag, fields = _shape(type(value))
        found: dict[str, Any] = tag.copy()
        for name, shown in fields:
            held = getattr(value, name)
            found[shown] = held if type(held) in PLAIN else whole(held)
        return found
    if _is(value, dict):
        return {key: held if type(held) in PLAIN else whole(held) for key, held in value.items()}
    if _is(value, tuple) or _is(value, list):
        return [whole(held) for held in value]
    return value


def _is(value: object, kind: type[object]) -> bool:
    return type(value) is kind


def entity_data(entity: Entity) -> dict[str, Any]:
    """An entity whole: its kind, and every field, defaults too."""
    found: dict[str, Any] = whole(entity)
    return found


def event_data(sequence: int, event: Event) -> dict[str, Any]:
    """A durable event with its sequence."""
    return {
        "sequence": sequence,
        "type": event.type,
        "thread_id": event.thread_id,
        "run_id": event.run_id,
        "at": event.at,
        "actor": event.actor,
        "command_id": event.command_id,
        "entity": entity_data(event.entity),
    }


def stored_event(stored: StoredEvent, entity: Entity) -> Event:
    """An event read back from the journal."""
    return Event(
        stored.type, stored.thread_id, entity, stored.at, stored.actor, stored.command_id, stored.run_id
    )


def delta_data(delta: Delta) -> dict[str, Any]:
    """Text on the fast lane."""
    return {"type": "delta", **msgspec.structs.asdict(delta)}


def json_line(value: Any) -> bytes:
    """One line of JSON that is safe on a terminal: control characters are escaped, none is lost."""
    data = msgspec.json.encode(value)
    if _HARMFUL.search(data) is not None:
        data = _HARMFUL.sub(lambda found: b"\\u00%02x" % found.group()[-1], data)
    return data + b"\n"
