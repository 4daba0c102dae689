"""Finds every stable code in the sources: where an error is raised, a refusal made, a failure built."""

from __future__ import annotations

import ast
import re

from tools.behaviours import ROOT

SOURCES = ROOT / "src" / "podium"

PLACES = {
    "failure": 1,
    "rpc_failure": 1,
    "Refusal": 1,
    "refuse": 1,
    "LaunchError": 0,
}
"""Calls that take a code, with its place among the arguments."""

ERRORS = frozenset(
    {
        "BadInput",
        "NotFound",
        "Conflict",
        "Gone",
        "Refused",
        "Unavailable",
        "StorageFailed",
        "PodiumError",
        "Denied",
        "CapabilityError",
        "PolicyError",
    }
)
"""Classes that take the code first."""

INDIRECT: dict[str, tuple[str, ...]] = {
    "server/app.py": ("too_large",),
    "contract/capabilities.py": (),
    "contract/evidence.py": (
        "unproven",
        "must_be_proven",
        "pending_evidence",
        "outside_version_range",
        "not_proven_on_this_version",
        "failed_on_this_version",
    ),
    "policy/resolve.py": (
        "not_available_yet",
        "refused_by_policy",
        "refused_by_strict",
        "unsupported",
        "unknown_ask",
    ),
    "providers/acp/drafting.py": (),
    "providers/acp/failures.py": ("auth_required", "not_found", "cancelled", "rate_limited", "agent_error_"),
    "providers/claude/answers.py": ("answer_invalid", "option_not_offered"),
    "providers/claude/asks.py": (
        "fork_failed",
        "models_unavailable",
        "no_active_turn",
        "not_supported",
        "thread_missing",
        "too_many",
    ),
    "providers/claude/bridge.py": ("image_too_large", "image_unreadable", "spawn_failed", "thread_missing"),
    "providers/claude/failures.py": (
        "answer_too_long",
        "auth_required",
        "bad_request",
        "context_too_long",
        "internal",
        "model_not_found",
        "other",
        "overloaded",
        "rate_limited",
        "too_many_steps",
        "usage_limited",
    ),
    "providers/claude/news.py": ("unsent",),
    "providers/codex/failures.py": (
        "context_too_long",
        "usage_limited",
        "rate_limited",
        "overloaded",
        "internal",
        "model_not_found",
        "auth_required",
        "bad_request",
        "sandbox_failed",
        "stream_lost",
        "other",
        "thread_missing",
        "thread_in_use",
        "no_active_turn",
        "other_turn_active",
        "turn_missing",
        "input_not_allowed",
        "parent_not_loaded",
        "not_supported",
    ),
    "providers/codex/replies.py": (),
    "providers/oneshot/asks.py": (
        "mode_not_offered",
        "model_not_offered",
        "options_invalid",
        "session_not_open",
        "text_only",
        "thread_unknown",
        "turn_running",
        "unsupported_ask",
    ),
    "providers/oneshot/news.py": (),
    "providers/opencode/drafting.py": (),
    "providers/opencode/failures.py": (
        "agent_",
        "agent_error",
        "auth_required",
        "content_filtered",
        "context_too_long",
        "output_limit",
        "rate_limited",
    ),
    "providers/opencode/turns.py": ("endless_steps", "stop_"),
    "providers/pi/draft.py": (),
    "providers/pi/failures.py": (
        "auth_required",
        "bad_request",
        "context_too_long",
        "internal",
        "model_not_found",
        "other",
        "overloaded",
        "rate_limited",
        "stream_lost",
    ),
    "runtime/captures.py": (),
    "runtime/pump.py": (),
    "runtime/sessions.py": (),
    "runtime/supervisor.py": (),
    "transport/launch.py": (
        "binary_missing",
        "binary_not_executable",
        "cwd_missing",
        "arguments_too_long",
    ),
    "keeper/spawning.py": ("spawn_failed",),
    "workspace/texts.py": (
        "disk_full",
        "holds_secret",
        "link_in_the_way",
        "no_file",
        "no_text",
        "not_allowed",
        "not_found",
        "outside",
        "path_invalid",
        "private",
        "too_long",
        "io_error",
    ),
}
"""Files in which a code comes from elsewhere, with the codes that begin there and stand there as text."""

KINDS = ("bad_input", "not_found", "conflict", "gone", "refused")
"""First arguments of the domain's refusals."""

CODE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]*)*\*?")


def code_of(call: ast.Call) -> ast.expr | None:
    """The argument of a call that is a code, if it takes one."""
    func = call.func
    name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    place = 0 if name in ERRORS or name == "__init__" else PLACES.get(name)
    if name == "Refusal" and not (isinstance(call.args[0], ast.Constant) and call.args[0].value in KINDS):
        place = 0  # the policy's own refusal has its code first, the domain's its kind
    if place is None or len(call.args) <= place:
        return None
    found = call.args[place]
    loose = name in ("__init__", "refuse")  # names that other things have too: only what looks like a code
    text = isinstance(found, ast.Constant) and isinstance(found.value, str) and CODE.fullmatch(found.value)
    return found if text or not loose else None


def scan() -> tuple[dict[str, set[str]], set[str]]:
    """Codes with the files that use them, and the files that take one from elsewhere."""
    codes: dict[str, set[str]] = {}
    elsewhere: set[str] = set()
    for path in sorted(SOURCES.rglob("*.py")):
        file = path.relative_to(SOURCES).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match code_of(node) if isinstance(node, ast.Call) else None:
                case ast.Constant(value=str(code)):
                    codes.setdefault(code, set()).add(file)
                case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]):
                    codes.setdefault(f"{start}*", set()).add(file)
                case None:
                    pass
                case _:
                    elsewhere.add(file)
    return codes, elsewhere
