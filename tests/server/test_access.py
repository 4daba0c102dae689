"""Who may call: every route, attacked with every wrong name, origin, login and media type (B69, B70)."""

from __future__ import annotations

import itertools
import stat
import time
from pathlib import Path

import pytest

from podium.server import access
from podium.server.access import COOKIE_SECONDS, Access, Denied, read_token
from tests.server.desk import Desk, Served
from tests.server.knocking import READING, WRONG, knock, raw, routes, status, told

pytestmark = pytest.mark.anyio

JSON = {"content-type": "application/json"}
OPEN = {("GET", "/healthz"), ("POST", "/v1/session"), ("DELETE", "/v1/session")}
"""Routes that want no login: they make one, end one, or say that the process lives."""


def code_of(web: Served) -> str:
    return web.running.open_url.partition("#code=")[2]


async def signed_in(web: Served) -> dict[str, str]:
    """A browser's cookie, traded for the printed code."""
    answer = await web.http.post("/v1/session", json={"code": code_of(web)})
    assert answer.status_code == 200, answer.text
    web.http.cookies.clear()
    return {"cookie": answer.headers["set-cookie"].partition(";")[0]}


def origin(web: Served) -> dict[str, str]:
    return {"origin": web.running.place.url}


async def test_every_route_wants_a_login(desk: Desk, tmp_path: Path) -> None:
    async with desk.serve() as web:
        before = web.running.service.runtime.journal.sequence()
        token = web.running.place.token
        name = web.running.service.access.cookie
        good = (await signed_in(web))["cookie"]
        foreign = Access(read_token(tmp_path))
        foreign.cookie = name
        other = foreign.trade(foreign.new_code())
        value = good.partition("=")[2]
        head, _, mark = value.rpartition(".")
        later = f"{head.partition('.')[0]}.{int(time.time()) + 10 * COOKIE_SECONDS}.{mark}"
        wrong: list[dict[str, str]] = [
            {},
            {"authorization": f"Bearer {token}x"},
            {"authorization": f"Bearer {token[:-1]}"},
            {"authorization": "Bearer"},
            {"authorization": token},
            {"authorization": f"Basic {token}"},
            {"authorization": f"Bearer {token}x", "cookie": good},
            {"cookie": f"{name}={other}"},
            {"cookie": f"{name}={later}"},
            {"cookie": f"{name}={value[:-1]}{'0' if value[-1] != '0' else '1'}"},
            {"cookie": f"{name}="},
            {"cookie": f"{name}=..."},
            {"cookie": f"podium={value}"},
            {"cookie": ";;=;,"},
            {"cookie": f"{name}={token}"},
        ]
        for call in await routes(web):
            if call in OPEN:
                continue
            for headers in wrong:
                answer = await knock(web, call, {**JSON, **origin(web), **headers})
                assert answer.status_code == 401, (call, headers, answer.text)
                assert told(answer)["code"] == "not_signed_in" and answer.headers["www-authenticate"]
            there = f"{call[1]}?token={token}&authorization=Bearer%20{token}&access_token={token}"
            assert (await knock(web, (call[0], there), JSON)).status_code == 401, "a token in a URL counted"
        assert web.running.service.runtime.journal.sequence() == before


async def test_k_a_foreign_host_reaches_no_route(desk: Desk) -> None:
    async with desk.serve() as web:
        place = web.running.place
        port = place.url.rpartition(":")[2]
        wrong = [
            "rebind.example",
            f"rebind.example:{port}",
            "127.0.0.1",
            f"127.0.0.1:{int(port) ^ 1}",
            f"127.0.0.1:{port}.rebind.example",
            f"127.0.0.1:{port}@rebind.example",
            f"localhost.rebind.example:{port}",
            f"127.0.0.2:{port}",
            f"0.0.0.0:{port}",
            "",
        ]
        everything = [
            *await routes(web),
            ("GET", "/healthz"),
            ("GET", "/"),
            ("GET", "/threads/x"),
            ("GET", "/a.js"),
        ]
        for call in everything:
            for host in wrong:
                headers = {**web.headers, **JSON, "host": host}
                answer = await knock(web, call, headers)
                assert answer.status_code == 421, (call, host, answer.text)
                assert told(answer)["code"] == "foreign_host"
        login = f"Authorization: Bearer {place.token}\r\nConnection: close\r\n"
        for path in ("/", "/healthz", "/v1/info"):
            none = await raw(place.url, f"GET {path} HTTP/1.0\r\n{login}\r\n".encode())
            assert status(none) == 421
            two = f"Host: 127.0.0.1:{port}\r\nHost: rebind.example\r\n"
            for lines in (two, "".join(reversed(two.splitlines(keepends=True)))):
                answer = await raw(place.url, f"GET {path} HTTP/1.1\r\n{lines}{login}\r\n".encode())
                assert status(answer) in (400, 421)
        for host in (f"localhost:{port}", f"LOCALHOST:{port}", f"LocalHost:{port}", f"[::1]:{port}"):
            assert (await knock(web, ("GET", "/v1/info"), {**web.headers, "host": host})).status_code == 200


async def test_a_foreign_origin_reaches_no_route_not_even_the_stream(desk: Desk) -> None:
    async with desk.serve() as web:
        before = web.running.service.runtime.journal.sequence()
        url = web.running.place.url
        port = url.rpartition(":")[2]
        wrong = [
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": ""},
            {"origin": f"{url}.evil.example"},
            {"origin": f"http://127.0.0.1:{int(port) ^ 1}"},
            {"origin": "http://127.0.0.1"},
            {"origin": f"file://127.0.0.1:{port}"},
            {"origin": f"127.0.0.1:{port}"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"sec-fetch-site": "Cross-Site", "origin": url},
        ]
        cookie = await signed_in(web)
        logins = itertools.cycle((web.headers, cookie, {}))
        for call in [*await routes(web), ("GET", "/"), ("GET", "/healthz"), ("OPTIONS", "/v1/threads")]:
            for headers in wrong:
                answer = await knock(web, call, {**next(logins), **JSON, **headers})
                assert answer.status_code == 403, (call, headers, answer.text)
                assert told(answer)["code"] == "foreign_origin"
                assert "access-control-allow-origin" not in answer.headers
        asks = {"access-control-request-method": "POST", "access-control-request-headers": "content-type"}
        answer = await knock(web, ("OPTIONS", "/v1/threads"), {**origin(web), **asks})
        assert answer.status_code == 401 and "access-control-allow-origin" not in answer.headers
        assert web.running.service.runtime.journal.sequence() == before


async def test_a_change_wants_json(desk: Desk) -> None:
    async with desk.serve() as web:
        before = web.running.service.runtime.journal.sequence()
        kinds = [
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "json",
            "application/jsonx", "text/plain; application/json", "application/json, text/plain",
        ]  # fmt: skip
        for call in await routes(web):
            if call[0] in READING:
                continue
            for kind in kinds:
                answer = await knock(web, call, {**web.headers, "content-type": kind})
                refusal = (answer.status_code, told(answer)["code"])
                assert refusal == ((405, "method_unknown") if call in WRONG else (415, "not_json")), (
                    call,
                    kind,
                )
            bare = await web.http.request(call[0], call[1], headers=web.headers)
            assert bare.status_code == (405 if call in WRONG else 415)
        for kind in ("application/json; charset=utf-8", "Application/JSON"):
            answer = await knock(web, ("POST", "/v1/session/code"), {**web.headers, "content-type": kind})
            assert answer.status_code == 200
        assert web.running.service.runtime.journal.sequence() == before


async def test_a_browser_must_say_where_a_change_comes_from(desk: Desk) -> None:
    async with desk.serve() as web:
        cookie = await signed_in(web)
        for call in await routes(web):
            if call[0] in READING or call in OPEN:
                continue
            answer = await knock(web, call, {**cookie, **JSON})
            assert answer.status_code == 403 and told(answer)["code"] == "foreign_origin"
        body = f'{{"workspace": "{desk.workspace}", "agent": "scripted"}}'.encode()
        answer = await knock(web, ("POST", "/v1/threads"), {**cookie, **JSON, **origin(web)}, body)
        assert answer.status_code == 202
        assert (await knock(web, ("GET", "/v1/threads"), cookie)).status_code == 200


async def test_a_code_works_once_and_a_cookie_until_it_is_signed_out(desk: Desk) -> None:
    async with desk.serve() as web:
        answer = await web.http.post("/v1/session", json={"code": code_of(web)})
        web.http.cookies.clear()
        assert answer.json() == {"boot": web.running.place.boot}
        made = answer.headers["set-cookie"]
        parts = {p.strip().lower() for p in made.split(";")[1:]}
        assert {"httponly", "samesite=strict", "path=/"} <= parts and not any("domain" in p for p in parts)
        cookie = {"cookie": made.partition(";")[0]}
        assert web.running.place.token not in made
        for code in (code_of(web), "", "x", web.running.place.token):
            again = await web.http.post("/v1/session", json={"code": code})
            assert again.status_code == 401 and told(again)["code"] == "code_unknown"
            assert "set-cookie" not in again.headers
        assert (await knock(web, ("GET", "/v1/info"), cookie)).status_code == 200
        out = await knock(web, ("DELETE", "/v1/session"), {**cookie, **JSON, **origin(web)})
        web.http.cookies.clear()
        assert out.status_code == 200
        assert (await knock(web, ("GET", "/v1/info"), cookie)).status_code == 401
        more = await web.call("POST", "/v1/session/code", {}, status=200)
        assert (await web.http.post("/v1/session", json=more)).status_code == 200


async def test_a_cookie_outlives_the_server(desk: Desk) -> None:
    async with desk.serve() as web:
        value = (await signed_in(web))["cookie"].partition("=")[2]
        token = web.running.place.token
    async with desk.serve() as web:
        assert web.running.place.token == token
        cookie = {"cookie": f"{web.running.service.access.cookie}={value}"}
        assert (await knock(web, ("GET", "/v1/info"), cookie)).status_code == 200


def test_codes_grow_old_and_few_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    rights = Access("t" * 43)
    old = rights.new_code()
    now[0] += access.CODE_SECONDS + 1
    with pytest.raises(Denied, match="too old"):
        rights.trade(old)
    codes = [rights.new_code() for _ in range(access.CODES_MAX + 1)]
    with pytest.raises(Denied):
        rights.trade(codes[0])
    assert all(rights.cookie_good(rights.trade(code)) for code in codes[1:])


def test_cookies_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(access.time, "time", lambda: now[0])
    rights = Access("t" * 43)
    cookie = rights.trade(rights.new_code())
    now[0] += COOKIE_SECONDS - 1
    assert rights.cookie_good(cookie)
    now[0] += 2
    assert not rights.cookie_good(cookie)


def test_signing_out_holds_little_and_forgets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr(access.time, "time", lambda: now[0])
    monkeypatch.setattr(access, "LEFT_MAX", 3)
    rights = Access("t" * 43)
    for made_up in ("", "x", "a.b.c", "é"):
        rights.leave(made_up)
    left: list[str] = []
    for _ in range(8):
        left.append(rights.trade(rights.new_code()))
        rights.leave(left[-1])
        now[0] += 1
        assert not any(map(rights.cookie_good, left))
    assert rights.cookie_good(rights.trade(rights.new_code()))


def test_the_token_is_this_users_alone(tmp_path: Path) -> None:
    token = read_token(tmp_path)
    file = tmp_path / access.TOKEN_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and read_token(tmp_path) == token
    file.write_text("short")
    file.chmod(0o644)
    assert len(read_token(tmp_path)) >= access.TOKEN_BYTES
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    again = read_token(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600, "a token that others could read stayed so"
    assert again != "short" and [p.name for p in tmp_path.iterdir()] == [access.TOKEN_FILE]
