"""Every recorded conversation, played through the real core, leaves what it left when it was looked at."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from podium.contract.inputs import Frame, Input
from podium.journal.database import FILE_NAME
from podium.runtime.correlator import Grade
from tests.providers.codex.core_player import Played, play
from tests.providers.codex.playing import CASSETTES, NAMES, cassette
from tests.providers.codex.projection import projection

REWRITE = "REWRITE_EXPECTED"
"""Set to 1 to write the projections anew; look at the difference before committing it."""

PROJECTIONS = CASSETTES / "projections"
SIZE_MAX = 1_000_000
"""Most that all projections may take, in bytes."""

WITHOUT_IDS = ("runs", "turns", "plans", "requests", "inputs")
"""What comes out the same when items have no ids; texts of messages open at once become one."""

TABLES = ("events", "entities", "parts", "receipts", "processes", "sends", "owners")


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether there are entries to write one a line."""
    return isinstance(value, list) and value != []


def written(found: dict[str, Any]) -> str:
    """A projection with one entry a line, so that a difference can be read."""
    lines: list[str] = []
    for key, value in found.items():
        if is_list(value):
            rows = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in value)
            lines.append(f"{json.dumps(key)}: [\n{rows}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def shown(played: Played) -> dict[str, Any]:
    """The projection with how each input was dealt with."""
    return {"inputs": played.counts, **projection(played.folder, played.thread_id)}


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_leaves_the_expected_projection(name: str, tmp_path: Path) -> None:
    path = PROJECTIONS / f"{name}.json"
    found = shown(play(tmp_path / "data", name))
    if os.environ.get(REWRITE) == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(written(found), encoding="utf-8")
    assert found == json.loads(path.read_text(encoding="utf-8"))


def test_every_projection_has_its_recording_and_all_are_small() -> None:
    files = sorted(PROJECTIONS.glob("*.json"))
    assert tuple(path.stem for path in files) == NAMES
    assert sum(path.stat().st_size for path in files) < SIZE_MAX


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_unknown_and_nothing_stays_open(name: str) -> None:
    found = json.loads((PROJECTIONS / f"{name}.json").read_text(encoding="utf-8"))
    assert found["inputs"]["opaque"] == 0
    assert {run[2] for run in found["runs"]} == {"ended"}
    assert {turn[2] for turn in found["turns"]} <= {"ended"}
    assert "open" not in {item[2] for item in found["items"]}
    assert "pending" not in {request[1] for request in found["requests"]}
    assert not {item[3] for item in found["items"]} - {"agent", "barrier"}


def rows(played: Played) -> dict[str, list[Any]]:
    """Every row of every table."""
    db = sqlite3.connect(played.folder / FILE_NAME)
    try:
        return {table: sorted(db.execute(f"select * from {table}"), key=repr) for table in TABLES}
    finally:
        db.close()


@pytest.mark.behaviour("F090")
@pytest.mark.parametrize("name", NAMES)
def test_two_plays_into_fresh_databases_give_equal_ids_and_rows(name: str, tmp_path: Path) -> None:
    first, second = rows(play(tmp_path / "one", name)), rows(play(tmp_path / "two", name))
    assert first == second
    assert first["events"]
    assert first["parts"]
    assert first["sends"]


@pytest.mark.behaviour("F090")
@pytest.mark.parametrize("grade", ["weak", "none"])
@pytest.mark.parametrize("name", NAMES)
def test_ids_that_are_trusted_less_are_still_the_same_each_time(
    name: str, grade: Grade, tmp_path: Path
) -> None:
    """With weak ids the very same comes out; without ids all but the items, each time."""
    first, second = play(tmp_path / "one", name, grade=grade), play(tmp_path / "two", name, grade=grade)
    assert rows(first) == rows(second)
    strong = json.loads((PROJECTIONS / f"{name}.json").read_text(encoding="utf-8"))
    kept = strong if grade == "weak" else {key: strong[key] for key in WITHOUT_IDS}
    found = shown(first)
    assert {key: found[key] for key in kept} == kept


# ---- every start of an item matters

ECHO = "the message was sent from here and stands in the timeline already (B42)"
EMPTY = "it is empty, and the first text opens the same item"
NEXT = "the item's next frame says all of it, and nothing changed in between"

SILENT: dict[tuple[str, int], str] = {
    ("02_patch", 8): NEXT,
    ("03_onreq_patch_in_ws", 8): NEXT,
    ("03_onreq_patch_outside", 8): NEXT,
    ("04_model_switch", 7): NEXT,
    ("04_rui_plan", 18): EMPTY,
    ("05_d_compact", 8): NEXT,
    ("05_f_review", 11): NEXT,
    ("05_f_review", 13): NEXT,
    ("07_collab_v1", 24): EMPTY,
    ("07_collab_v1", 87): NEXT,
    ("07_collab_v1", 97): EMPTY,
    ("07_collab_v1", 131): NEXT,
    ("07_collab_v2", 13): NEXT,
    ("07_collab_v2", 20): EMPTY,
    ("07_collab_v2", 36): NEXT,
    ("07_collab_v2", 71): NEXT,
    ("07_collab_v2", 77): EMPTY,
    ("07_collab_v2", 94): NEXT,
    ("07_collab_v2", 129): NEXT,
    ("08_viewimage", 10): NEXT,
    ("09_b_err_eof_mid", 13): EMPTY,
    ("13_code_mode_js_patch", 8): NEXT,
    ("14_a_threads", 15): EMPTY,
    ("14_a_threads", 62): NEXT,
    ("14_d_autocompact", 18): NEXT,
    ("14_e_raw_reasoning", 11): EMPTY,
    ("15_interrupt_parent_with_child", 33): NEXT,
    ("15_sub_approval", 35): NEXT,
}
"""Starts whose loss changes nothing, by recording and place, each with the reason why."""


def starts(name: str) -> list[tuple[int, dict[str, Any]]]:
    """The place and the item of each start in a recording."""
    return [
        (place, given.data["params"]["item"])
        for place, given in enumerate(cassette(name))
        if isinstance(given, Frame) and given.data.get("method") == "item/started"
    ]


def without(place: int) -> Any:
    """A change that takes one input out."""

    def change(inputs: list[Input]) -> list[Input]:
        return inputs[:place] + inputs[place + 1 :]

    return change


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_of_a_start_shows_or_is_listed_with_its_reason(name: str, tmp_path: Path) -> None:
    played = play(tmp_path / "whole", name)
    whole = projection(played.folder, played.thread_id)
    silent: set[tuple[str, int]] = set()
    for place, item in starts(name):
        cut = play(tmp_path / str(place), name, change=without(place))
        if projection(cut.folder, cut.thread_id) == whole:
            assert reason(name, place, item), (place, item["type"])
            assert cut.counts["mapped"] < played.counts["mapped"]
            silent.add((name, place))
    assert silent >= {key for key in SILENT if key[0] == name}


def reason(name: str, place: int, item: dict[str, Any]) -> str:
    """Why the loss of this start may change nothing, or the empty string."""
    if item["type"] == "userMessage":
        return ECHO
    if item["type"] == "agentMessage" and item["text"] == "":
        return EMPTY
    return SILENT.get((name, place), "")
