"""`podium threads`: read the threads of this data folder; nothing is started, locked or changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from podium.cli.printing import say, say_json, short, table, when

if TYPE_CHECKING:
    from podium.contract.events import Body
    from podium.domain.entities import Item, Request, Run
    from podium.runtime.reading import Reading, ThreadSummary, Unreadable

ITEMS_SHOWN = 200
"""Newest items that `show` prints unless told otherwise."""

HEAD, TAIL = 2000, 1000
"""Characters of a long text that are shown from its beginning and from its end."""

BODIES: tuple[Body, ...] = ("summary", "reasoning", "text", "output", "diff")


def list_threads(*, json: bool = False) -> int:
    """List threads, newest first.

    Parameters
    ----------
    json
        Print one thread a line, as JSON.
    """
    from podium.runtime.reading import open_reading
    from podium.runtime.settings import data_folder

    with open_reading(data_folder(os.environ)) as reading:
        found = [reading.summary(t) for t in reading.threads()]
        if json:
            say_json(map(_summary_data, found))
        elif not found:
            say("No threads yet. Begin one: podium run PROMPT\n")
        else:
            say(
                table(
                    ("thread", "agent", "state", "last run", "begun", "first words"),
                    [_row(reading, s) for s in found],
                )
            )
    return 0


def show_thread(
    thread: str,
    /,
    *,
    json: bool = False,
    limit: Annotated[int, Parameter(name="--limit")] = ITEMS_SHOWN,
) -> int:
    """Show a thread's timeline.

    Parameters
    ----------
    thread
        Its id, or `last` for the newest.
    json
        Print one entity a line, as JSON; items with their texts.
    limit
        How many of the newest items; 0 for all.
    """
    from podium.runtime.reading import open_reading
    from podium.runtime.settings import data_folder

    with open_reading(data_folder(os.environ)) as reading:
        found = reading.summary(reading.thread(thread))
        if json:
            say_json(_everything(reading, found, limit))
        else:
            say(_timeline(reading, found, limit))
    return 0


def _summary_data(found: ThreadSummary) -> dict[str, Any]:
    from podium.runtime.eventlines import entity_data

    return {
        **entity_data(found.thread),
        "state": found.state,
        "runs": found.runs,
        "last_run": entity_data(found.run) if found.run else None,
        "pending_requests": [r.id for r in found.pending],
    }


def _row(reading: Reading, found: ThreadSummary) -> tuple[str, ...]:
    words = found.thread.title or reading.first_words(found.thread.id)
    return (
        found.thread.id, found.thread.agent, found.state, run_words(found.run), when(found.thread.created_at),
        short(words, 60),
    )  # fmt: skip


def run_words(run: Run | None) -> str:
    """How a run stands, in a few words."""
    if run is None:
        return ""
    if run.state != "ended":
        return run.state
    return f"{run.outcome} ({run.evidence})" if run.evidence != "provider" else str(run.outcome)


def _everything(reading: Reading, found: ThreadSummary, limit: int) -> list[dict[str, Any]]:
    from podium.runtime.eventlines import entity_data
    from podium.runtime.reading import Unreadable

    rows = [_summary_data(found)]
    rows += [entity_data(r) for r in reading.runs(found.thread.id)]
    for item in reading.items(found.thread.id, limit=limit or None):
        if isinstance(item, Unreadable):
            rows.append(item.data)
        else:
            rows.append({**entity_data(item), "texts": {b: reading.text(item, b) for b in item.bodies}})
    for kind in ("plan", "request", "notice", "degradation"):
        for entity in reading.others(kind, found.thread.id):
            rows.append(entity.data if isinstance(entity, Unreadable) else entity_data(entity))
    return rows


def _timeline(reading: Reading, found: ThreadSummary, limit: int) -> str:
    thread = found.thread
    lines = [
        f"thread {thread.id}  {thread.agent}  {found.state}",
        f"folder {thread.workspace}  mode {thread.mode}  begun {when(thread.created_at)}",
        "",
    ]
    runs = {r.id: r for r in reading.runs(thread.id)}
    items = in_order(reading.items(thread.id, limit=limit or None), runs, reading.queued_words(thread.id))
    over = [r for r in reading.all_requests(thread_id=thread.id) if r.state != "pending"]
    shown: set[str] = set()
    for number, item in enumerate(items):
        run = runs.get(getattr(item, "run_id", None) or "")
        if run is not None and run.id not in shown:
            shown.add(run.id)
            lines.append(f"-- run {run.ordinal}  {run_words(run)}  {when(run.created_at)}")
        lines.extend(_item_lines(reading, item))
        lines.extend(_asked(r) for r in over if r.item_id == item.id)
        if run is None or any(getattr(i, "run_id", None) == run.id for i in items[number + 1 :]):
            continue
        lines.extend(_asked(r) for r in over if r.item_id is None and r.run_id == run.id)
        if run.failure is not None:
            lines.append(f"   ! {short(run.failure.message)} {short(run.failure.fix)}".rstrip())
    lines.extend(_asked(r) for r in over if r.item_id is None and r.run_id is None)
    for plan in reading.plans(thread.id):
        lines.append(f"   plan: {short('; '.join(f'{s.text} ({s.state})' for s in plan.steps), 400)}")
    lines.extend(line for request in found.pending for line in _waiting(request))
    return "".join(f"{line}\n" for line in lines)


def in_order(
    items: list[Item | Unreadable], runs: dict[str, Run], queued: set[str]
) -> list[Item | Unreadable]:
    """Items in their stored order, but a message that waited its turn where its run begins."""
    waited = [i for i in items if i.id in queued and getattr(i, "run_id", None) in runs]
    ordered = [i for i in items if i not in waited]

    def ordinal(item: Item | Unreadable) -> int:
        run = runs.get(getattr(item, "run_id", None) or "")
        return run.ordinal if run is not None else 0

    for item in sorted(waited, key=ordinal):
        later = (n for n, other in enumerate(ordered) if ordinal(other) >= ordinal(item))
        ordered.insert(next(later, len(ordered)), item)
    return ordered


def _asked(request: Request) -> str:
    """A request that is over, in one line."""
    from podium.cli.narrating import request_line, request_outcome

    return f"  {request_line(request)} -> {request_outcome(request)}"


def _waiting(request: Request) -> list[str]:
    """A request that waits: everything that a person needs to decide, and how."""
    from podium.cli.asking import answer_command, question_lines, request_lines

    offered = ", ".join(o.id for o in request.options)
    questions = [line for q in request.content.questions for line in question_lines(q)]
    how = answer_command(request) if questions else f"podium requests answer {request.id} DECISION"
    return [
        f"waiting: request {request.id}  {request.request_kind}  {short(request.content.title)}",
        *(f"    {line}" for line in (*request_lines(request), *questions)),
        f"  answer with: {how}  (offered: {offered})",
    ]


def _item_lines(reading: Reading, item: Item | Unreadable) -> list[str]:
    from podium.cli.cleaning import clean
    from podium.cli.narrating import item_label
    from podium.runtime.reading import Unreadable

    if isinstance(item, Unreadable):
        return [f"   {item.kind} {item.id}: written by a newer Podium"]
    label = short(item_label(item), 100, decided=True)
    head = f"[{item.position}] {item.item_kind.replace('_', ' ')}  {item.state}  {label}"
    lines = [head.rstrip()]
    for body in BODIES:
        text = clean(reading.text(item, body)) if body in item.bodies else ""
        if len(text) > HEAD + TAIL:
            text = f"{text[:HEAD]}\n[{len(text) - HEAD - TAIL} characters left out]\n{text[-TAIL:]}"
        lines.extend(f"    {line}" for line in text.splitlines())
    return lines
