"""`podium replay`: play a recorded cassette through its adapter and the correlator; no agent is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from podium.cli.printing import say_json
from podium.contract.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podium.contract.adapter import Adapter
    from podium.contract.inputs import Input


def replay_file(file: Path, /, *, adapter: str | None = None) -> int:
    """Play a cassette and print what the adapter makes of it, one event a line.

    Parameters
    ----------
    file
        The cassette: recorded inputs, one JSON object a line.
    adapter
        The adapter to use; by default the one that a folder of the path is named after.
    """
    import os

    from podium.runtime.agents import Registry
    from podium.runtime.settings import ConfigFile, Settings
    from podium.testkit.cassettes import read_cassette

    registry = Registry.installed(Settings(Path(), dict(os.environ), ConfigFile()))
    name = adapter or next((p for p in reversed(file.resolve().parts[:-1]) if p in registry.adapters), None)
    if name is None or name not in registry.adapters:
        raise BadInput(
            "unknown_adapter",
            f"There is no adapter {name!r}." if name else "Nothing says which adapter this cassette is for.",
            fix=f"Name one with --adapter: {', '.join(sorted(registry.adapters))}.",
        )
    try:
        inputs = read_cassette(file)
    except OSError as error:
        raise BadInput(
            "cassette_missing", f"{file} cannot be read: {error.strerror}.", fix="Name a recorded cassette."
        ) from error
    say_json(played(registry.adapters[name], inputs))
    return 0


def played(adapter: Adapter[Any], inputs: list[Input]) -> Iterator[dict[str, Any]]:
    """Each event with the number of the input it came from, and the id of its item."""
    from podium.contract.events import ProviderEvent
    from podium.domain.state import ThreadState
    from podium.runtime.pump import Process, Pump, identity_strength
    from podium.transport.masking import Secrets

    strength = identity_strength(adapter.capabilities())
    pump = Pump(Process("replay", "replay", "replay", "replay", "", ""), adapter, strength, Secrets({}))
    state = ThreadState()
    for number, given in enumerate(inputs, 1):
        for report in [*pump.feed(given), *(pump.release() if number == len(inputs) else [])]:
            if isinstance(report, ProviderEvent):
                reported = pump.reported(report, state)
                yield {
                    "input": number,
                    "given": str(given.__struct_config__.tag),
                    "event": report,
                    "item_id": reported.item_id,
                    "strength": reported.strength if reported.item_id else None,
                }
            else:
                yield {"input": number, "given": str(given.__struct_config__.tag), "trouble": report}
        for send in pump.take_sends():
            yield {"input": number, "send": send.n, "ask_id": send.ask_id, "prompt": send.prompt}
