"""A small agent that is an HTTP server, with the faults of real ones: `python http_agent.py LOG [FAULT]`.

It notes every request it is asked in LOG, one line each. FAULT is what it does wrong from the start.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HANG_SECONDS = 60.0
PASSWORD = "AGENT_PASSWORD"
LOG = Path(sys.argv[1])
FAULT = sys.argv[2] if len(sys.argv) > 2 else ""

streams: list[Any] = []
gone = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def note(self, body: str) -> None:
        with LOG.open("a") as file:
            file.write(f"{self.command} {self.path} {body}\n")

    def answer(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.take("")

    def do_POST(self) -> None:
        self.take(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

    def take(self, body: str) -> None:
        pair = f"agent:{os.environ.get(PASSWORD, '')}"
        if self.headers.get("Authorization") != f"Basic {base64.b64encode(pair.encode()).decode()}":
            self.answer(401, b"{}")
            return
        self.note(body)
        if self.path == "/events":
            self.stream()
            return
        match self.path:
            case "/hang":
                gone.wait(HANG_SECONDS)
            case "/cut":
                self.send_response(200)
                self.send_header("Content-Length", "100")
                self.end_headers()
                self.wfile.write(b"{")
                self.close_connection = True
            case "/words":
                self.answer(200, b"<html>no JSON</html>", "text/html")
            case "/broken":
                self.answer(500, b'{"error": "broken"}')
            case "/empty":
                self.answer(204, b"")
            case "/long":
                self.send_response(200)
                self.send_header("Content-Length", str(64 << 20))
                self.end_headers()
                try:
                    for _ in range(64):
                        self.wfile.write(b" " * (1 << 20))
                except OSError:
                    self.close_connection = True
            case "/say":
                say(body)
                self.answer(200, json.dumps({"said": body}).encode())
            case "/lose":
                lost, streams[:] = list(streams), []
                for held in lost:
                    held.shutdown(2)
                self.answer(200, b"{}")
            case "/die":
                os.kill(os.getpid(), signal.SIGKILL)
            case _:
                self.answer(404, b"{}")

    def stream(self) -> None:
        if FAULT == "no_stream":
            self.answer(200, b"{}")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        streams.append(self.connection)
        try:
            while FAULT != "silent" and not gone.wait(0.05):
                self.wfile.write(b": beat\n\n")
            gone.wait(HANG_SECONDS)
        except OSError:
            streams[:] = [held for held in streams if held is not self.connection]
        self.close_connection = True


def say(text: str) -> None:
    """One event to whoever listens, in two writes, with a name and two lines of data."""
    data = json.dumps({"text": text}, indent=0).replace("\n", "\ndata: ")
    whole = f"event: news\r\ndata: {data}\r\n\r\n".encode()
    for held in list(streams):
        held.sendall(whole[:9])
        time.sleep(0.01)
        held.sendall(whole[9:])


def leave(_number: int, _frame: object) -> None:
    os._exit(0)


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if FAULT == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, leave)
    print("noise first", flush=True)
    if FAULT != "mute":
        print(f"agent listening on http://127.0.0.1:{server.server_address[1]} now", flush=True)
    server.serve_forever()


main()
