"""The durable pointer to an agent's own conversation, and the chain that proves it.

A handle is a generic id plus a sealed note that only its adapter opens (F092). It carries no confidence: the
chain's origins already say how much was proved (F099). Decoding is strict: a wrong or mixed shape is refused,
never guessed (F195); an unknown transport stays readable as data (F101).
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal, NoReturn

import msgspec

from podium.contract.errors import Conflict, PodiumError

NATIVE_ID_MAX = 512
"""Longest native id, in characters (F100)."""

NOTE_MAX = 4096
"""Longest sealed note, in characters (F100)."""

LINKS_MAX = 256
"""Most links of a chain (F209)."""

HANDLE_BYTES_MAX = 64 * 1024
"""Longest stored handle that is read, in bytes: the bounds above with every character escaped, twice over."""

SLUG = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
"""What a transport and an agent's brand look like."""


class HandleError(PodiumError, ValueError):
    """A handle or chain that breaks its rules; it is set aside unread, never rewritten (F196).

    It is a ValueError too, so that a record with a broken handle fails to decode like any broken record.
    """

    def __init__(self, message: str) -> None:
        super().__init__("handle_invalid", message, fix="Keep the record as it is; start a new conversation.")


class Sealed:
    """A note only its adapter opens: everything else carries it and cannot read it (F092)."""

    __slots__ = ("_owner", "_text")

    def __init__(self, owner: str, text: str) -> None:
        if len(text) > NOTE_MAX:
            raise HandleError(f"The note of a handle has {len(text)} characters; the limit is {NOTE_MAX}.")
        self._owner = owner
        self._text = text

    def open(self, owner: str) -> str:
        """Return the note to the transport that sealed it."""
        if owner != self._owner:
            raise HandleError(f"This note was sealed by {self._owner}, not by {owner}.")
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sealed) and (other._owner, other._text) == (self._owner, self._text)

    def __hash__(self) -> int:
        return hash((self._owner, self._text))

    def __repr__(self) -> str:
        return f"Sealed({self._owner!r})"

    def __str__(self) -> str:
        raise HandleError("A sealed note has no text outside its adapter.")

    def __reduce__(self) -> NoReturn:
        raise HandleError("A sealed note is not copied or stored by itself; its handle is.")


class Handle(msgspec.Struct, frozen=True):
    """Names one conversation: the protocol whose id space the id lives in, the agent, the id (F040).

    The note shows in no repr and no log; it is read through `sealed` (F092).
    """

    transport: str
    agent_kind: str
    native_id: str
    note: str = ""

    def __post_init__(self) -> None:
        for name, value in (("transport", self.transport), ("agent_kind", self.agent_kind)):
            if not SLUG.fullmatch(value):
                raise HandleError(f"{name} {value[:80]!r} is not a slug.")
        if not 0 < len(self.native_id) <= NATIVE_ID_MAX:
            raise HandleError(f"A native id has 1 to {NATIVE_ID_MAX} characters.")
        if len(self.note) > NOTE_MAX:
            raise HandleError(f"A note has at most {NOTE_MAX} characters.")
        for value in (self.native_id, self.note):
            try:
                value.encode()
            except UnicodeEncodeError:
                raise HandleError("A native id and a note are text that can be written as UTF-8.") from None

    def __repr__(self) -> str:
        note = f", <note of {len(self.note)} characters>" if self.note else ""
        return f"Handle({self.transport!r}, {self.agent_kind!r}, {self.native_id!r}{note})"

    def sealed(self) -> Sealed:
        """The note, readable only by the handle's own transport."""
        return Sealed(self.transport, self.note)

    def same_conversation(self, other: Handle) -> bool:
        """Same native conversation, whatever the note says (F094)."""
        return (self.transport, self.agent_kind, self.native_id) == (
            other.transport,
            other.agent_kind,
            other.native_id,
        )


Origin = Literal["created", "resumed", "forked", "adopted", "cleared"]

BEGINNINGS: frozenset[Origin] = frozenset({"created", "forked", "adopted"})
"""Origins with which a chain may begin."""


class HandleLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """One proof: where the handle came from, and the fence under which it was seen."""

    handle: Handle
    origin: Origin
    fence: int
    extra: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class HandleChain(msgspec.Struct, frozen=True):
    """The proofs of one provider thread, oldest first. The last link is where work continues."""

    links: tuple[HandleLink, ...] = ()

    @property
    def current(self) -> Handle | None:
        """The handle that resumes this conversation, or None before an agent has proved one (F102)."""
        return self.links[-1].handle if self.links else None

    def append(self, link: HandleLink) -> HandleChain:
        """Add a proof.

        The fence never goes back; `resumed` must name the same conversation and `forked` another one; a chain
        begins with what was created, forked or adopted, and nothing is adopted later; an identical re-proof
        is elided, a moved note under the same fence is recorded (F095 to F097). Raises Conflict
        `handle_fenced`, `handle_origin`, `handle_other_conversation`, `handle_same_conversation`.
        """
        last = self.links[-1] if self.links else None
        if last is None:
            if link.origin not in BEGINNINGS:
                raise Conflict("handle_origin", f"Nothing can be {link.origin} before it was proved once.")
            return HandleChain((link,))
        if link.fence < last.fence:
            raise Conflict("handle_fenced", f"Fence {link.fence} is older than {last.fence}.")
        if link.origin == "adopted":
            raise Conflict("handle_origin", "A conversation is adopted at the beginning of a chain only.")
        same = link.handle.same_conversation(last.handle)
        if link.origin == "resumed" and not same:
            raise Conflict("handle_other_conversation", "A resume must continue the same conversation.")
        if link.origin == "forked" and same:
            raise Conflict("handle_same_conversation", "A fork is another conversation than its source.")
        if link.origin == "resumed" and link.handle == last.handle:
            return self
        if len(self.links) >= LINKS_MAX:
            return HandleChain((self.links[0], *self.links[-(LINKS_MAX - 2) :], link))
        return HandleChain((*self.links, link))


_FIELDS = {"transport", "agent_kind", "native_id", "note"}


def encode_handle(handle: Handle) -> bytes:
    """The one stored form of a handle (F200)."""
    return msgspec.json.encode(handle)


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object, or a fault where one of a handle's own stands twice."""
    names = [name for name, _ in pairs if name in _FIELDS]
    if len(set(names)) < len(names):
        raise HandleError("Not a stored handle: a field stands twice.")
    return dict(pairs)


def decode_handle(data: bytes) -> Handle:
    """Read a stored handle, strictly (F195). Raises HandleError.

    Unrelated extra fields are tolerated; a missing or doubled field, another type or another form is refused.
    """
    if len(data) > HANDLE_BYTES_MAX:
        raise HandleError(f"Not a stored handle: longer than {HANDLE_BYTES_MAX} bytes.")
    try:
        raw: Any = json.loads(data.decode(), object_pairs_hook=_single)
        found = msgspec.convert(raw, dict[str, Any])
        return msgspec.convert({k: v for k, v in found.items() if k in _FIELDS}, Handle, strict=True)
    except HandleError:
        raise
    except (ValueError, RecursionError) as error:
        raise HandleError(f"Not a stored handle: {error}") from error
