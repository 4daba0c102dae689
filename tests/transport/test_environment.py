"""Only what is listed reaches an agent (B14, B15)."""

from __future__ import annotations

from podium.transport.environment import agent_environment

SERVER = {
    "PATH": "/usr/bin",
    "HOME": "/home/u",
    "LC_ALL": "C.UTF-8",
    "HTTPS_PROXY": "http://p",
    "no_proxy": "localhost",
    "RUNTIME_TOKEN": "t",
    "DATABASE_URL": "d",
    "OTHER_PROVIDER_KEY": "k",
    "SOME_AGENT_SESSION": "1",
    "SOME_AGENT_ENTRYPOINT": "x",
    "PODIUM_PROCESS": "outer",
    "PYTHONPATH": "/x",
    "LD_PRELOAD": "/x",
}


def test_the_base_list_and_nothing_else() -> None:
    kept = {name: SERVER[name] for name in ("PATH", "HOME", "LC_ALL", "HTTPS_PROXY", "no_proxy")}
    assert agent_environment(SERVER) == kept
    assert agent_environment(SERVER, token="tok") == {**kept, "PODIUM_PROCESS": "tok"}


def test_declared_names_and_extras() -> None:
    seen = agent_environment(
        SERVER, ["OTHER_PROVIDER_KEY", "ABSENT"], {"HOME": "/own", "MORE": "1"}, token="tok"
    )
    assert seen["OTHER_PROVIDER_KEY"] == "k"
    assert seen["HOME"] == "/own"
    assert seen["MORE"] == "1"
    assert "ABSENT" not in seen
    assert "DATABASE_URL" not in seen


def test_the_token_is_never_inherited() -> None:
    assert "PODIUM_PROCESS" not in agent_environment(SERVER, ["PODIUM_PROCESS"])
    assert agent_environment(SERVER, extra={"PODIUM_PROCESS": "x"}, token="tok")["PODIUM_PROCESS"] == "tok"
