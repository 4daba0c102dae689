"""The same owner of one thread as `host.py`, but over HTTP: a real server, and a client that answers.

usage: served_host.py DATA WORKSPACE AGENT PROMPT...   It starts the server, which may be killed at a point;
then this ends with 9. Run it again: it asks for the same things with the same ids, and answers over HTTP.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from podium.runtime.place import Place, read_place

WAIT = 30.0
POLL = 0.02
KILLED = 9


class Lost(Exception):
    """The server is gone."""


class Client:
    """Plain requests with the token."""

    def __init__(self, place: Place, server: subprocess.Popen[bytes]) -> None:
        headers = {"authorization": f"Bearer {place.token}", "content-type": "application/json"}
        self._http = httpx.Client(base_url=place.url, headers=headers, timeout=WAIT, trust_env=False)
        self._server = server

    def call(self, method: str, path: str, body: Any = None, *, late: bool = False) -> Any:
        """One request. `late` takes a refusal as it comes."""
        try:
            answer = self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise Lost from error
        if answer.status_code >= 400:
            print("ANSWER", answer.json().get("code"), flush=True)
            if not late:
                raise SystemExit(answer.text)
        return answer.json()

    def settle(self, thread: str, run_id: str) -> Any:
        """Answer what is asked until the run is over."""
        until = time.monotonic() + WAIT
        while time.monotonic() < until:
            for request in self.call("GET", "/v1/requests")["requests"]:
                given = {"decision": "accept", "command_id": f"answer:{request['id']}"}
                self.call("POST", f"/v1/requests/{request['id']}/answer", given, late=True)
            run = next(r for r in self.call("GET", f"/v1/threads/{thread}")["runs"] if r["id"] == run_id)
            if run["state"] == "ended":
                return run
            time.sleep(POLL)
        raise SystemExit(f"the run did not end: {run_id}")


def place_of(data: Path, server: subprocess.Popen[bytes]) -> Place:
    """Where the server we started is."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        place = read_place(data)
        if place is not None and place.pid == server.pid:
            return place
        if server.poll() is not None:
            raise Lost
        time.sleep(POLL)
    raise SystemExit("the server did not come up")


def drive(client: Client, workspace: str, agent: str, prompts: list[str]) -> None:
    """One thread, each prompt to its end."""
    begun = {"workspace": workspace, "agent": agent, "command_id": "create"}
    thread = client.call("POST", "/v1/threads", begun)["result"]["thread"]
    for number, prompt in enumerate(prompts, 1):
        given = {"client_id": f"m-{number}", "text": prompt}
        receipt = client.call("POST", f"/v1/threads/{thread}/messages", given)
        run = client.settle(thread, receipt["result"]["run"])
        print("END", run["state"], run["outcome"], run["evidence"], run["failure"], flush=True)


def main(data: Path, workspace: str, agent: str, prompts: list[str]) -> int:
    environ = {**os.environ, "PODIUM_DATA": str(data)}
    podium = [sys.executable, "-m", "podium"]
    with subprocess.Popen(
        [*podium, "serve", "--port", "0"], env=environ, stdout=subprocess.DEVNULL
    ) as server:
        try:
            drive(Client(place_of(data, server), server), workspace, agent, prompts)
        except Lost:
            server.kill()
            return KILLED
        finally:
            server.terminate()
    # the agents are ended by a command of their own, which no point can kill
    calm = {k: v for k, v in environ.items() if not k.startswith("PODIUM_TEST")}
    done = subprocess.run([*podium, "stop", "--agents"], env=calm, capture_output=True, check=False)
    print("DONE" if server.returncode == 0 else f"SERVER {server.returncode}", flush=True)
    return 0 if server.returncode == 0 and done.returncode == 0 else KILLED


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]))
