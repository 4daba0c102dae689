"""Adding agents to podium.toml: what was there stays byte for byte, what is added reads back the same."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.contract.adapter import Preset
from podium.contract.errors import BadInput, PodiumError
from podium.runtime.agents import Registry
from podium.runtime.configuring import add_agent, presets, table_text, wanted
from podium.runtime.settings import CONFIG_FILE, AgentSettings, read_config, read_settings

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def registry(folder: Path) -> Registry:
    return Registry.installed(read_settings({"PODIUM_CONFIG": str(folder)}, data=folder / "data"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    program=TEXT.filter(bool),
    arguments=st.lists(TEXT, max_size=3),
    env=st.dictionaries(TEXT.filter(bool), TEXT, max_size=3),
    before=st.sampled_from([b"", b"# mine\n", b"default_agent = 'x'", b"[policy]\nstrict = true\n\n"]),
)
def test_whatever_is_added_reads_back_and_the_rest_stays(
    tmp_path: Path, program: str, arguments: list[str], env: dict[str, str], before: bytes
) -> None:
    path = tmp_path / CONFIG_FILE
    path.write_bytes(before)
    added = AgentSettings(
        adapter="acp", program=program, env=env, options={"arguments": arguments} if arguments else {}
    )
    assert add_agent({"PODIUM_CONFIG": str(tmp_path)}, "some.agent", added) == path
    assert path.read_bytes().startswith(before)
    found = read_config(path)
    assert found.agents == {"some.agent": added}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == [CONFIG_FILE]


def test_a_broken_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / CONFIG_FILE
    path.write_text("[agents\n")
    with pytest.raises(BadInput):
        add_agent({"PODIUM_CONFIG": str(tmp_path)}, "one", AgentSettings(program="x"))
    assert path.read_text() == "[agents\n"


@pytest.mark.parametrize(
    ("name", "command", "adapter", "code"),
    [
        ("Bad Name", ("x",), None, "bad_agent_name"),
        ("../up", ("x",), None, "bad_agent_name"),
        ("there", ("x",), None, "agent_exists"),
        ("rehearsal", (), None, "agent_exists"),
        ("nobody-knows", (), None, "unknown_preset"),
        ("mine", ("x",), "no-such", "unknown_adapter"),
    ],
)
def test_what_cannot_be_added_is_said(
    tmp_path: Path, name: str, command: tuple[str, ...], adapter: str | None, code: str
) -> None:
    (tmp_path / CONFIG_FILE).write_text('[agents.there]\nadapter = "scripted"\n')
    with pytest.raises(PodiumError) as caught:
        wanted(registry(tmp_path), name, command, adapter=adapter)
    assert caught.value.code == code and caught.value.fix


@pytest.mark.behaviour("F035")
@pytest.mark.parametrize(
    ("command", "adapter", "code"),
    [
        ((), None, "command_missing"),
        (("",), None, "command_missing"),
        (("",), "oneshot", "command_missing"),
        (("tr",), "acp", "adapter_named_twice"),
    ],
)
def test_a_one_shot_agent_needs_a_command_and_no_other_adapter(
    tmp_path: Path, command: tuple[str, ...], adapter: str | None, code: str
) -> None:
    with pytest.raises(BadInput) as caught:
        wanted(registry(tmp_path), "mine", command, adapter=adapter, one_shot=adapter != "oneshot")
    assert caught.value.code == code and caught.value.fix


@pytest.mark.behaviour("F035")
def test_a_one_shot_command_is_written_and_reads_back(tmp_path: Path) -> None:
    held = registry(tmp_path)
    found = wanted(
        held, "loud", ("tr", "a-z", "A-Z"), one_shot=True, mode="full", version_args=("--version",)
    )
    assert (found.adapter, found.program, found.mode) == ("oneshot", "tr", "full")
    assert found.options == {"arguments": ["a-z", "A-Z"]} and found.version_args == ("--version",)
    assert read_config_text(tmp_path, table_text("loud", found))["loud"] == found
    assert wanted(held, "loud", ("tr",), adapter="oneshot") == wanted(held, "loud", ("tr",), one_shot=True)


def test_a_known_program_is_added_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Preset("short", "Short", "short-program", {"arguments": ["--acp"]}, ("SHORT_KEY",))
    held = registry(tmp_path)

    def one(_: Registry) -> dict[str, tuple[str, Preset]]:
        return {"short": ("scripted", known)}

    monkeypatch.setattr("podium.runtime.configuring.presets", one)
    found = wanted(held, "short", (), env={"A": "b"}, inherit=("MORE",))
    assert (found.adapter, found.program, found.options) == ("scripted", "short-program", known.options)
    assert found.inherit == ("SHORT_KEY", "MORE") and found.env == {"A": "b"}
    assert tomllib.loads(table_text("short", found))["agents"]["short"]["inherit"] == ["SHORT_KEY", "MORE"]


def test_every_preset_can_be_added(tmp_path: Path) -> None:
    held = registry(tmp_path)
    for name in presets(held):
        settings_ = wanted(held, name, ())
        assert read_config_text(tmp_path, table_text(name, settings_))[name] == settings_


def read_config_text(folder: Path, text: str) -> dict[str, AgentSettings]:
    path = folder / "one.toml"
    path.write_text(text)
    return read_config(path).agents


def test_only_named_variables_reach_the_agent(tmp_path: Path) -> None:
    added = AgentSettings(adapter="scripted", env={"MINE": "1"}, inherit=("ALLOWED",))
    add_agent({"PODIUM_CONFIG": str(tmp_path)}, "one", added)
    environ = {"PODIUM_CONFIG": str(tmp_path), "ALLOWED": "yes", "OTHER": "no", "PATH": "/bin"}
    held = Registry.installed(read_settings(environ, data=tmp_path / "data"))
    found = held.environment(held.instance("one"))
    assert found["ALLOWED"] == "yes" and found["MINE"] == "1" and "OTHER" not in found
