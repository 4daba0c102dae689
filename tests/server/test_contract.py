"""The published contract against the server: whatever is sent, the answer is as the contract says."""

from __future__ import annotations

import itertools
import json
from functools import partial
from typing import Any
from urllib.parse import quote

import anyio.to_thread
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.specs.openapi import checks as specs

from tests.runtime.house import WAIT_MAX
from tests.server.desk import Desk, Served
from tests.server.knocking import told

pytestmark = pytest.mark.anyio

EXAMPLES = 12
"""Requests for each operation and way of making them."""

SLOW = ("/v1/events",)
"""Routes whose good answer does not end."""

CHECKS: list[Any] = [vars(specs)["response_schema_conformance"]]
"""What the library checks of an answer; a server error is none of the documented statuses."""

GATE = {405, 413, 415, 421}
"""Refusals of every route that the contract does not list for each."""


class Names:
    """Real ids, so that the generated requests reach what is behind the names."""

    def __init__(self, **known: list[str]) -> None:
        self._known = {name: itertools.cycle([*ids, ""]) for name, ids in known.items()}

    def put(self, case: Any) -> None:
        for name in list[str](case.path_parameters or {}):
            known = next(self._known[name]) if name in self._known else ""
            if known:
                case.path_parameters[name] = known


async def filled(web: Served) -> Names:
    """A thread with items, an open request and a checkpoint."""
    thread = await web.thread()
    await web.ended(thread, await web.say(thread, "text"))
    asking = await web.thread()
    await web.say(asking, "edit")
    request = await web.asked(asking)
    shown = await web.snapshot(thread)
    return Names(
        thread_id=[thread, thread, asking],
        item_id=[i["item"]["id"] for i in shown["items"]],
        field=["text", "text", "output"],
        request_id=[request["id"]],
        agent_id=["scripted"],
    )


def attack(web: Served, names: Names, operation: Any, mode: GenerationMode) -> list[int]:
    """Send generated requests of one operation; the statuses of the answers."""
    sent: list[int] = []

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        names.put(case)
        headers = {**web.headers}
        if operation.method.upper() not in ("GET", "HEAD"):
            headers["content-type"] = "application/json"
        answer = case.call(base_url=web.running.place.url, headers=headers, timeout=WAIT_MAX)
        sent.append(answer.status_code)
        documented = {int(s) for s in operation.responses.status_codes if s.isdecimal()}
        assert answer.status_code in documented | GATE, (case, answer.status_code, answer.content)
        if answer.status_code >= 400:
            kind = answer.headers["content-type"][0]
            assert kind.startswith("application/problem+json"), (case, kind, answer.content)
        if answer.status_code not in GATE:
            case.validate_response(answer, checks=CHECKS)

    send()
    return sent


async def test_generated_requests_get_answers_of_the_contract(desk: Desk) -> None:
    async with desk.serve() as web:
        names = await filled(web)
        document = await web.get("/v1/openapi.json")
        for path in SLOW:
            del document["paths"][path]
        schema: Any = schemathesis.openapi.from_dict(document)
        operations: list[Any] = [result.ok() for result in schema.get_all_operations()]
        assert len(operations) > 20
        good: set[str] = set()
        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                try:
                    sent = await anyio.to_thread.run_sync(partial(attack, web, names, operation, mode))
                except Exception as error:
                    raise AssertionError(f"{operation.label} ({mode.value}): {error}") from error
                assert sent or mode is GenerationMode.NEGATIVE
                good |= {operation.label for status in sent if status < 300}
        assert len(good) > len(operations) / 2, good


HOSTILE = [
    "\0", "a\0b", "/\0", "\ud800", "\udfff\ud800", "\uffff", "\u202e",
    "\x1b]52;c;eA==\x07", "'; drop table x",
    "../../../etc/passwd", "~root", "~nobody/../x", "%00", "%2e%2e%2f", "{}", "[]", "null", "x" * 5000,
    "/" * 4096, " ", "",
]  # fmt: skip

BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("POST", "/v1/threads", {"workspace": "/", "agent": "scripted", "model": "m", "mode": "ask", "title": "t",
                             "command_id": "c"}),
    ("POST", "/v1/threads/THREAD/messages", {"client_id": "c", "text": "t", "intent": "auto", "model": "m"}),
    ("PATCH", "/v1/threads/THREAD", {"archived": False, "command_id": "c"}),
    ("POST", "/v1/threads/THREAD/interrupt", {"run": "r", "command_id": "c"}),
    ("POST", "/v1/requests/REQUEST/answer", {"decision": "no", "text": "t", "command_id": "c"}),
    ("POST", "/v1/checkpoints/plan", {"target": "t"}),
    ("POST", "/v1/checkpoints/restore", {"digest": "d" * 64, "wish": {"target": "t"}}),
    ("POST", "/v1/session", {"code": "c"}),
]  # fmt: skip

READS = (
    "/v1/threads/{}", "/v1/threads/{}/items", "/v1/threads/THREAD/items/{}", "/v1/threads/{}/diff",
    "/v1/threads/THREAD/items/x/bodies/{}", "/v1/threads/THREAD/diff?run={}", "/v1/threads/{}/checkpoints",
    "/v1/threads/{}/diagnostics", "/v1/agents/{}", "/v1/agents/{}/capabilities",
    "/v1/agents/scripted/capabilities?workspace={}", "/v1/threads/THREAD/items?before={}",
    "/v1/threads/THREAD/items?limit={}", "/v1/threads/THREAD?items={}", "/v1/{}",
)  # fmt: skip


async def test_no_text_makes_the_server_fail(desk: Desk) -> None:
    async with desk.serve() as web:
        asking = await web.thread()
        await web.say(asking, "edit")
        request = await web.asked(asking)
        for method, path, body in BODIES:
            there = path.replace("THREAD", asking).replace("REQUEST", request["id"])
            for field, hostile in itertools.product(body, HOSTILE):
                sent = {**body, field: hostile}
                content = json.dumps(sent).encode()
                headers = {**web.headers, "content-type": "application/json"}
                answer = await web.http.request(method, there, content=content, headers=headers)
                assert answer.status_code != 500, (method, there, sent, answer.text)
                assert answer.status_code < 300 or told(answer)
        for path, hostile in itertools.product(READS, HOSTILE):
            quoted = quote(hostile.encode(errors="surrogatepass"), safe="")
            answer = await web.http.get(path.replace("THREAD", asking).format(quoted), headers=web.headers)
            assert answer.status_code != 500, (path, hostile, answer.text)
            assert answer.status_code < 300 or told(answer)
        await web.call("POST", f"/v1/threads/{asking}/interrupt", {})


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b'{"workspace": 1}',
        b'{"workspace": "/", "x": 1}',
        b"[" * 100_000, b'{"a":' * 5000, b'{"workspace": "/", "workspace": null}', b'{"workspace": NaN}',
        b"{}" * 3,
    ],
    ids=range(14),
)  # fmt: skip
async def test_a_body_that_is_no_such_json_is_refused_as_a_problem(desk: Desk, body: bytes) -> None:
    async with desk.serve() as web:
        headers = {**web.headers, "content-type": "application/json"}
        answer = await web.http.post("/v1/threads", content=body, headers=headers)
        assert answer.status_code == 400 and told(answer)["code"] == "invalid_value", answer.text


async def test_the_framework_refuses_as_problems_too(desk: Desk) -> None:
    async with desk.serve() as web:
        json_kind = {**web.headers, "content-type": "application/json"}
        for method, path, status, code in (
            ("GET", "/v1/none", 404, "not_found"),
            ("GET", "/v1/threads/a/b/c/d/e", 404, "not_found"),
            ("PUT", "/v1/threads", 405, "method_unknown"),
            ("DELETE", "/v1/events", 405, "method_unknown"),
            ("GET", "/v1/session", 405, "method_unknown"),
            ("GET", "/v1/threads/x", 404, "thread_unknown"),
            ("GET", "/v1/threads/x/items/y", 404, "item_unknown"),
            ("GET", "/v1/threads/x/items", 404, "thread_unknown"),
        ):
            answer = await web.http.request(method, path, headers=json_kind)
            assert (answer.status_code, told(answer)["code"]) == (status, code), path
        for method, path in (("DELETE", "/v1/threads"), ("PUT", "/v1/threads/x"), ("POST", "/v1/info")):
            bare = await web.http.request(method, path, headers=web.headers)
            assert (bare.status_code, told(bare)["code"]) == (405, "method_unknown"), path
        large = b'{"workspace": "' + b"x" * (33 * 1024 * 1024) + b'"}'
        answer = await web.http.post("/v1/threads", content=large, headers=json_kind)
        assert (answer.status_code, told(answer)["code"]) == (413, "too_large")
        long = {"client_id": "c", "text": "x" * (4 * 1024 * 1024 + 1)}
        thread = await web.thread()
        found = await web.call("POST", f"/v1/threads/{thread}/messages", long, status=400)
        assert found["code"] in ("invalid_value", "prompt_too_long")
