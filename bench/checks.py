"""Whether everything came, once and in order. A figure of what lost something is worth nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from bench.pipe import STAMP, Stamped
from bench.place import Missing, Place
from bench.taps import Arrived


def texts(frames: Sequence[Arrived], count: int) -> list[Stamped]:
    """The stamps in the deltas of a stream. Raises Missing unless 0 to count - 1 came once and in order."""
    found: list[Stamped] = []
    parts: dict[str, int] = {}
    left: dict[str, str] = {}
    for frame in frames:
        if frame.kind != "delta":
            continue
        data = frame.data
        body = f"{data['item']}/{data['field']}/{data['body_epoch']}"
        if data["from_part"] != parts.get(body, 0) + 1:
            raise Missing(f"Parts {parts.get(body, 0)} and then {data['from_part']} of one text.")
        parts[body] = data["to_part"]
        whole, blank, left[body] = (left.get(body, "") + data["text"]).rpartition(" ")
        if blank:
            found += [Stamped(int(m[1]), int(m[2]), frame.at) for m in STAMP.finditer(whole.encode())]
    return in_order(found, count)


def titles(frames: Sequence[Arrived], count: int) -> list[Stamped]:
    """The stamps in the titles of new items. Raises Missing like `texts`."""
    found: list[Stamped] = []
    for frame in frames:
        if frame.kind == "event" and frame.data["type"] == "item.created":
            match = STAMP.fullmatch(str(frame.data["entity"]["content"]["title"]).encode())
            if match is not None:
                found.append(Stamped(int(match[1]), int(match[2]), frame.at))
    return in_order(found, count)


def in_order(found: list[Stamped], count: int) -> list[Stamped]:
    """The same. Raises Missing where one is lost, came twice or out of order."""
    numbers = [s.number for s in found]
    if numbers != list(range(count)):
        lost = sorted(set(range(count)) - set(numbers))
        raise Missing(f"{len(numbers)} of {count} came; lost {lost[:5]}{'' if lost else ', not in order'}.")
    return found


def dense(frames: Sequence[Arrived]) -> None:
    """Raises Missing unless every durable event came once and in order: on a thread alone on its server."""
    sequences = [f.data["sequence"] for f in frames if f.kind == "event"]
    if sequences != list(range(sequences[0], sequences[0] + len(sequences))):
        raise Missing("The sequence of the events has a gap or a repetition.")


def same_text(place: Place, thread: str, item: str, frames: Sequence[Arrived]) -> None:
    """Raises Missing unless what the deltas of an item make has the hash that the server stored."""
    text = "".join(f.data["text"] for f in frames if f.kind == "delta" and f.data["item"] == item)
    seen = json.loads(place.call("GET", f"/v1/threads/{thread}/items/{item}"))
    if seen["text"]["text"]["sha256"] != hashlib.sha256(text.encode()).hexdigest():
        raise Missing("The text that came is not the text that is stored.")


def spoken(frames: Sequence[Arrived]) -> str:
    """The item that the last delta was about."""
    return str([f.data["item"] for f in frames if f.kind == "delta"][-1])


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which this part of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def milliseconds(stamps: Sequence[Stamped]) -> list[float]:
    """How long each was under way."""
    return [(s.arrived - s.written) / 1e6 for s in stamps]


def per_second(stamps: Sequence[Stamped]) -> float:
    """How many came in a second, from the first that was written to the last that arrived."""
    return len(stamps) / ((stamps[-1].arrived - stamps[0].written) / 1e9)
