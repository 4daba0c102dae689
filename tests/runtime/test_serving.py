"""An agent reads and changes files through Podium: done after the commit, seen as the agent's change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from podium.contract.errors import Failure
from podium.contract.inputs import Mode, Served
from podium.contract.serving import NotServed
from podium.providers.acp.state import Session, State
from podium.providers.scripted import adapter
from podium.runtime.pump import Process, Pump
from podium.transport.masking import Secrets
from tests.runtime.house import House, ended, items_of, ran, said, until

pytestmark = pytest.mark.anyio

LINE = "A line written through the client.\n"
SECRET = "correct-horse-battery"


def edit(name: str = "a.txt", **more: Any) -> str:
    return json.dumps({"play": [{"do": "client_edit", "file": name, **more}]})


async def worked(house: House, prompt: str, mode: Mode = "full") -> tuple[str, list[Any], str, str]:
    """What was said, the changed-file items, the agent's part of the diff, and the rest of it."""
    async with house.open() as p:
        thread = await house.thread(p, mode=mode)
        run = await ran(thread, prompt)
        assert run.outcome == "completed"
        assert not [i for i in thread.items() if i.state == "open"]
        diff = await thread.diff()
        return said(thread, run.id), items_of(thread, run.id, "file_change"), diff.agent, diff.shared


@pytest.mark.parametrize("mode", ["edit", "full"])
@pytest.mark.parametrize("call", [True, False])
async def test_a_file_is_read_and_changed_and_the_change_is_the_agents(
    house: House, mode: Mode, call: bool
) -> None:
    place = house.workspace / "a.txt"
    place.write_text("one\n")
    text, items, agent, shared = await worked(house, edit(call=call), mode)
    assert text == "I changed a.txt."
    assert place.read_text() == "one\n" + LINE
    assert house.log("client_edit")[0]["old"] == "one\n"
    [item] = items
    assert item.state == "completed"
    [change] = item.content.changes
    assert change.path == str(place)
    assert "+" + LINE in change.diff
    assert "+" + LINE in agent
    assert shared == ""


async def test_a_new_file_in_a_new_folder_is_made(house: House) -> None:
    text, [item], agent, _ = await worked(house, edit("deep/new.txt", call=False))
    assert text == "I changed deep/new.txt."
    assert (house.workspace / "deep" / "new.txt").read_text() == LINE
    assert item.content.changes[0].kind == "add"
    assert "deep/new.txt" in agent


@pytest.mark.parametrize("mode", ["read", "ask"])
async def test_where_a_person_decides_files_are_read_and_not_written(house: House, mode: Mode) -> None:
    (house.workspace / "a.txt").write_text("one\n")
    text, items, agent, _ = await worked(house, edit(call=False), mode)
    assert text == "I could not write: Method not found: fs/write_text_file a.txt."
    assert (house.workspace / "a.txt").read_text() == "one\n"
    assert (items, agent) == ([], "")


async def test_what_is_outside_stays_out_of_reach_in_every_mode(house: House) -> None:
    outside = house.root / "outside.txt"
    outside.write_text("outside\n")
    (house.workspace / "link.txt").symlink_to(outside)
    for name in ("../outside.txt", "link.txt", ".git/hooks/x"):
        text, _, _, _ = await worked(house, edit(name, call=False))
        assert text.startswith(f"I could not read {name}: "), text
    text, _, _, _ = await worked(house, edit("x", path=str(house.data / "podium.db"), call=False))
    assert text.startswith("I could not read x: The path is not inside the workspace")
    assert outside.read_text() == "outside\n"


async def test_a_data_folder_inside_the_workspace_is_out_of_reach(house: House) -> None:
    house.data = house.workspace / "podium-data"
    text, _, _, _ = await worked(house, edit("podium-data/podium.toml", call=False))
    assert text == "I could not read podium-data/podium.toml: Podium's own data are out of reach."


async def test_a_secret_in_a_file_neither_passes_nor_is_stored(house: House) -> None:
    house.environ["MY_API_TOKEN"] = SECRET
    (house.workspace / ".env").write_text(f"TOKEN={SECRET}\n")
    text, items, _, _ = await worked(house, edit(".env", call=False))
    assert text.startswith("I could not read .env: The file holds a secret")
    assert items == []
    assert (house.workspace / ".env").read_text() == f"TOKEN={SECRET}\n"
    stored = [path for path in house.data.rglob("*") if path.is_file()]
    assert not [path for path in stored if SECRET.encode() in path.read_bytes()]


async def test_a_request_in_which_a_secret_was_masked_is_not_done_with_the_mask() -> None:
    of: Any = adapter
    pump = Pump(Process("pr", "ses", "thr", "rt", "token", "/f"), of, "strong", Secrets({"T": SECRET}))
    sessions = {"s": Session("s", wanted="full")}
    pump.machine.state = State(offered=("fs/write_text_file",), sessions=sessions)
    frame = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "fs/write_text_file",
        "params": {"sessionId": "s", "path": "/w/a", "content": f"TOKEN={SECRET}"},
    }
    for line in pump.lines(json.dumps(frame).encode() + b"\n"):
        pump.line(line)
    assert pump.take_serves() == []
    [answer] = pump.take_sends()
    assert json.loads(answer.line)["error"]["data"] == {"reason": "holds_secret"}
    frame["id"], frame["params"] = 2, {"sessionId": "s", "path": "/w/a", "content": "plain"}
    for line in pump.lines(json.dumps(frame).encode() + b"\n"):
        pump.line(line)
    [serve] = pump.take_serves()
    pump.feed(Served(serve.tag, NotServed(Failure("storage", "io_error", "No."))))
    assert json.loads(pump.take_sends()[0].line)["error"]["message"] == "No."


async def test_a_disk_that_cannot_be_written_is_an_answer_and_no_end(house: House) -> None:
    (house.workspace / "a.txt").write_text("one\n")
    (house.workspace / "a.txt").chmod(0o444)
    text, _, _, _ = await worked(house, edit(call=False))
    assert text == "I could not write: The file is read-only. a.txt."


async def test_an_option_of_the_instance_switches_it_off(house: House) -> None:
    house.configure('[agents.plain]\nadapter = "scripted"\noptions = { files = false }\n')
    (house.workspace / "a.txt").write_text("one\n")
    async with house.open() as p:
        thread = await house.thread(p, "plain", mode="full")
        run = await ran(thread, edit(call=False))
        assert said(thread, run.id) == "I could not read a.txt: Method not found: fs/read_text_file"
    assert (house.workspace / "a.txt").read_text() == "one\n"


async def test_a_workspace_that_was_moved_away_is_not_written(house: House) -> None:
    """The folder is another one now; what the agent asks for concerns nobody there."""
    (house.workspace / "a.txt").write_text("one\n")
    other = house.root / "other"
    other.mkdir()
    async with house.open() as p:
        thread = await house.thread(p, mode="full")
        play = [{"do": "say", "text": "On it."}, {"do": "sleep", "seconds": 1}]
        path = str(house.workspace / "a.txt")
        play.append({"do": "client_edit", "file": "a.txt", "path": path, "call": False})
        receipt = await thread.post(json.dumps({"play": play}))
        await until_said(thread, "On it.")
        house.workspace.rename(house.root / "away")
        house.workspace.symlink_to(other)
        run = await ended(thread, receipt.result["run"])
        assert "now leads to another folder" in said(thread, run.id)
    assert list(other.iterdir()) == []
    assert (house.root / "away" / "a.txt").read_text() == "one\n"


async def until_said(thread: Any, text: str) -> None:
    await until(
        lambda: any(text in thread.text(i.id) for i in thread.items() if i.item_kind == "assistant_message"),
        text,
    )
