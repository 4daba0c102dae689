"""What an agent may see of the server's environment: an allow-list, so nothing else can ever pass (B14,
B15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PROCESS_TOKEN = "PODIUM_PROCESS"  # carried by an agent and all it starts; the reaper looks for it

BASE_NAMES = frozenset(
    {
        "PATH",
        "HOME",
        "LANG",
        "LANGUAGE",
        "TERM",
        "TZ",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "SHELL",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "NODE_EXTRA_CA_CERTS",
        "XDG_RUNTIME_DIR",
    }
)
PROXY_NAMES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})  # also in capitals
BASE_PREFIX = "LC_"


def agent_environment(
    server_env: Mapping[str, str],
    declared: Iterable[str] = (),
    extra: Mapping[str, str] | None = None,
    *,
    token: str | None = None,
) -> dict[str, str]:
    """The complete environment of an agent: base names and declared names from the server's environment, then
    `extra` over them, then PODIUM_PROCESS=token. A declared name the server does not have is left out."""
    names = BASE_NAMES | frozenset(declared)
    environment = {
        name: value
        for name, value in server_env.items()
        if name in names or name.startswith(BASE_PREFIX) or name.lower() in PROXY_NAMES
    }
    environment.pop(PROCESS_TOKEN, None)
    environment.update(extra or {})
    if token is not None:
        environment[PROCESS_TOKEN] = token
    return environment
