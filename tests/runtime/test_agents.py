"""Adapters and instances: found, configured, rejected, and one nobody ever heard of (F001, F084, F178)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from podium.contract.adapter import Adapter, Descriptor
from podium.contract.capabilities import Capabilities
from podium.contract.errors import BadInput, Unavailable
from podium.contract.requests import Answer
from podium.contract.values import NATIVE
from podium.domain.entities import Run
from podium.providers.oneshot import adapter as oneshot
from podium.providers.rehearsal import adapter as rehearsal
from podium.providers.scripted import ScriptedAdapter, adapter
from podium.runtime.agents import Registry, native_program
from podium.runtime.settings import load_settings
from tests.runtime.house import House, asked, ended, ran, said, started

pytestmark = pytest.mark.anyio


def registry(house: House, **adapters: Adapter[Any]) -> Registry:
    return Registry(dict(adapters), load_settings(house.environ, data=house.data))


class Named(ScriptedAdapter):
    """The rehearsal agent under a brand nobody ever heard of."""

    @property
    def descriptor(self) -> Descriptor:
        return msgspec.structs.replace(
            super().descriptor, adapter="zz-fake", agent_kind="zz-brand", display_name="Zz"
        )


class Boastful(ScriptedAdapter):
    """It claims what it has no ask for."""

    def capabilities(self) -> Capabilities:
        return Capabilities.build({"turns.interrupt": NATIVE}, adapter="boast", evidence={})


class Broken(ScriptedAdapter):
    """It raises whenever it is asked anything."""

    def capabilities(self) -> Capabilities:
        raise ZeroDivisionError("by design")


async def test_an_unknown_key_is_refused_by_its_name(house: House) -> None:
    for text, name in (
        ('[agents.mine]\nadaptor = "scripted"\n', "adaptor"),
        ("[agents.mine]\nstuck_seconds = 0\n", "stuck_seconds"),
        ("[agents.mine]\nstuck_seconds = -1\n", "stuck_seconds"),
        ('[agent.mine]\nadapter = "scripted"\n', "agent"),
        ('[agents.mine]\nmode = "yolo"\n', "mode"),
        ("[policy]\ninterupt = 'refuse'\n", "interupt"),
        ("[policy]\ninterrupt = 'perhaps'\n", "interrupt"),
        ("[agents.mine\n", "line 1"),
    ):
        house.configure(text)
        with pytest.raises(BadInput) as refused:
            load_settings(house.environ, data=house.data)
        assert name in refused.value.message, refused.value.message
    assert not house.data.exists() or list(house.data.iterdir()) == []


async def test_an_instance_of_nothing_is_refused_and_names_what_there_is(house: House) -> None:
    house.configure('[agents.mine]\nadapter = "nothing"\n')
    with pytest.raises(BadInput) as refused:
        registry(house, scripted=adapter)
    assert refused.value.code == "unknown_adapter"
    assert "nothing" in refused.value.message
    assert "scripted" in refused.value.fix


async def test_two_instances_of_one_adapter_have_their_own_settings(house: House) -> None:
    house.configure(
        f'[agents.one]\nadapter = "scripted"\nenv = {{ SCRIPTED_HOME = "{house.root}/one" }}\n'
        f'[agents.two]\nadapter = "scripted"\nenv = {{ SCRIPTED_HOME = "{house.root}/two" }}\n'
        'model = "rehearsal-2"\n'
    )
    async with house.open() as p:
        for name, model in (("one", None), ("two", "rehearsal-2")):
            thread = await house.thread(p, name)
            assert (await ran(thread, "hello")).outcome == "completed"
            assert thread.state.thread is not None
            assert (thread.state.thread.agent, thread.state.thread.model) == (name, model)
    for name in ("one", "two"):
        assert (house.root / name / "prompts.jsonl").read_text().count('"prompt"') == 1


async def test_a_false_declaration_is_rejected_with_its_reasons_and_the_others_work(house: House) -> None:
    house.configure('[agents.mine]\nadapter = "boast"\n')
    found = registry(house, boast=Boastful(), broken=Broken(), scripted=adapter)
    assert sorted(found.instances) == ["scripted"]
    assert sorted(found.rejected) == ["boast", "broken", "mine"]
    assert "turns.interrupt" in " ".join(found.rejected["boast"])
    assert "by design" in " ".join(found.rejected["broken"])
    for name in ("boast", "broken", "mine"):
        with pytest.raises(Unavailable) as rejected:
            found.instance(name)
        assert rejected.value.code == "adapter_rejected"
    with pytest.raises(BadInput) as unknown:
        found.instance("nobody")
    assert "scripted" in unknown.value.fix


async def test_a_package_that_cannot_be_loaded_stops_nobody(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Entry:
        name = "torn"

        def load(self) -> object:
            raise ModuleNotFoundError("No module named 'torn_dependency'")

    class Good:
        name = "scripted"

        def load(self) -> object:
            return adapter

    def entries(group: str) -> list[object]:
        assert group == "podium.providers"
        return [Entry(), Good()]

    monkeypatch.setattr("podium.runtime.agents.metadata.entry_points", entries)
    found = Registry.installed(load_settings(house.environ, data=house.data))
    assert sorted(found.instances) == ["scripted"]
    assert "torn_dependency" in found.rejected["torn"][0]


@pytest.mark.behaviour("F001", "F084")
async def test_one_nobody_ever_heard_of_works_through_everything_and_means_the_same(house: House) -> None:
    stories: dict[str, list[object]] = {}
    names = {"scripted": adapter, "zz-fake": Named()}
    async with house.open(registry=registry(house, **names)) as p:
        for name in names:
            thread = await house.thread(p, name)
            told: list[object] = []
            for prompt in ("hello", "edit a.txt", "plan", "die 3", "recall"):
                run_id = await started(thread, prompt)
                if prompt.startswith("edit"):
                    [request] = await asked(p)
                    await p.requests.answer(request.id, Answer("accept"))
                run = await ended(thread, run_id)
                told.append((prompt, run.outcome, run.evidence, said(thread, run_id)))
            run_id = await started(thread, "long 3000")
            await thread.interrupt()
            told.append((await ended(thread, run_id)).outcome)
            events = [(e.type, e.entity_id[:4]) for e in p.runtime.journal.all_events(thread_id=thread.id)]
            assert thread.state.thread is not None
            told.append(thread.state.thread.agent_kind)
            stories[name] = told
            assert events
            (house.workspace / "a.txt").unlink()
    assert stories["zz-fake"][:-1] == stories["scripted"][:-1]
    assert (stories["scripted"][-1], stories["zz-fake"][-1]) == ("scripted", "zz-brand")


@pytest.mark.behaviour("F178")
async def test_an_agent_that_is_configured_no_more_leaves_its_threads_readable(house: House) -> None:
    house.configure('[agents.mine]\nadapter = "scripted"\n')
    async with house.open(linger=60) as p:
        thread = await house.thread(p, "mine")
        run_id = await started(thread, "long 3000")
    house.configure("")
    async with house.open() as p:
        thread = p.threads.get(thread.id)
        await thread.adopt()
        run = await ended(thread, run_id)
        assert run.outcome in ("failed", "interrupted")
        assert said(thread, run_id).startswith("word 0 ")
        await house.empty()
        again = await ran(thread, "hello")
        assert again.failure is not None and again.failure.code == "unknown_agent"
        assert isinstance(again, Run)
    house.configure('[agents.mine]\nadapter = "scripted"\n')
    async with house.open() as p:
        assert (await ran(p.threads.get(thread.id), "recall")).outcome == "completed"


class Asleep(ScriptedAdapter):
    """One whose program may be installed."""

    @property
    def descriptor(self) -> Descriptor:
        return msgspec.structs.replace(super().descriptor, executables=("no-such-program-a",))


async def test_where_none_is_named_the_first_found_is_taken_else_the_rehearsal(house: House) -> None:
    adapters = {"zz-real": Asleep(), "scripted": adapter, "rehearsal": rehearsal}
    found = registry(house, **adapters)
    assert found.listed() == ["zz-real", "rehearsal", "scripted"]
    assert found.default() == "rehearsal"
    program = house.root / "bin" / "no-such-program-a"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    path = house.environ["PATH"]
    house.environ["PATH"] = f"{path}:{program.parent}"
    assert registry(house, **adapters).default() == "zz-real"
    house.environ["PATH"] = path
    house.configure(f'[agents.mine]\nadapter = "scripted"\nprogram = "{program}"\n')
    assert registry(house, **adapters).default() == "mine"
    house.configure('default_agent = "scripted"\n')
    assert registry(house, **adapters).default() == "scripted"
    house.configure('[agents.stage]\nadapter = "rehearsal"\n[agents.test]\nadapter = "scripted"\n')
    assert registry(house, **adapters).default() == "rehearsal"
    assert registry(house, **adapters).listed() == ["zz-real", "rehearsal", "stage", "scripted", "test"]


async def test_an_agent_for_tests_is_never_taken_unnamed(house: House) -> None:
    with pytest.raises(Unavailable) as missing:
        registry(house, scripted=adapter).default()
    assert missing.value.code == "agent_missing"


async def test_a_command_is_never_taken_unnamed(house: House) -> None:
    house.configure('[agents.aa]\nadapter = "oneshot"\nprogram = "cat"\nmode = "full"\n')
    held = registry(house, oneshot=oneshot, rehearsal=rehearsal)
    assert held.listed()[0] == "aa" and held.default() == "rehearsal"
    house.configure('default_agent = "aa"\n[agents.aa]\nadapter = "oneshot"\nprogram = "cat"\n')
    assert registry(house, oneshot=oneshot, rehearsal=rehearsal).default() == "aa"


class Unbound(Asleep):
    """Named in front of all others; it asks nobody, and nothing holds it."""

    def capabilities(self) -> Capabilities:
        return oneshot.capabilities()


async def test_what_nothing_holds_is_not_taken_unnamed_for_a_mode_that_should_hold(house: House) -> None:
    adapters = {"aa": Unbound(), "rehearsal": rehearsal}
    program = house.root / "bin" / "no-such-program-a"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    house.environ["PATH"] = f"{house.environ['PATH']}:{program.parent}"
    held = registry(house, **adapters)
    assert held.modes(held.instance("aa")) == ("full",)
    assert held.modes(held.instance("rehearsal")) == ("read", "ask", "edit", "full")
    assert held.default() == "rehearsal"
    house.configure('[agents.aa]\nmode = "full"\n')
    assert registry(house, **adapters).default() == "aa"


async def test_a_version_question_reads_no_stdin_of_ours_and_leaves_nothing(house: House) -> None:
    program = house.root / "talker"
    program.write_text(
        "#!/bin/sh\nsleep 600 &\ncat >/dev/null\necho 'talker 3.2.1'\nyes x | head -c 200000\n"
    )
    program.chmod(0o700)
    house.configure(f'[agents.talker]\nadapter = "tool"\nprogram = "{program}"\n')
    tool = Asked()
    found = registry(house, tool=tool)
    probe = await found.probe(found.instance("talker"))
    assert (probe.program, probe.version) == (str(program), "3.2.1")
    await house.empty()


class Asked(ScriptedAdapter):
    """A program that is asked for its version."""

    @property
    def descriptor(self) -> Descriptor:
        return msgspec.structs.replace(super().descriptor, executables=("no-such-program",))


async def test_a_program_that_does_not_exist_is_said_to_be_missing(house: House) -> None:
    found = registry(house, tool=Asked())
    probe = await found.probe(found.instance("tool"))
    assert (probe.program, probe.version) == (None, None)
    assert probe.problem and probe.fix
    with pytest.raises(Unavailable) as missing:
        found.program(found.instance("tool"))
    assert missing.value.code == "agent_missing"


async def test_each_instance_is_asked_in_its_own_way_for_its_version(house: House) -> None:
    program = house.root / "talker"
    program.write_text('#!/bin/sh\necho "$1"\n')
    program.chmod(0o700)
    table = f'adapter = "tool"\nprogram = "{program}"\n'
    house.configure(
        f'[agents.one]\n{table}version_args = ["1.1.1"]\n'
        f'[agents.two]\n{table}version_args = ["2.2.2"]\n[agents.mute]\n{table}'
    )
    found = registry(house, tool=Asked())
    versions = [(await found.probe(found.instance(name))).version for name in ("one", "two", "one", "mute")]
    assert versions == ["1.1.1", "2.2.2", "1.1.1", None]


def test_a_program_without_a_launcher_keeps_the_name_it_is_called_by(tmp_path: Path) -> None:
    link = tmp_path / "name"
    link.symlink_to(sys.executable)
    assert native_program(str(link), ()) == str(link)


def test_behind_a_launcher_stands_the_real_program(tmp_path: Path) -> None:
    real = tmp_path / "lib" / "native"
    real.parent.mkdir()
    real.write_bytes(Path(sys.executable).read_bytes()[:64])
    real.chmod(0o700)
    launcher = tmp_path / "bin" / "agent"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\n")
    assert native_program(str(launcher), ("../lib/native",)) == str(real)
    assert native_program(str(launcher), ("../lib/nothing",)) == str(launcher)
