"""How things look: tables, short lines, errors. Everything that came from an agent is cleaned on the way."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from podium.cli.cleaning import clean, plain
from podium.cli.output import Pipe

LINE_MAX = 160
"""Longest short line, in characters."""

PLAIN_WIDTH = 10_000
"""Width of a table that no terminal shows: wide enough that nothing is folded."""


def short(text: str, limit: int = LINE_MAX, *, decided: bool = False) -> str:
    """A text as one line of bounded length; one that is decided on has its unseen marks written out."""
    line = " ".join((plain if decided else clean)(text[: limit * 4]).split())
    cut = len(line) > limit or len(text) > limit * 4
    return f"{line[: limit - 1]}…" if cut else line


def complain(message: str, *, fix: str = "") -> None:
    """An error, on stderr: what is wrong and the next step, in one line."""
    Pipe(2).write(error_line(message, fix=fix).encode("utf-8", "replace"))


def error_line(message: str, *, fix: str = "") -> str:
    """The line `complain` writes."""
    said = " ".join(clean(message).split())
    return f"podium: {said}{' ' + ' '.join(clean(fix).split()) if fix else ''}\n"


def say(text: str) -> None:
    """A text on stdout, whole."""
    pipe = Pipe(1)
    pipe.write(text.encode("utf-8", "replace"))
    if pipe.fault is not None:
        raise pipe.fault


def say_json(rows: Iterable[Any]) -> None:
    """One JSON object a line on stdout."""
    from podium.runtime.eventlines import json_line

    say(b"".join(json_line(row) for row in rows).decode())


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, fold: int | None = None) -> str:
    """Aligned columns; in colour on a terminal. `fold` names the column that gives way where it is narrow."""
    import io

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty() if sys.stdout else False
    width = shutil.get_terminal_size().columns if terminal else PLAIN_WIDTH
    console = Console(
        file=io.StringIO(), force_terminal=terminal, width=width, highlight=False, markup=False, emoji=False
    )
    found = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False, show_edge=False)
    for number, header in enumerate(headers):
        found.add_column(Text(header), no_wrap=number != fold, overflow="fold")
    for row in rows:
        found.add_row(*(Text(clean(cell)) for cell in row))
    with console.capture() as captured:
        console.print(found)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def when(at: float | None) -> str:
    """A time in the user's own zone."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""
