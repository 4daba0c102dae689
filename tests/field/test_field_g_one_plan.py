"""G: a plan that the agent updates stays one plan, whatever else happens meanwhile."""

from __future__ import annotations

import json

from tests.cli.calling import Json, Shell


def plans(shell: Shell) -> list[Json]:
    """The plans of the newest thread, as the program shows them."""
    return [r for r in shell.call("threads", "show", "last", "--json").rows if r["kind"] == "plan"]


def test_four_updates_are_one_plan_in_its_last_state(shell: Shell) -> None:
    assert shell.run("plan").code == 0
    [plan] = plans(shell)
    assert [step["text"] for step in plan["steps"]] == ["Read the prompt", "Play the script", "Say goodbye"]
    assert {step["state"] for step in plan["steps"]} == {"completed"}


def test_between_texts_and_tools_it_is_still_one(shell: Shell) -> None:
    steps = ["one", "two"]
    play = [
        {"do": "plan", "steps": steps},
        {"do": "say", "text": "Between. "},
        {"do": "tools", "count": 2},
        {"do": "plan", "steps": steps},
        {"do": "say", "text": "Done."},
    ]
    assert shell.run(json.dumps({"play": play})).code == 0
    [plan] = plans(shell)
    assert [step["text"] for step in plan["steps"]] == steps


def test_the_same_update_twice_is_one(shell: Shell) -> None:
    assert shell.run("duplicate").code == 0
    assert len(plans(shell)) == 1


def test_two_turns_have_a_plan_each(shell: Shell) -> None:
    assert shell.run("plan").code == 0
    assert shell.call("run", "--thread", "last", "plan").code == 0
    assert len(plans(shell)) == 2
