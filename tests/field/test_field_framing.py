"""Whatever bytes an agent writes, its frames arrive once, in order and as text (B01 to B08)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.field.replaying import (
    STAY,
    Stage,
    Step,
    acp_end,
    acp_prompt,
    acp_said,
    acp_start,
    codex_end,
    codex_said,
    codex_start,
    codex_turn,
    note,
)

pytestmark = pytest.mark.anyio

MIB = 1 << 20


def raw(data: bytes) -> Step:
    """Bytes as they are."""
    return {"agent_b64": base64.b64encode(data).decode()}


def said(text: str, **dump: Any) -> bytes:
    """A whole assistant message as one line without its newline."""
    return json.dumps(codex_said(text)["agent"], **dump).encode()


def big(size: int, *, text: str = "x", item: str = "m1") -> Step:
    """A whole assistant message of this many characters."""
    frame = codex_said("", item)["agent"]
    return {"agent_big": {"frame": frame, "path": "params.item.text", "bytes": size, "text": text}}


async def play(root: Path, *steps: Step) -> tuple[str, list[str]]:
    """One turn of an app server with these steps in it; its text and the codes of all notices."""
    stage = Stage(root, "codex", [*codex_start(), *codex_turn(), *steps, codex_end(), STAY])
    async with stage.open() as driver:
        await driver.send()
        run = await driver.ended()
        assert run.outcome == "completed", driver.story()
        return driver.text(), [n.code for n in driver.notices]


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, MIB, 16 * MIB])
async def test_b01_a_long_line_is_kept_whole(size: int, tmp_path: Path) -> None:
    text, codes = await play(tmp_path, big(size))
    assert (len(text), set(text)) == (size, {"x"})
    assert codes == []


async def test_b01_a_line_over_the_cap_is_dropped_with_a_warning_and_the_stream_goes_on(
    tmp_path: Path,
) -> None:
    text, codes = await play(tmp_path, big(65 * MIB), codex_said("after", "m2"))
    assert text == "after"
    assert codes == ["frame_too_long"]


async def test_b01_one_delta_of_a_megabyte_and_ten_thousand_small_ones(tmp_path: Path) -> None:
    delta = note("item/agentMessage/delta", turnId="tu-1", itemId="m1", delta="")["agent"]
    one = {"agent_big": {"frame": delta, "path": "params.delta", "bytes": MIB}}
    small = {
        "agent_repeat": {"frame": {**delta, "params": {**delta["params"], "delta": "{i},"}}, "times": 10_000}
    }
    text, codes = await play(tmp_path, one, small)
    assert text == "x" * MIB + "".join(f"{i}," for i in range(10_000))
    assert codes == []


async def test_b03_characters_cut_at_every_byte_stay_whole(tmp_path: Path) -> None:
    line = said("中文測試 \U0001f680 é", ensure_ascii=False) + b"\n"
    pieces: list[Step] = [raw(line[i : i + 1]) for i in range(len(line))]
    text, codes = await play(tmp_path, *pieces)
    assert text == "中文測試 \U0001f680 é"
    assert codes == []


@pytest.mark.parametrize(
    ("inside", "wanted"),
    [(b"bad \xff byte", "bad \ufffd byte"), (b"cut \xe4\xb8", "cut \ufffd"), (b"over \xed\xa0\xbd", None)],
)
async def test_b03_bytes_that_are_no_text_are_replaced_and_told(
    inside: bytes, wanted: str | None, tmp_path: Path
) -> None:
    text, codes = await play(tmp_path, raw(said("@").replace(b"@", inside) + b"\n"))
    assert "\ufffd" in text
    assert wanted in (None, text)
    assert codes == ["frame_repaired"]


async def test_b03_a_stream_of_broken_frames_is_told_a_bounded_number_of_times(tmp_path: Path) -> None:
    line = said("@").replace(b"@", b"\xff") + b"\n"
    _, codes = await play(tmp_path, *([raw(line)] * 200))
    assert 1 <= codes.count("frame_repaired") <= 10


async def test_b04_a_lone_surrogate_is_replaced_everywhere(tmp_path: Path) -> None:
    steps: list[Step] = [
        *codex_start(),
        *codex_turn(),
        {"agent_raw": said("@").decode().replace("@", "cut \\ud83d end") + "\n"},
        codex_end(),
        *codex_turn("tu-2"),
        codex_said("next", "m2", "tu-2"),
        codex_end("tu-2"),
        STAY,
    ]
    stage = Stage(tmp_path, "codex", steps)
    async with stage.open() as driver:
        await driver.send()
        assert (await driver.ended()).outcome == "completed"
        assert driver.text() == "cut \ufffd end"
        await driver.send("quote it: \ud83d!")
        assert (await driver.ended()).outcome == "completed", driver.story()
        assert driver.text("user_message") == "goquote it: \ufffd!"
    assert b"\\ud83d" not in (stage.play / "got-1").read_bytes()
    assert stage.asked("turn/start")[-1]["params"]["input"][0]["text"] == "quote it: \ufffd!"


async def test_b04_the_same_through_the_other_protocol(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "scripted", [*acp_start(), acp_prompt(), acp_said("ok"), acp_end(), STAY])
    async with stage.open() as driver:
        await driver.send("half \udc00 pair")
        assert (await driver.ended()).outcome == "completed", driver.story()
    assert stage.asked("session/prompt")[0]["params"]["prompt"][0]["text"] == "half \ufffd pair"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbf", b"\n"),
        (b"", b"\r\n"),
        (b"\x00\x00", b"\n"),
        (b"\x1b[1 q\x1b]0;title\x07", b"\n"),
        (b"  \t", b" \t\r\n"),
        (b"", b"\x1b[0m\n"),
        (b"\r\n\r\n\n", b"\n\n"),
        (b"", b"\x00\n"),
    ],
)
async def test_b06_what_stands_around_a_frame_does_no_harm(
    before: bytes, after: bytes, tmp_path: Path
) -> None:
    text, codes = await play(tmp_path, raw(before + said("hi") + after))
    assert text == "hi"
    assert codes == []


@pytest.mark.parametrize("glue", [b"", b" ", b"\r", b"\x1b[0m"])
async def test_b02_two_frames_on_one_line_are_both_taken(glue: bytes, tmp_path: Path) -> None:
    end = json.dumps(codex_end()["agent"]).encode()
    stage = Stage(
        tmp_path, "codex", [*codex_start(), *codex_turn(), raw(said("both") + glue + end + b"\n"), STAY]
    )
    async with stage.open() as driver:
        await driver.send()
        assert (await driver.ended()).outcome == "completed", driver.story()
        assert driver.text() == "both"


async def test_b06_noise_is_bounded_kept_apart_and_never_answered(tmp_path: Path) -> None:
    lines = ["[info] ready", "{not json}", "42", "null", "[]", '"text"', "[" * 5000, "{" * 5000, "]"]
    noise: list[Step] = [{"agent_raw": "\n".join(lines) + "\n"}]
    flood: Step = {"agent_raw": "".join(f"[debug] step {i}\n" for i in range(5000))}
    stage = Stage(
        tmp_path,
        "codex",
        [*noise, *codex_start(), *noise, *codex_turn(), *noise, flood, codex_said("hi"), codex_end(), STAY],
    )
    async with stage.open() as driver:
        await driver.send()
        assert (await driver.ended()).outcome == "completed"
        assert driver.text() == "hi"
        assert len(driver.items) == 1
    assert not [frame for frame in stage.got() if "error" in frame]
    kept = [path.stat().st_size for path in (stage.data / "diagnostics").rglob("*") if path.is_file()]
    assert sum(kept) < 4 * MIB


async def test_b07_half_a_frame_and_the_end_fail_the_run(tmp_path: Path) -> None:
    half = json.dumps(codex_end()["agent"])[:60]
    stage = Stage(tmp_path, "codex", [*codex_start(), *codex_turn(), {"agent_raw": half}, {"agent_exit": 0}])
    async with stage.open() as driver:
        await driver.send()
        run = await driver.ended()
        assert (run.outcome, run.evidence) == ("failed", "process_exit")
        assert run.failure is not None
        assert run.failure.code == "process_exit"


async def test_b08_a_flood_on_stderr_holds_nothing_up_and_is_bounded(tmp_path: Path) -> None:
    flood: Step = {"agent_err_bytes": {"total": 20 * MIB, "line": 200}}
    one: Step = {"agent_err_bytes": {"total": 3 * MIB, "line": 3 * MIB}}
    steps = [flood, *acp_start(), one, acp_prompt(), flood, acp_said("ok"), acp_end(), one, STAY]
    stage = Stage(tmp_path, "scripted", steps)
    async with stage.open() as driver:
        await driver.send()
        assert (await driver.ended()).outcome == "completed"
        assert driver.text() == "ok"
        kept = [path.stat().st_size for path in stage.data.rglob("stderr*")]
        assert sum(kept) <= 2 * MIB
