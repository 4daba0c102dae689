"""A secret an agent prints is in no file, event or text; what it was not given it cannot print (B14, B15)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from podium.runtime.podium import Happening
from tests.runtime.house import House, items_of, ran, said, until

pytestmark = pytest.mark.anyio

TOKEN = "scripted-token-4f1c9b7e2d6a8035"
FOREIGN = {
    "RUNTIME_TOKEN": "runtime-token-of-the-server-11",
    "DATABASE_URL": "postgres://user:hunter22@db/prod",
    "OTHER_PROVIDER_KEY": "key-of-another-provider-22",
    "SOME_AGENT_SESSION": "1",
    "SOME_AGENT_ENTRYPOINT": "cli",
    "SOME_AGENT_SANDBOX": "seatbelt",
}
ALLOWED = {
    "PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "PODIUM_PROCESS", "SCRIPTED_HOME", "SCRIPTED_TOKEN",
}  # fmt: skip


def files_with(root: Path, secret: str) -> list[str]:
    """Every file below that holds the secret in any common form."""
    forms = [secret.encode(), secret.encode("utf-16-le"), secret.encode().hex().encode()]
    return [
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]


@pytest.fixture
def secretive(house: House) -> House:
    house.environ |= FOREIGN | {"SCRIPTED_TOKEN": TOKEN}
    return house


def texts(happenings: list[Happening]) -> str:
    return "".join(str(h.delta.text if h.delta else h.event) for h in happenings)


async def test_the_agent_sees_what_it_declares_and_nothing_else(secretive: House) -> None:
    async with secretive.open() as p:
        thread = await secretive.thread(p)
        run = await ran(thread, "secret")
        [tool] = items_of(thread, run.id, "command")
        names = {line.partition("=")[0] for line in thread.text(tool.id, "output").splitlines()}
        assert "SCRIPTED_TOKEN" in names
        assert names.isdisjoint(FOREIGN)
        assert names <= ALLOWED


@pytest.mark.behaviour("F277")
async def test_its_own_secret_is_masked_in_texts_events_and_files(secretive: House) -> None:
    seen: list[Happening] = []
    async with secretive.open() as p:
        thread = await secretive.thread(p)
        async for happening in thread.send("secret"):
            seen.append(happening)
        run = seen[-1].event.entity if seen[-1].event else None
        assert run is not None
        assert "My token is " in said(thread, run.id)
        assert TOKEN not in said(thread, run.id)
        [tool] = items_of(thread, run.id, "command")
        assert "SCRIPTED_TOKEN=" in thread.text(tool.id, "output")
        assert TOKEN not in thread.text(tool.id, "output")
        assert TOKEN not in texts(seen)
        await p.runtime.stop_agents("done")
        assert files_with(secretive.data, TOKEN) == []
    assert files_with(secretive.data, TOKEN) == []


@pytest.mark.parametrize("pause", [0.0, 0.08])
@pytest.mark.parametrize("size", [1, 3, 7, 16, 31])
async def test_split_over_deltas_it_is_masked_too(secretive: House, size: int, pause: float) -> None:
    """Every piece is a delta of its own, all at once or slower than text is held back."""
    text = f"the token is {TOKEN} and no more"
    spaced = [text[at : at + size] for at in range(0, len(text), size)]
    program = secretive.root / "dripping"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import json, sys, time\n"
        f"PIECES = {spaced!r}\n"
        "def out(frame): print(json.dumps({'jsonrpc': '2.0', **frame}), flush=True)\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    method = asked.get('method')\n"
        "    if method == 'initialize':\n"
        "        out({'id': asked['id'], 'result': {'protocolVersion': 1, 'agentCapabilities': {}}})\n"
        "    elif method == 'session/new':\n"
        "        out({'id': asked['id'], 'result': {'sessionId': 's-1'}})\n"
        "    elif method == 'session/prompt':\n"
        "        for piece in PIECES:\n"
        "            update = {'sessionUpdate': 'agent_message_chunk', 'messageId': 'm-1',\n"
        "                      'content': {'type': 'text', 'text': piece}}\n"
        "            frame = {'method': 'session/update', 'params': {'sessionId': 's-1', 'update': update}}\n"
        "            print(json.dumps({'jsonrpc': '2.0', **frame}), flush=True)\n"
        f"            time.sleep({pause})\n"
        "        out({'id': asked['id'], 'result': {'stopReason': 'end_turn'}})\n"
    )
    program.chmod(0o700)
    secretive.configure(f'[agents.drip]\nadapter = "scripted"\nprogram = "{program}"\n')
    seen: list[Happening] = []
    async with secretive.open() as p:
        thread = await secretive.thread(p, "drip")
        async for happening in thread.send("go"):
            seen.append(happening)
        run = await ran(thread, "go")
        assert run.outcome == "completed"
        assert said(thread, run.id).startswith("the token is ")
        assert said(thread, run.id).endswith(" and no more")
        assert TOKEN not in said(thread, run.id)
        assert TOKEN not in texts(seen)
        await p.runtime.stop_agents("done")
    assert files_with(secretive.data, TOKEN) == []


async def test_a_secret_on_stderr_and_in_noise_is_masked_in_the_rings(secretive: House) -> None:
    program = secretive.root / "leaky"
    program.write_text(
        "#!/usr/bin/env python3\n"
        "import os, sys\n"
        "token = os.environ['SCRIPTED_TOKEN']\n"
        "print('noise', token, flush=True)\n"
        "print('stderr', token, file=sys.stderr, flush=True)\n"
        "sys.stdin.readline()\n"
        "sys.exit(4)\n"
    )
    program.chmod(0o700)
    secretive.configure(f'[agents.leak]\nadapter = "scripted"\nprogram = "{program}"\n')
    async with secretive.open() as p:
        thread = await secretive.thread(p, "leak")
        run = await ran(thread, "hello")
        assert run.outcome != "completed"
        await until(lambda: thread.state.session is None)
        ring = (secretive.data / "diagnostics" / thread.id).read_text()
        assert "noise" in ring and "stderr" in ring
    assert files_with(secretive.data, TOKEN) == []


@pytest.mark.behaviour("F292")
async def test_the_persons_home_is_as_it_was(secretive: House) -> None:
    home = secretive.root / "home"
    (home / ".profile").write_text("export A=1\n")

    def digest() -> dict[str, str]:
        return {
            str(path.relative_to(home)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in home.rglob("*")
            if path.is_file()
        }

    before = digest()
    async with secretive.open() as p:
        thread = await secretive.thread(p, mode="full")
        assert (await ran(thread, "edit a.txt")).outcome == "completed"
    assert digest() == before


async def test_files_and_folders_are_the_persons_alone(house: House) -> None:
    async with house.open() as p:
        thread = await house.thread(p)
        assert (await ran(thread, "hello")).outcome == "completed"
        for path in [house.data, *house.data.rglob("*")]:
            assert path.stat().st_mode & 0o077 == 0, path
