"""The isolated home of a real agent: what is written, and how it can be varied."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any

from podium.testkit.rigs import codex
from podium.testkit.rigs.place import OFFLINE

URL = "http://127.0.0.1:1/v1"


def read(home: Path) -> dict[str, Any]:
    return tomllib.loads((home / "config.toml").read_text())


def test_the_home_is_private_and_points_at_the_scripted_server(tmp_path: Path) -> None:
    home = codex.write_home(tmp_path / "home", URL)
    config = read(home)
    assert config["model_provider"] == "scripted"
    provider = config["model_providers"]["scripted"]
    assert (provider["base_url"], provider["wire_api"], provider["request_max_retries"]) == (
        URL,
        "responses",
        0,
    )
    assert not {"approval_policy", "sandbox_mode", "tools"} & set(config)
    assert config["analytics"] == {"enabled": False}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600


def test_options_and_extra_tables_are_added(tmp_path: Path) -> None:
    home = codex.write_home(
        tmp_path,
        URL,
        model='odd "name"',
        update_plan=True,
        ask_in_default_mode=True,
        multi_agent=True,
        raw_reasoning=True,
        instant_interrupt=False,
        auto_compact_tokens=1000,
        env_key="TOKEN",
        retries=2,
        extra={"features": {"plugins": True}, "mcp_servers.x": {"command": "run"}, "": {"model": "other"}},
    )
    config = read(home)
    assert config["model"] == "other"
    assert config["tools"]["update_plan"]["enabled"] is True
    assert config["features"]["default_mode_request_user_input"] is True
    assert config["features"]["multi_agent_v2"]["enabled"] is True
    assert (config["features"]["plugins"], config["features"]["apps"]) == (True, False)
    assert config["features"]["instant_interrupt"] is False
    assert (config["show_raw_agent_reasoning"], config["model_auto_compact_token_limit"]) == (True, 1000)
    assert config["model_providers"]["scripted"]["env_key"] == "TOKEN"
    assert config["mcp_servers"]["x"]["command"] == "run"
    assert read(codex.write_home(tmp_path, URL, model='odd "name"'))["model"] == 'odd "name"'


def test_the_environment_holds_nothing_of_the_persons_own(tmp_path: Path) -> None:
    found = codex.environment(tmp_path / "home", tmp_path)
    assert set(found) - set(OFFLINE) == {"CODEX_HOME", "HOME", "TMPDIR", "PATH"}
    assert (found["NO_PROXY"], found["HTTPS_PROXY"]) == ("127.0.0.1,localhost", "http://127.0.0.1:9")
    assert all(Path(found[name]).is_relative_to(tmp_path) for name in ("CODEX_HOME", "HOME", "TMPDIR"))
    assert Path(found["HOME"]).is_dir()
