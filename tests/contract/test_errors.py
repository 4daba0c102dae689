"""Errors as data: bounded, typed, each with a next step."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.contract.errors import (
    CODE_MAX,
    MESSAGE_MAX,
    BadInput,
    Conflict,
    Failure,
    Gone,
    NotFound,
    PodiumError,
    Refused,
    StorageFailed,
    Unavailable,
    failure,
)

EXIT_CODES = {
    PodiumError: 1,
    Conflict: 1,
    Gone: 1,
    StorageFailed: 1,
    BadInput: 2,
    NotFound: 2,
    Refused: 3,
    Unavailable: 4,
}


@pytest.mark.parametrize("kind", EXIT_CODES)
def test_a_class_says_how_a_command_ends(kind: type[PodiumError]) -> None:
    assert kind("some_code", "It went wrong.").exit_code == EXIT_CODES[kind]


def test_every_class_of_error_is_pinned_here() -> None:
    public = {c for c in (PodiumError, *subclasses(PodiumError)) if c.__module__ == PodiumError.__module__}
    assert public == set(EXIT_CODES)


def subclasses(kind: type[PodiumError]) -> list[type[PodiumError]]:
    return [found for child in kind.__subclasses__() for found in (child, *subclasses(child))]


def test_an_error_says_what_is_wrong_and_what_to_do() -> None:
    error = BadInput("prompt_empty", "The prompt is empty.", fix="Write one.", field="text")
    assert str(error) == "The prompt is empty. Write one."
    assert (error.code, error.message, error.fix) == ("prompt_empty", "The prompt is empty.", "Write one.")
    assert error.detail == {"field": "text"}
    assert str(PodiumError("x", "Only this.")) == "Only this."


@pytest.mark.behaviour("F278")
def test_unknown_retryability_stays_unknown_and_is_never_no() -> None:
    assert failure("provider", "overloaded").retryable is None
    assert failure("provider", "overloaded", retryable=False).retryable is False
    stored = msgspec.json.decode(msgspec.json.encode(failure("provider", "overloaded")), type=Failure)
    assert stored.retryable is None


@pytest.mark.behaviour("F278")
def test_a_failure_has_one_of_the_known_classes() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"kind":"bad_luck","code":"x"}', type=Failure)


@given(st.text(max_size=CODE_MAX * 2), st.text(max_size=200), st.integers(1, 100))
def test_what_an_agent_says_of_a_failure_is_bounded(code: str, text: str, times: int) -> None:
    made = failure("provider", code, text * times, fix=text * times)
    assert len(made.code) <= CODE_MAX
    assert len(made.message) <= MESSAGE_MAX
    assert len(made.fix) <= MESSAGE_MAX
    assert (text * times).startswith(made.message)


def test_a_failure_is_stored_and_read_back() -> None:
    made = failure("process", "process_exit", "gone", retryable=True, fix="again", exit_code=1, signal=None)
    assert msgspec.json.decode(msgspec.json.encode(made), type=Failure) == made
    assert made.detail == {"exit_code": 1, "signal": None}
