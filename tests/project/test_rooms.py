"""Every room is held by the import contracts, and the lower rooms are usable alone."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools.behaviours import ROOT

SOURCE = ROOT / "src" / "podium"
# They stand beside the layers: adapters and the keeper have a contract of their own.
APART = frozenset({"providers", "keeper"})
PURE = ("contract", "policy", "domain")
SHELL_MODULES = ("sqlite3", "asyncio", "anyio", "ssl", "socket", "subprocess", "cyclopts", "rich")


def contracts() -> list[dict[str, Any]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


def rooms() -> set[str]:
    return {path.parent.name for path in SOURCE.glob("*/__init__.py")}


def named(contract: dict[str, Any], key: str) -> set[str]:
    return {name.removeprefix("podium.") for name in contract[key] if name.startswith("podium.")}


def test_every_room_has_a_layer() -> None:
    layers = next(contract for contract in contracts() if contract["type"] == "layers")["layers"]
    assert rooms() - APART <= set(re.findall(r"\w+", " ".join(layers)))


def test_every_room_stands_in_the_contracts_that_forbid() -> None:
    forbidden = {contract["name"]: contract for contract in contracts() if contract["type"] == "forbidden"}
    adapter = next(each for name, each in forbidden.items() if name.startswith("An adapter knows"))
    nobody = next(each for name, each in forbidden.items() if name.startswith("Nobody imports"))
    keeper = next(each for name, each in forbidden.items() if name.startswith("The keeper"))
    assert rooms() - {"contract", "providers"} <= named(adapter, "forbidden_modules")
    assert rooms() - {"testkit", "providers"} <= named(nobody, "source_modules")
    assert rooms() - {"keeper"} <= named(keeper, "forbidden_modules")


@pytest.mark.behaviour("F086")
def test_the_imports_keep_the_contracts() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    command = [linter, "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("room", PURE)
def test_a_pure_room_loads_neither_server_nor_database(room: str) -> None:
    code = f"import sys, podium.{room}; print(*sorted(set(sys.modules) & set({SHELL_MODULES!r})))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
