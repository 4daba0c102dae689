"""JSON lines to frames and back. Nothing an agent writes raises here (B02, B03, B04, B06).

Imports the standard library and msgspec only: adapters may use it.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeGuard

import msgspec

NESTING_MAX = 200  # containers in one another; deeper frames are noise: no later walk can overflow
INT_DIGITS_MAX = 300  # a longer integer becomes a float, or null where that is infinite
FRAMES_MAX = 256  # objects on one line
NOISE_MAX = 4096  # characters of a noise line that are kept
REPLACEMENT = "\ufffd"

# What may stand in front of the first brace: byte order mark, blanks, ANSI and OSC escapes, lone controls.
_LEADING = re.compile(
    rb"(?:\xef\xbb\xbf|[ \t\r\x00\x07\x08\x0c\x0e\x0f]"
    rb"|\x1b\[[0-?]*[ -/]*[@-~]"
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"
    rb"|\x1b[ -/]*[0-Z\\^_`-~])++"
)
# The same as text, for what stands behind an object.
_BETWEEN = re.compile(
    "(?:\ufeff|[ \t\r\x00\x07\x08\x0c\x0e\x0f]"
    "|\x1b\\[[0-?]*[ -/]*[@-~]"
    "|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)"
    "|\x1b[ -/]*[0-Z\\\\^_`-~])*+"
)
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()


class Frame(msgspec.Struct, frozen=True):
    """One JSON object. `repaired`: something in it could not be text (invalid UTF-8, a lone surrogate, a
    number
    beyond all bounds) and was replaced; say so to the user."""

    value: dict[str, Any]
    repaired: bool = False


class Noise(msgspec.Struct, frozen=True):
    """A line that is no frame: for the diagnostics only, never answered. `kind`: empty, text, array, value
    (a JSON scalar) or too_deep. `text` is cut at NOISE_MAX characters; `size` is the line's size in bytes."""

    text: str
    kind: str
    size: int


Decoded = Frame | Noise


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """A JSON object. Decoded JSON has text keys only."""
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def decode_frame(line: bytes) -> Decoded:
    """One line without its newline, as a frame or as noise. Never raises."""
    body = line
    if not line.startswith(b"{"):
        lead = _LEADING.match(line)
        body = line[lead.end() :] if lead else line
        if not body.strip():
            return Noise("", "empty", len(line))
        if not body.startswith((b"{", b"[")):
            return _noise(line, "value" if _is_scalar(body) else "text")
    if _too_deep(body):
        return _noise(line, "too_deep")
    repaired = False
    try:
        value: Any = None if _ESCAPED_SURROGATE.search(body) else _decoder.decode(body)
    except (msgspec.DecodeError, RecursionError, ValueError):
        value = None
    if value is None:  # the careful way: slower, and it takes what strict JSON does not
        text, repaired = _decode_text(body)
        try:
            value = json.loads(text, strict=False, parse_constant=float, parse_int=_bounded_int)
        except (ValueError, RecursionError):
            return _noise(line, "text")
        value, mended = _mend(value)
        repaired = repaired or mended
    if is_object(value):
        return Frame(value, repaired)
    return _noise(line, "array")


def decode_line(line: bytes) -> tuple[Decoded, ...]:
    """All that one line holds: mostly one frame, more where an agent lost the newline between two (B02), or
    one noise. Blanks and escapes may stand behind a frame too. Never raises; costs a second pass at most."""
    whole = decode_frame(line)
    if isinstance(whole, Frame) or whole.kind != "text":
        return (whole,)
    return _several(line) or (whole,)


def _several(line: bytes) -> tuple[Decoded, ...]:
    """The objects of a line that holds nothing else; nothing where it does."""
    lead = _LEADING.match(line)
    text, repaired = _decode_text(line[lead.end() :] if lead else line)
    decoder = json.JSONDecoder(strict=False, parse_constant=float, parse_int=_bounded_int)
    frames: list[Decoded] = []
    at = 0
    while at < len(text):
        if not text.startswith("{", at) or len(frames) >= FRAMES_MAX:
            return ()
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return ()
        value, mended = _mend(value)
        frames.append(Frame(value, repaired or mended))
        found = _BETWEEN.match(text, at)
        at = found.end() if found else at
    return tuple(frames)


def _noise(line: bytes, kind: str) -> Noise:
    text = line[: NOISE_MAX * 4].decode("utf-8", "replace")
    return Noise(text[:NOISE_MAX], kind, len(line))


def _is_scalar(body: bytes) -> bool:
    try:
        json.loads(body[:NOISE_MAX].decode("utf-8", "replace"), parse_int=_bounded_int)
    except (ValueError, RecursionError):
        return False
    return len(body) <= NOISE_MAX


def _decode_text(body: bytes) -> tuple[str, bool]:
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return body.decode("utf-8", "replace"), True


def _too_deep(body: bytes) -> bool:
    """Counted before decoding, so that no decoder recurses; brackets inside strings do not count."""
    if body.count(b"{") + body.count(b"[") <= NESTING_MAX:
        return False
    depth = 0
    for token in _TOKEN.finditer(body):
        first = body[token.start()]
        if first in b"[{":
            depth += 1
            if depth > NESTING_MAX:
                return True
        elif first in b"]}":
            depth -= 1
    return False


def _bounded_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= INT_DIGITS_MAX else float(digits)


def _mend(value: Any) -> tuple[Any, bool]:
    """The value with every string and key encodable; True when something had to be replaced."""
    if isinstance(value, str):
        clean = clean_text(value)
        return clean, clean is not value
    if isinstance(value, float) and not math.isfinite(value):
        return None, True
    if is_array(value):
        mended_items = [_mend(item) for item in value]
        return [item for item, _ in mended_items], any(flag for _, flag in mended_items)
    if is_object(value):
        result: dict[str, Any] = {}
        touched = False
        for key, member in value.items():
            clean_key = clean_text(key)
            result[clean_key], mended = _mend(member)
            touched = touched or mended or clean_key is not key
        return result, touched
    return value, False


def clean_text(text: str) -> str:
    """The same text with each lone surrogate replaced by U+FFFD, so that everything can encode it (B04)."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return _SURROGATE.sub(REPLACEMENT, text)


def encode_frame(value: Any) -> str:
    """One line of JSON without a newline, always encodable: surrogates become U+FFFD, NaN and infinities
    null.

    The line separators that some readers split at (U+0085, U+2028, U+2029) are escaped.
    """
    try:
        text = _encoder.encode(value).decode()
    except (UnicodeEncodeError, OverflowError):
        clean, _ = _mend(value)
        text = json.dumps(clean, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if text.isascii():
        return text
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def request(request_id: Any, method: str, params: Any = None, *, versioned: bool = False) -> dict[str, Any]:
    """A request. `versioned` adds the member "jsonrpc": "2.0"; params None leaves the member out."""
    return _message({"id": request_id, "method": method}, params, versioned)


def notification(method: str, params: Any = None, *, versioned: bool = False) -> dict[str, Any]:
    return _message({"method": method}, params, versioned)


def result(request_id: Any, value: Any, *, versioned: bool = False) -> dict[str, Any]:
    """The answer to a request; the id goes back exactly as it came (0, "0", null and 0.5 are different
    ids)."""
    return _message({"id": request_id, "result": value}, None, versioned)


def error(
    request_id: Any, code: int, message: str, data: Any = None, *, versioned: bool = False
) -> dict[str, Any]:
    """The refusal of a request; data None leaves the member out."""
    problem: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        problem["data"] = data
    return _message({"id": request_id, "error": problem}, None, versioned)


def _message(members: dict[str, Any], params: Any, versioned: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", **members} if versioned else members
    if params is not None:
        message["params"] = params
    return message
