"""A run as a person reads it: the answer on stdout as it comes, everything else on stderr in short lines."""

from __future__ import annotations

from collections.abc import Callable

from podium.cli.cleaning import Cleaner
from podium.cli.output import Output
from podium.cli.printing import short
from podium.cli.stream import Entry
from podium.domain.entities import (
    Degradation,
    Item,
    NoticeEntry,
    Plan,
    ProviderThread,
    Request,
)
from podium.domain.events import Delta
from podium.runtime.eventlines import delta_data, event_data, json_line

Show = Callable[[Entry], None]

MARKS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
SILENT = frozenset({"user_message", "assistant_message", "reasoning", "plan", "opaque"})
"""Items that get no line of their own on stderr."""


class Lines:
    """`--json`: one entry a line, nothing else on stdout."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def __call__(self, entry: Entry) -> None:
        """Write an entry."""
        data = delta_data(entry) if isinstance(entry, Delta) else event_data(entry.sequence, entry.event)
        self._output.put(self._output.out, json_line(data))


class Narrator:
    """For people. Text of subagents is not mixed into the answer."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._answers: dict[str, Cleaner] = {}
        self._ended_line: dict[str, bool] = {}
        self._epochs: dict[str, int] = {}
        self._children: set[str] = set()
        self._plan = ""
        self._inside = False

    def know(self, item: Item, provider_threads: list[ProviderThread]) -> None:
        """What was there before: an item that is still open, the conversations of subagents."""
        self._children.update(p.id for p in provider_threads if p.parent_node_id is not None)
        self._begin(item)

    def tell(self, line: str) -> None:
        """One line on stderr."""
        if self._inside and self._output.out.terminal and self._output.err.terminal:
            self._output.put(self._output.out, "\n")
            self._inside = False
        self._output.put(self._output.err, line + "\n")

    def __call__(self, entry: Entry) -> None:
        """Show an entry."""
        if isinstance(entry, Delta):
            self._delta(entry)
            return
        entity = entry.event.entity
        match entity:
            case Item():
                self._item(entity)
            case ProviderThread() if entity.parent_node_id is not None:
                self._children.add(entity.id)
            case Plan():
                self._show_plan(entity)
            case NoticeEntry():
                self.tell(f"podium: {entity.level}: {short(entity.text)}")
            case Degradation():
                self.tell(f"podium: {entity.feature}: {entity.outcome}. {short(entity.consequence)}")
            case Request() if entity.revision == 1:
                self.tell(request_line(entity))
            case _:
                pass

    def _delta(self, delta: Delta) -> None:
        cleaner = self._answers.get(delta.item)
        if cleaner is None or delta.field != "text":
            return
        if self._epochs.setdefault(delta.item, delta.body_epoch) != delta.body_epoch:
            self._epochs[delta.item] = delta.body_epoch
            self._close_line(delta.item)
            self.tell("podium: the agent replaced this text; the whole of it follows")
        text = cleaner.feed(delta.text)
        if text:
            self._inside = not text.endswith("\n")
            self._ended_line[delta.item] = text.endswith("\n")
            self._output.put(self._output.out, text)

    def _close_line(self, item_id: str) -> None:
        if self._ended_line.get(item_id) is False:
            if self._inside or not self._output.out.terminal:
                self._output.put(self._output.out, "\n")
            self._inside = False
            self._ended_line[item_id] = True

    def _begin(self, item: Item) -> None:
        if item.item_kind == "assistant_message" and item.provider_thread_id not in self._children:
            self._answers[item.id] = Cleaner()

    def _item(self, item: Item) -> None:
        if item.revision == 1:
            self._begin(item)
        if item.state != "open" and item.id in self._answers:
            self._close_line(item.id)
            del self._answers[item.id]
        if item.item_kind not in SILENT and (item.revision == 1 or item.state != "open"):
            self.tell(item_line(item))

    def _show_plan(self, plan: Plan) -> None:
        text = "  ".join(f"{MARKS[s.state]} {short(s.text, 60)}" for s in plan.steps)
        if text and text != self._plan:
            self._plan = text
            self.tell(f"  plan  {text}")


def item_label(item: Item) -> str:
    """What an item is about, in a few words."""
    content = item.content
    if content.changes:
        return ", ".join(f"{c.path}" for c in content.changes)
    words = (content.command, content.tool, content.query, content.path, content.title)
    return next((w for w in words if w), "")


def item_line(item: Item) -> str:
    """An item in one line: kind, what it is about, and how it ended."""
    kind = item.item_kind.replace("_", " ")
    state = "" if item.state == "open" else f"  {item.state}"
    code = f" ({item.content.exit_code})" if item.content.exit_code not in (None, 0) else ""
    return f"  {kind}  {short(item_label(item), 100, decided=True)}{state}{code}".rstrip()


def request_line(request: Request) -> str:
    """A request in one line."""
    content = request.content
    about = content.command or ", ".join(content.paths) or content.title or content.reason or ""
    return f"  {request.request_kind.replace('_', ' ')}  {short(about, 120, decided=True)}"


def request_outcome(request: Request) -> str:
    """What became of a request, in one line: the decision, who made it, and the words that went with it."""
    if request.state == "pending":
        return "waits"
    if request.state != "answered" or request.answer is None:
        return f"{request.state} ({short(request.reason)})" if request.reason else request.state
    answer = request.answer
    label = next((o.label for o in request.options if o.id == answer.decision), answer.decision)
    said = f"{short(label, 80)} by {request.answered_by or 'somebody'}"
    if any(q.secret for q in request.content.questions):
        return said
    given = "; ".join(", ".join(a) for a in answer.answers or ())
    said += f": {short(given, 400)}" if given else ""
    return f"{said}, saying: {short(answer.text, 400)}" if answer.text else said
