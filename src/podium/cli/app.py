"""The entry: commands by name, loaded when they are used, and every error as one line with its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import podium

INTERNAL = 1
USAGE = 2
INTERRUPTED = 130

TRACE_VARIABLE = "PODIUM_TRACE"
"""Set to show where an unexpected error came from."""

ALONE = {"agents": "list"}
"""The member that a group's name stands for by itself."""

COMMANDS = {
    "run": ("podium.cli.run:run", "Give an agent one prompt and follow it to its end."),
    "serve": ("podium.cli.serve:serve", "Serve this data folder over HTTP, with the page."),
    "doctor": ("podium.cli.doctor:doctor", "Check what a run needs, and say what mends what is wrong."),
    "capabilities": (
        "podium.cli.capabilities:capabilities",
        "Show what an agent can do, and its proof.",
    ),
    "certify": (
        "podium.cli.certify:certify",
        "Prove again, on the program installed here, what an agent is said to do.",
    ),
    "replay": ("podium.cli.replay:replay_file", "Play a recorded cassette through its adapter."),
    "gc": ("podium.cli.gc:gc", "Drop captured files that no checkpoint holds any more."),
    "stop": ("podium.cli.stop:stop", "Stop what goes on working in the background."),
}
GROUPS = {
    "agents": (
        "Agents with version and health; add one of your own.",
        {
            "list": ("podium.cli.agents:agents", "List agents with version and health."),
            "add": ("podium.cli.agents:add", "Add an agent: a known one by name, any other by its command."),
        },
    ),
    "threads": (
        "Read the threads of this data folder.",
        {
            "list": ("podium.cli.threads:list_threads", "List threads, newest first."),
            "show": ("podium.cli.threads:show_thread", "Show a thread's timeline."),
            "diff": ("podium.cli.diffing:diff", "Show what a thread changed, and whose each change is."),
        },
    ),
    "checkpoints": (
        "Captured files of runs, and taking back what was changed since.",
        {
            "list": ("podium.cli.checkpoints:list_checkpoints", "List checkpoints, newest first."),
            "show": ("podium.cli.checkpoints:show_checkpoint", "Show one checkpoint."),
            "plan": ("podium.cli.checkpoints:plan", "Say what a restore would do to each path."),
            "restore": ("podium.cli.checkpoints:restore", "Take back what was changed."),
        },
    ),
    "requests": (
        "What agents wait for, and answers to it.",
        {
            "list": ("podium.cli.requests:list_requests", "List what waits for a person, oldest first."),
            "answer": ("podium.cli.requests:answer_request", "Answer a request; its agent goes on working."),
        },
    ),
}
"""Each command with the place of its code, loaded only when it is called, and its line in the help."""


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code; never with a traceback."""
    _hold_standard_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments == ["--version"]:
        print(podium.__version__)
        return
    raise SystemExit(execute(arguments))


def _hold_standard_streams() -> None:
    """A standard stream that was closed before we began must not become somebody else's descriptor."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one


def execute(arguments: list[str]) -> int:
    """The exit code of a command line."""
    try:
        return dispatch(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return 0
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else INTERNAL
    except BaseException as error:
        return explain(error)


def dispatch(arguments: list[str]) -> int:
    """Parse and call. A usage error is one line and exit code 2."""
    from cyclopts import App, CycloptsError, Parameter

    arguments = named_in_full(arguments)
    listing = not names_a_command(arguments)  # its own words are read where a command is named
    plain = Parameter(negative=())
    app = App(
        name="podium",
        help="One contract over every coding agent.",
        help_format="plaintext",
        version=podium.__version__,
        default_parameter=plain,
        end_of_options_delimiter="--",
    )
    for name, (place, said) in COMMANDS.items():
        app.command(
            place, name=name, help=said if listing else None, version_flags=(), default_parameter=plain
        )
    for name, (what, members) in GROUPS.items():
        group = App(name=name, help=what, help_format="plaintext", default_parameter=plain, version_flags=())
        for member, (place, said) in members.items():
            group.command(
                place, name=member, help=said if listing else None, version_flags=(), default_parameter=plain
            )
        app.command(group)
    try:
        found = app(
            lone_hyphen_last(arguments), exit_on_error=False, print_error=False, result_action="return_value"
        )
    except CycloptsError as error:
        from podium.cli.printing import complain, short

        said = short(str(error), 400).removeprefix("Error: ") or "This command line was not understood."
        complain(said, fix=f"podium {' '.join(error.command_chain or ())} --help".replace("  ", " "))
        return USAGE
    return found if isinstance(found, int) else 0


def lone_hyphen_last(arguments: list[str]) -> list[str]:
    """A `-` stands for stdin and is a word, not an option: it goes behind the options."""
    if "-" not in arguments or "--" in arguments:
        return arguments
    at = arguments.index("-")
    return [*arguments[:at], *arguments[at + 1 :], "--", "-"]


def named_in_full(arguments: list[str]) -> list[str]:
    """A group's name alone, or with options only, stands for one of its members."""
    first, second = [*arguments[:2], "", ""][:2]
    if first in ALONE and second not in (*GROUPS[first][1], "--help", "-h"):
        return [first, ALONE[first], *arguments[1:]]
    return arguments


def names_a_command(arguments: list[str]) -> bool:
    """Whether the first words are those of one command, not of a list of them."""
    first, second = [*arguments[:2], "", ""][:2]
    return first in COMMANDS or (first in GROUPS and second in GROUPS[first][1])


def explain(error: BaseException) -> int:
    """One line on stderr for an error, and its exit code."""
    from podium.cli.printing import complain
    from podium.contract.errors import PodiumError

    if os.environ.get(TRACE_VARIABLE):
        import traceback

        traceback.print_exception(error)
    found = causes(error)
    known = next((e for e in found if isinstance(e, PodiumError)), None)
    if isinstance(known, PodiumError):
        complain(known.message, fix=known.fix)
        return known.exit_code
    if any(isinstance(e, KeyboardInterrupt) for e in found):
        return INTERRUPTED
    if any(isinstance(e, BrokenPipeError) for e in found):
        _forget_stdout()
        return 0
    what = found[0] if found else error
    if isinstance(what, OSError) and what.strerror:
        where = f" ({what.filename})" if what.filename else ""
        complain(
            f"The system refused: {what.strerror}{where}.",
            fix="Free space, or mend the rights, and try again; what was reported as done is kept.",
        )
        return INTERNAL
    complain(
        f"An error that Podium did not expect: {type(what).__name__}: {what}",
        fix=f"Set {TRACE_VARIABLE}=1 to see where, and report it with `podium doctor --bundle`.",
    )
    return INTERNAL


def causes(error: BaseException) -> list[BaseException]:
    """The errors inside groups, which task groups make of them."""
    found: list[BaseException] = []
    waiting = [error]
    while waiting:
        held = waiting.pop(0)
        members: tuple[BaseException, ...] = getattr(held, "exceptions", ())
        if members:
            waiting[:0] = members
        else:
            found.append(held)
    return found


def _forget_stdout() -> None:
    """Nobody reads any more; the interpreter must not complain about that when it leaves."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
