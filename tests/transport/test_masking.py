"""No secret is written, however it is cut or escaped (B15, F277)."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podium.transport.masking import KEY_HOLD_MAX, MIN_SECRET, Secrets, StreamMasker, from_environment

KEY_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}\n{KEY_BODY}\nAbc=\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpMeJf36"
TOKENS = {
    "sk": "sk-proj-Abcdefghijklmnop1234567890",
    "sk-short": "sk-abcdefghijklmnopqrstuvwx1",
    "gh": "ghp_" + "a1B2" * 9,
    "gho": "gho_" + "a1B2" * 9,
    "pat": "github_pat_11ABCDEFG0_abcdefghijklmnop",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "slack": "xoxb-1234567890-abcdefghij",
    "jwt": JWT,
    "pem": PEM,
}

SECRETS = Secrets(
    {
        "A": "hunter2hunter2",
        "B": "hunter2hunter2-and-more",
        "C": 'q"uo\\te\n/x',
        "D": "schlüssel-中",
        "E": "abababab",
        "N": "12345678",
    }
)
VALUES = ["hunter2hunter2", "hunter2hunter2-and-more", 'q"uo\\te\n/x', "schlüssel-中", "abababab", "12345678"]


def test_known_values_get_their_names() -> None:
    assert SECRETS.mask_text("x hunter2hunter2 y") == "x [secret A] y"
    assert SECRETS.mask_text("hunter2hunter2-and-more") == "[secret B]"
    assert SECRETS.mask_text("hunter2hunter2-and-mor") == "[secret A]-and-mor"
    assert SECRETS.mask_text('q"uo\\te\n/x') == "[secret C]"
    assert SECRETS.mask_text(json.dumps('q"uo\\te\n/x')) == '"[secret C]"'
    assert SECRETS.mask_text(json.dumps("schlüssel-中")) == '"[secret D]"'


def test_short_values_are_words() -> None:
    assert Secrets({"S": "x" * (MIN_SECRET - 1), "T": "       a       "}).mask_text("xxxxxxx") == "xxxxxxx"


@pytest.mark.parametrize("token", list(TOKENS.values()), ids=list(TOKENS))
def test_token_shapes(token: str) -> None:
    empty = Secrets({})
    for before, after in (("", ""), ("key=", "\n"), ('"', '"'), (" ", " rest"), ("\\n", "\\n")):
        assert empty.mask_text(before + token + after) == f"{before}[secret token]{after}"
    assert empty.suspicious(json.dumps({"a": token}).encode())
    assert empty.mask_text(json.dumps(token)) == '"[secret token]"'


def test_bearer_keeps_its_word() -> None:
    assert (
        Secrets({}).mask_text("Authorization: Bearer abcdefghij0123456789")
        == "Authorization: Bearer [secret token]"
    )


@pytest.mark.parametrize(
    "text",
    ["task-management-application-server", "desk-lamp", "sk-ip", "eyJust a word", "Bearer of news", "AKIA",
     "-----BEGIN CERTIFICATE-----\nMIIE", "the risk-0f1e2d3c4b5a69780f1e2d3c4b5a6978", "github_pat"],
)  # fmt: skip
def test_ordinary_text_stays(text: str) -> None:
    assert SECRETS.mask_text(text) == text


def test_json_keys_and_values() -> None:
    value = {"hunter2hunter2": ["hunter2hunter2", 1, None, True, 12345678], "[secret A]": {"x": "abababab"}}
    masked = SECRETS.mask_json(value)
    assert masked == {
        "[secret A]": ["[secret A]", 1, None, True, "[secret N]"],
        "[secret A] 2": {"x": "[secret E]"},
    }
    assert value["[secret A]"] == {"x": "abababab"}


ESCAPES = st.sampled_from(["plain", "ascii", "unicode", "slash"])


def escaped(text: str, how: str, at: int) -> str:
    """One of the ways in which JSON may write this text."""
    if how == "ascii":
        return json.dumps(text)
    if how == "slash":
        return json.dumps(text, ensure_ascii=False).replace("/", "\\/")
    if how == "unicode":
        one = at % len(text)
        code = f"\\u{ord(text[one]):04X}"
        return json.dumps(text[:one])[:-1] + code + json.dumps(text[one + 1 :])[1:]
    return json.dumps(text, ensure_ascii=False)


@given(st.sampled_from(VALUES + list(TOKENS.values())), ESCAPES, st.integers(0, 100), st.text(max_size=5))
def test_suspicious_has_no_false_negative(secret: str, how: str, at: int, before: str) -> None:
    line = ('{"a":' + escaped(before + " " + secret, how, at) + "}").encode("utf-8", "surrogatepass")
    assert SECRETS.suspicious(line)


def test_plain_lines_are_not_suspicious() -> None:
    assert not Secrets({"A": "hunter2hunter2"}).suspicious(b'{"a":"some \\n text \\" here"}')
    assert not SECRETS.suspicious(b'{"a":"some text"}')


def stream(secrets: Secrets, pieces: list[str]) -> tuple[str, list[str]]:
    masker, held, emits = StreamMasker(secrets), "", list[str]()
    for piece in pieces:
        emit, held = masker.feed(held, piece)
        emits.append(emit)
    emits.append(masker.release(held))
    return "".join(emits), emits


def cut(text: str, cuts: list[int]) -> list[str]:
    marks = [0, *sorted(at % (len(text) + 1) for at in cuts), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(marks)]


BEGINNINGS = ["hunter2", "hunter2hunter2-and", "abab", "s", " sk-", " -----BEGIN ", " eyJ", "\n", " Bearer "]
PARTS = st.lists(
    st.sampled_from([*VALUES, *(f" {token} " for token in TOKENS.values()), *BEGINNINGS])
    | st.text(st.sampled_from("ab hunter2-\n.é"), max_size=6),
    max_size=8,
)


@given(PARTS, st.lists(st.integers(0, 10_000), max_size=12))
def test_any_cut_gives_the_masked_whole(parts: list[str], cuts: list[int]) -> None:
    text = "".join(parts)
    whole = SECRETS.mask_text(text)
    joined, emits = stream(SECRETS, cut(text, cuts))
    assert joined == whole
    for value in VALUES:
        assert not any(value in emit for emit in emits)


@given(PARTS)
def test_single_characters_give_the_masked_whole(parts: list[str]) -> None:
    text = "".join(parts)
    assert stream(SECRETS, list(text))[0] == SECRETS.mask_text(text)


def test_every_cut_of_every_secret() -> None:
    for secret in [*VALUES, *TOKENS.values()]:
        text = f"before {secret} after"
        for at in range(len(text) + 1):
            assert stream(SECRETS, [text[:at], text[at:]])[0] == SECRETS.mask_text(text)


def test_only_a_beginning_is_held_back() -> None:
    masker = StreamMasker(SECRETS)
    assert masker.feed("", "nothing here.") == ("nothing here.", "")
    assert masker.feed("", "it is hunt") == ("it is ", "hunt")
    assert masker.feed("hunt", "ing season.") == ("hunting season.", "")
    assert masker.release("hunt") == "hunt"


def test_what_is_held_is_bounded() -> None:
    masker = StreamMasker(SECRETS)
    for start, piece in (
        (" sk-", "a1"),
        (" -----BEGIN PRIVATE KEY-----\n", "QUJD" * 16 + "\n"),
        (" Bearer ", "x9"),
    ):
        held, out = "", ""
        for text in [start, *[piece] * (3 * KEY_HOLD_MAX // len(piece)), " end."]:
            emit, held = masker.feed(held, text)
            out += emit
            assert len(held) <= KEY_HOLD_MAX
        out += masker.release(held)
        assert piece not in out
        assert "[secret token]" in out
        assert out.endswith("end.")


def test_one_large_piece_with_an_open_key() -> None:
    body = ("QUJD" * 16 + "\n") * 1000
    masker = StreamMasker(Secrets({}))
    emit, held = masker.feed("", "x -----BEGIN PRIVATE KEY-----\n" + body)
    emit2, held = masker.feed(held, body + "-----END PRIVATE KEY----- y")
    out = emit + emit2 + masker.release(held)
    assert "QUJD" not in out
    assert out.startswith("x [secret token]")
    assert out.endswith(" y")


@pytest.mark.behaviour("F277")
def test_the_servers_own_environment() -> None:
    secrets = from_environment(
        {
            "OTHER_PROVIDER_KEY": "key-value-123",
            "RUNTIME_TOKEN": "token-value-123",
            "DB_PASS": "pass-value-123",
            "DATABASE_URL": "postgres://app:s3cr3t%21word@db/x",
            "MIRROR_URL": "https://example.org/simple",
            "CACHE_URL": "redis://:p4ssw0rd-x@cache:6379",
            "AUTH_MODE": "disabled",
            "SSH_AUTH_SOCK": "/tmp/agent.1234",
            "KEYBOARD": "qwertz-layout",
            "PLAIN": "plain-value-123",
            "DECLARED": "declared-value-123",
        },
        ["DECLARED", "ABSENT"],
    )

    def mask(text: str) -> str:
        return secrets.mask_text(text)

    assert mask("key-value-123 token-value-123") == "[secret OTHER_PROVIDER_KEY] [secret RUNTIME_TOKEN]"
    assert mask("pass-value-123 declared-value-123") == "[secret DB_PASS] [secret DECLARED]"
    assert mask("postgres://app:s3cr3t%21word@db/x") == "[secret DATABASE_URL]"
    assert mask("login s3cr3t!word") == "login [secret DATABASE_URL password]"
    assert mask("p4ssw0rd-x") == "[secret CACHE_URL password]"
    for plain in (
        "https://example.org/simple",
        "disabled",
        "/tmp/agent.1234",
        "qwertz-layout",
        "plain-value-123",
    ):
        assert mask(plain) == plain


def test_masking_a_large_text_with_many_secrets() -> None:
    secrets = Secrets({f"S{i}": f"secret-value-{i:04d}" for i in range(50)})
    text = "x" * 3_000_000 + "secret-value-0049"
    assert secrets.mask_text(text).endswith("x[secret S49]")
    hostile: Any = "eyJ" * 300_000
    assert secrets.mask_text(hostile) == hostile
