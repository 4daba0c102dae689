"""To-do lists: whole ones, and those that are told change by change."""

from __future__ import annotations

from typing import Any

from podium.contract.events import PlanSeen, PlanStep, PlanStepState, Ref
from podium.providers.claude.draft import Draft
from podium.providers.claude.reading import ident, table, tables, text

TODOS_MAX = 30
"""Most steps kept of a list that is told change by change; later ones are not shown."""

STEP_MAX = 200
"""Longest step kept of such a list, in characters."""

_STATES: dict[str, PlanStepState] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}


def steps_of(name: str, given: dict[str, Any]) -> tuple[PlanStep, ...] | None:
    """The steps of a call that writes a whole list; None for any other call."""
    if name != "TodoWrite":
        return None
    return tuple(
        PlanStep(text(entry, "content") or "", _STATES.get(text(entry, "status") or "", "pending"))
        for entry in tables(given, "todos")
    )


def changed(draft: Draft, of: str, ref: Ref, name: str, given: dict[str, Any]) -> None:
    """The result of a call that changes one step: the list as it is then."""
    todos = dict(draft.talks[of].todos)
    match name:
        case "TaskCreate":
            task = table(given, "task")
            number = ident(task, "id")
            if number is None or len(todos) >= TODOS_MAX:
                return
            todos[number] = ((text(task, "subject") or "")[:STEP_MAX], "pending")
        case "TaskUpdate":
            number, state = ident(given, "taskId"), text(table(given, "statusChange"), "to")
            if number not in todos or state is None:
                return
            if state == "deleted":
                del todos[number]
            else:
                todos[number] = (todos[number][0], state[:20])
        case _:
            return
    draft.change(of, todos=todos)
    steps = tuple(PlanStep(words, _STATES.get(state, "pending")) for words, state in todos.values())
    draft.emit(PlanSeen(ref, "todo_list", steps))
