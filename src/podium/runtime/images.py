"""Images as attachments: judged by their content before they can spoil an agent's history (B80)."""

from __future__ import annotations

from pathlib import Path

from podium.contract.errors import BadInput

IMAGE_MAX = 5 * 1024 * 1024
"""Largest image, in bytes: models refuse larger ones, and then every later turn with it in the history."""

SIDE_MAX = 8000
"""Longest side of an image, in pixels, for the same reason."""

IMAGES_MAX = 20
"""Most images of one message."""

HEAD = 64 * 1024
"""Bytes in which an image must name its type and size."""

TYPES = ("image/gif", "image/jpeg", "image/png", "image/webp")


def check_images(paths: tuple[str, ...]) -> list[dict[str, str]]:
    """Images on this machine as attachments. Raises BadInput `too_many_images` or `image_invalid`."""
    if len(paths) > IMAGES_MAX:
        raise BadInput(
            "too_many_images", f"{len(paths)} images are too many.", fix=f"Send at most {IMAGES_MAX} at once."
        )
    return [check_image(Path(path)) for path in paths]


def check_image(path: Path) -> dict[str, str]:
    """One image as an attachment, its type from its content. Raises BadInput `image_invalid`."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise _invalid(path, f"it cannot be read ({error.strerror})") from error
    if not size:
        raise _invalid(path, "it is empty")
    if size > IMAGE_MAX:
        raise _invalid(path, f"it has {size} bytes, and the limit is {IMAGE_MAX}")
    media_type = type_of(head)
    if media_type is None:
        raise _invalid(path, "its content is no image of a known type, whatever its name says")
    sides = size_of(head, media_type)
    if sides is not None and max(sides) > SIDE_MAX:
        raise _invalid(path, f"it is {sides[0]} by {sides[1]} pixels, and a side may have {SIDE_MAX}")
    return {"path": str(path.resolve()), "media_type": media_type}


def _invalid(path: Path, why: str) -> BadInput:
    return BadInput(
        "image_invalid",
        f"{path} cannot be sent: {why}.",
        fix=f"Send {', '.join(t.removeprefix('image/') for t in TYPES)} of at most {IMAGE_MAX >> 20} MiB.",
        reason=why,
    )


def type_of(head: bytes) -> str | None:
    """The media type that the first bytes prove."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def size_of(head: bytes, media_type: str) -> tuple[int, int] | None:
    """Width and height, where the first bytes tell them."""
    match media_type:
        case "image/png" if head[12:16] == b"IHDR" and len(head) >= 24:
            return _big(head[16:20]), _big(head[20:24])
        case "image/gif" if len(head) >= 10:
            return _little(head[6:8]), _little(head[8:10])
        case "image/webp":
            return _webp(head)
        case "image/jpeg":
            return _jpeg(head)
        case _:
            return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _webp(head: bytes) -> tuple[int, int] | None:
    if len(head) < 30:
        return None
    match head[12:16]:
        case b"VP8X":
            return _little(head[24:27]) + 1, _little(head[27:30]) + 1
        case b"VP8L":
            bits = _little(head[21:25])
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            return _little(head[26:28]) & 0x3FFF, _little(head[28:30]) & 0x3FFF
        case _:
            return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """Walk the segments to the one that holds the frame's size."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return _big(head[at + 7 : at + 9]), _big(head[at + 5 : at + 7])
        at += 2 + _big(head[at + 2 : at + 4])
    return None
