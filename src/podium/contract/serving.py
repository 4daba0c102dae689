"""What an agent may have its client do, as data: an adapter asks for it, the shell does it in the workspace.

An adapter reads no files (R1). It returns a `Serve`; what came of it returns as the input `Served` with the
same tag, recorded like any other, so that a replay needs no disk.
"""

from __future__ import annotations

import msgspec

from podium.contract.errors import Failure
from podium.contract.events import FileChange

READ_MAX = 1024 * 1024
"""Longest text read for an agent, in bytes: the answer stays in the journal until its process ends."""

WRITE_MAX = 10 * 1024 * 1024
"""Longest text that is written for an agent, in bytes."""


class ReadTextFile(msgspec.Struct, frozen=True, tag_field="serve", tag="read_text_file", omit_defaults=True):
    """Read a text. `line` is the first line wanted, counted from 1; `limit` is the most lines."""

    path: str
    line: int | None = None
    limit: int | None = None


class WriteTextFile(msgspec.Struct, frozen=True, tag_field="serve", tag="write_text_file"):
    """Put a text in the place of a file, whole or not at all; a missing file and its folders are made."""

    path: str
    text: str


Service = ReadTextFile | WriteTextFile


class Serve(msgspec.Struct, frozen=True):
    """Do this once the step is committed, and say under the same tag what came of it (R2).

    Never done twice: after a crash nothing more is heard of it, and the adapter meets `Attached` instead.
    """

    tag: str
    request: Service


class FileText(msgspec.Struct, frozen=True, tag_field="result", tag="text"):
    """The text that was read."""

    text: str


class FileWritten(msgspec.Struct, frozen=True, tag_field="result", tag="written"):
    """The file as it was changed; the diff is bounded and masked, empty where either text was too long."""

    change: FileChange


class NotServed(msgspec.Struct, frozen=True, tag_field="result", tag="not_served"):
    """It was not done. `not_found` is the code for a file that is not there."""

    failure: Failure


Outcome = FileText | FileWritten | NotServed
