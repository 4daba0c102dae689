"""Two texts as patch text for reading: one hunk, in linear time, bounded."""

from __future__ import annotations

CONTEXT_LINES = 3
DIFF_MAX = 64 * 1024
"""Longest patch text, in characters."""


def patch(old: str, new: str) -> str:
    """The lines between the common start and the common end, old then new."""
    before, after = old.splitlines(), new.splitlines()
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    tail = 0
    while tail < min(len(before), len(after)) - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    if start == len(before) == len(after):
        return ""
    first = max(0, start - CONTEXT_LINES)
    last = min(tail, CONTEXT_LINES)
    removed, added = before[start : len(before) - tail], after[start : len(after) - tail]
    rest = after[len(after) - tail : len(after) - tail + last]
    head = after[first:start]
    olds, news = len(head) + len(removed) + last, len(head) + len(added) + last
    lines = [f"@@ -{first + 1 if olds else 0},{olds} +{first + 1 if news else 0},{news} @@"]
    lines += [" " + line for line in head]
    lines += ["-" + line for line in removed]
    lines += ["+" + line for line in added]
    lines += [" " + line for line in rest]
    return "\n".join(lines)[:DIFF_MAX] + "\n"
