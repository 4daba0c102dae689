"""One server on a data folder: its files, a second one, what it says and where, and the page's files."""

from __future__ import annotations

import logging
import stat
from pathlib import Path

import msgspec
import pytest

from podium.contract.errors import BadInput, Conflict
from podium.runtime.place import LOCK_FILE, SERVER_FILE, locked, read_place
from podium.server.static import NOT_BUILT, Page
from tests.runtime.house import until
from tests.server.desk import Desk
from tests.server.knocking import knock, raw, status, told
from tests.server.processes import Server

pytestmark = pytest.mark.anyio


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_second_server_is_refused_and_the_first_is_unharmed(desk: Desk) -> None:
    async with desk.serve() as web:
        place = read_place(desk.data)
        assert place == web.running.place
        for _ in range(2):
            with pytest.raises(Conflict) as refused:
                async with desk.serve():
                    raise AssertionError("two servers")
            assert refused.value.code == "server_running" and web.running.place.url in refused.value.message
            assert web.running.place.token not in str(refused.value)
            assert read_place(desk.data) == place, "the first server cannot be found any more"
        assert (await web.get("/v1/info"))["boot"] == web.running.place.boot
        for name in ("token", SERVER_FILE, LOCK_FILE):
            assert mode(desk.data / name) == 0o600
        assert mode(desk.data) == 0o700
    assert read_place(desk.data) is None and not locked(desk.data)
    assert not (desk.data / SERVER_FILE).exists()


async def test_a_killed_server_is_not_found_and_the_next_one_starts(desk: Desk) -> None:
    server = await Server.start(desk)
    assert read_place(desk.data) is not None
    await server.kill()
    assert (desk.data / SERVER_FILE).exists() and read_place(desk.data) is None
    (desk.data / SERVER_FILE).write_bytes(b'{"url": ')
    server = await Server.start(desk)
    found = read_place(desk.data)
    assert found is not None and found.url == server.url
    assert await server.stop() == 0
    assert read_place(desk.data) is None


async def test_no_secret_is_logged_or_stands_in_a_command_line(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = await Server.start(desk)
    try:
        place = msgspec.json.decode((desk.data / SERVER_FILE).read_bytes())
        token, code = place["token"], server.code
        seen = b"".join((Path(f"/proc/{server.pid}") / name).read_bytes() for name in ("cmdline", "environ"))
        assert token.encode() not in seen and code.encode() not in seen
        assert not any(token in line or code in line for line in desk.census().values())
        for request in (b"GET /v1/info HTTP/1.1\r\nbroken\r\n\r\n", b"\0\1\2\r\n\r\n"):
            await raw(server.url, request)
    finally:
        await server.stop()
    assert token not in server.complained and code not in server.complained
    said = server.said.replace(f"{server.url}/#code={code}", "")
    assert token not in said and code not in said
    async with desk.serve() as web:
        token, code = web.running.place.token, web.running.open_url.partition("#code=")[2]
        await web.http.post("/v1/session", json={"code": code})
        await web.http.post("/v1/session", json={"code": "wrong"})
        await web.get("/v1/info")
        await knock(web, ("GET", "/v1/info"), {"authorization": f"Bearer {token}x"})
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "httpcore"))]
    assert not any(token in line or code in line for line in ours)
    kept = [p for p in desk.data.rglob("*") if p.is_file() and p.name != "token"]
    assert kept and not any(token.encode() in p.read_bytes() for p in kept)


@pytest.mark.parametrize(
    ("host", "port"), [("no.such.host.invalid", 0), ("a b", 0), ("", 0), ("127.0.0.1", -1)]
)
async def test_an_address_that_cannot_be_is_refused_typed(desk: Desk, host: str, port: int) -> None:
    from podium.runtime.settings import load_settings
    from podium.server.serving import serving

    with pytest.raises(BadInput):
        async with serving(load_settings(desk.environ, data=desk.data), host=host, port=port):
            raise AssertionError("it serves")
    assert not (desk.data / SERVER_FILE).exists() and not locked(desk.data)


async def test_a_taken_port_is_refused_typed(desk: Desk) -> None:
    from podium.server.serving import free_or, listening

    async with desk.serve() as web:
        port = int(web.running.place.url.rpartition(":")[2])
        with pytest.raises(BadInput, match="taken"):
            listening("127.0.0.1", port)
        with pytest.raises(BadInput, match="taken"):
            free_or(port, "127.0.0.1")


async def test_the_page_lets_no_script_of_others_in(desk: Desk) -> None:
    async with desk.serve() as web:
        for path in ("/", "/threads/x", "/no/such/place"):
            answer = await knock(web, ("GET", path), {})
            assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/html")
            said = str(answer.headers["content-security-policy"])
            policy = {name: value for name, _, value in (p.strip().partition(" ") for p in said.split(";"))}
            assert policy["default-src"] == "'none'" and policy["script-src"] == "'self'"
            assert policy["style-src"] == "'self'" and policy["connect-src"] == "'self'"
            assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
            assert "unsafe" not in said
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cross-origin-opener-policy"] == "same-origin"
            assert "server" not in answer.headers
            empty = await knock(web, ("HEAD", path), {})
            assert empty.status_code == 200 and empty.content == b""
            assert empty.headers["content-length"] == answer.headers["content-length"]
        for path in ("/v1/info", "/v1/openapi.json", "/v1/threads/x", "/healthz"):
            answer = await knock(web, ("GET", path), web.headers)
            assert answer.headers["x-content-type-options"] == "nosniff", path
            assert answer.headers["cache-control"] == "no-store", path
            assert answer.headers["cross-origin-resource-policy"] == "same-origin", path


async def test_the_page_is_only_read(desk: Desk) -> None:
    async with desk.serve() as web:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            answer = await knock(web, (method, "/"), {**web.headers, "content-type": "application/json"})
            assert answer.status_code == 405 and told(answer)["code"] == "method_unknown"


async def test_no_path_leads_out_of_the_page(desk: Desk) -> None:
    async with desk.serve() as web:
        place = web.running.place
        host = place.url.removeprefix("http://")
        secrets = [place.token.encode(), b"root:", b"from __future__"]
        ways = [
            "/../../../../etc/passwd", "/..%2f..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "/.",
            "/assets/../../access.py", "/..\\..\\access.py", "//etc/passwd", "/static/../access.py", "/..",
            "/access.py", "/%00", "/index.html%00.js", f"/{desk.data}/token", "/server.json",
            "/../server.json",
        ]  # fmt: skip
        for way in ways:
            request = f"GET {way} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            answer = await raw(place.url, request.encode())
            head, _, body = answer.partition(b"\r\n\r\n")
            assert not any(s in body for s in secrets), way
            assert status(answer) in (400, 401, 404) or b"text/html" in head, (way, head)


async def test_the_page_has_what_it_has_and_nothing_of_the_api(tmp_path: Path) -> None:
    page = Page({"index.html": b"<p>", "assets/a.js": b"1", "robots.txt": b"no"})
    assert all(page.has(p) for p in ("/", "/threads/x", "/assets/a.js", "/robots.txt"))
    assert not any(page.has(p) for p in ("/v1", "/v1/", "/v1/threads", "/healthz", "/assets/b.js", "/a.php"))
    assert Page({"index.html": NOT_BUILT}).has("/")


async def test_a_signal_ends_the_server_in_good_order_and_leaves_the_agent(desk: Desk) -> None:
    server = await Server.start(desk)
    try:
        async with server.client() as web:
            thread = await web.thread()
            await web.say(thread, "hang")
            await until(desk.prompts, "the prompt")
        assert await server.stop() == 0
        assert "1 agent goes on working" in server.said
        assert any("scripted_agent" in line for line in desk.census().values())
    finally:
        await server.kill()
        await desk.stop_agents()
