"""The protocol: what the client may call, and what this agent asks of it."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from podium.testkit.rehearsal import plays
from podium.testkit.rehearsal.protocol import (
    INTERNAL,
    INVALID,
    NO_METHOD,
    NOT_FOUND,
    PARSE,
    Json,
    Rejected,
    Stopped,
    Wire,
    context_text,
    is_object,
    leave,
    prompt_text,
)
from podium.testkit.rehearsal.proving import STEPS
from podium.testkit.rehearsal.records import Records
from podium.testkit.rehearsal.scripts import is_script, script_for
from podium.testkit.rehearsal.session import MODELS, MODES, Session
from podium.testkit.rehearsal.steps import Step
from podium.testkit.rehearsal.turn import Turn

GRACE_SECONDS = 2.0  # an agent that says no end cannot be told that it has not ended yet


class Face(NamedTuple):
    """How a prompt is read, and the steps that a reading may name."""

    read: Callable[[str, Session], list[Json]]
    steps: Mapping[str, Step]


def scripted(text: str, session: Session) -> list[Json]:
    """The reading of the scripted agent: the text alone."""
    return script_for(text)


SCRIPTED = Face(scripted, STEPS)
REHEARSAL = Face(plays.script_for, plays.PLAYS)


class Agent:
    """The protocol: what the client may call, and what this agent asks of it."""

    def __init__(self, switches: argparse.Namespace) -> None:
        self.switches = switches
        self.face = REHEARSAL if switches.rehearsal else SCRIPTED
        self.wire = Wire()
        self.records = Records(os.environ.get("SCRIPTED_HOME"))
        self.sessions: dict[str, Session] = {}
        self.client: Json = {}
        self.children: set[int] = set()
        self._asked: dict[int, queue.SimpleQueue[Json]] = {}
        self._next_id = 0
        self._lock = threading.Lock()

    def lacks(self, leaf: str) -> bool:
        """Whether it shall be without this leaf of the capability tree, for a saboteur of it."""
        return leaf in self.switches.without

    @property
    def loads(self) -> bool:
        return self.records.home is not None and not (self.switches.no_load or self.switches.text_only)

    def notify(self, session_id: str, kind: str, fields: Json) -> None:
        update: Json = {"sessionUpdate": kind, **fields}
        self.wire.send({"method": "session/update", "params": {"sessionId": session_id, "update": update}})

    def answer(self, request_id: Any, result: Json, end: str = "\n") -> None:
        self.wire.send({"id": request_id, "result": result}, end)

    def ask(self, method: str, params: Json, turn: Turn) -> Json:
        """A request to the client. A cancel ends the wait; an error answer reads as an empty one."""
        return self.call(method, params, turn).get("result") or {}

    def call(self, method: str, params: Json, turn: Turn) -> Json:
        """The same with the whole answer, be it a result or an error."""
        box: queue.SimpleQueue[Json] = queue.SimpleQueue()
        with self._lock:
            request_id = self._next_id
            self._next_id += 1
            self._asked[request_id] = box
        self.wire.send({"id": request_id, "method": method, "params": params})
        while True:
            with contextlib.suppress(queue.Empty):
                return box.get(timeout=0.05)
            turn.check()

    def initialize(self, params: Json) -> Json:
        self.client = params.get("clientCapabilities") or {}
        weak = self.switches.weak_ids or self.switches.no_ids or self.switches.text_only
        capabilities: Json = {
            "loadSession": self.loads,
            "promptCapabilities": {"image": False, "audio": False},
        }
        if not weak:
            capabilities["_meta"] = {"steering": True, "childSessions": True}
        info = {"name": "rehearsal", "title": "Rehearsal agent", "version": self.switches.version_number}
        return {"protocolVersion": 1, "agentCapabilities": capabilities, "authMethods": [], "agentInfo": info}

    def new_session(self, params: Json) -> Json:
        if self.sessions and self.lacks("lifecycle.multi_thread_per_session"):
            raise Rejected(INTERNAL, "I hold one conversation only.")
        session = Session(f"sess-{uuid.uuid4().hex}", str(params.get("cwd", ".")))
        self.sessions[session.id] = session
        self.records.save(session)
        self.records.log("new", session=session.id)
        return {"sessionId": session.id, "modes": session.modes(), "configOptions": session.options()}

    def load_session(self, params: Json) -> Json:
        if not self.loads:
            raise Rejected(NO_METHOD, "Method not found: session/load")
        if self.switches.refuse_load or self.lacks("lifecycle.persistent"):
            raise Rejected(INTERNAL, "This conversation cannot be loaded.")
        session_id = str(params.get("sessionId"))
        session = Session(session_id, str(params.get("cwd", ".")))
        session.messages = self.records.load(session_id)
        self.sessions[session_id] = session
        self.records.log("load", session=session_id)
        for message in session.messages:
            kind = "user_message_chunk" if message["role"] == "user" else "agent_message_chunk"
            content: Json = {"type": "text", "text": message["text"]}
            self.notify(session_id, kind, {"content": content, "messageId": uuid.uuid4().hex})
        return {"modes": session.modes(), "configOptions": session.options()}

    def session(self, params: Json) -> Session:
        found = self.sessions.get(str(params.get("sessionId")))
        if found is None:
            raise Rejected(NOT_FOUND, "Resource not found")
        return found

    def set_mode(self, params: Json) -> Json:
        mode = str(params.get("modeId"))
        if mode not in MODES:
            raise Rejected(INVALID, f"No mode {mode}.")
        session = self.session(params)
        if not (session.messages and self.lacks("lifecycle.mode_switch")):
            session.mode = mode
        return {}

    def set_option(self, params: Json) -> Json:
        session = self.session(params)
        if params.get("configId") != "model" or params.get("value") not in MODELS:
            raise Rejected(INVALID, "No such option.")
        if not self.lacks("models.switch"):
            session.model = str(params["value"])
        return {"configOptions": session.options()}

    def steer(self, params: Json) -> Json:
        session = self.session(params)
        mute = self.switches.weak_ids or self.switches.no_ids or self.lacks("turns.steer_active")
        if mute or not session.busy:
            raise Rejected(INVALID, "No active turn to steer.")
        text = prompt_text(params)
        self.records.log("steer", session=session.id, text=text)
        session.messages.append({"role": "user", "text": text})
        content: Json = {"type": "text", "text": text}
        self.notify(
            session.id, "user_message_chunk", {"content": content, "messageId": params.get("messageId")}
        )
        session.steers.put(text)
        return {}

    def cancel(self, params: Json) -> None:
        session = self.sessions.get(str(params.get("sessionId")))
        self.records.log("cancel", session=str(params.get("sessionId")))
        if session is None or not session.busy or self.lacks("turns.interrupt"):
            return
        if session.crash_on_cancel:
            leave(70)
        session.cancelled.set()

    def prompt(self, request_id: Any, params: Json) -> None:
        session = self.session(params)
        text = prompt_text(params)
        self.records.log(
            "prompt", session=session.id, text=text, message=params.get("messageId"), pid=os.getpid()
        )
        if session.busy and not (self.switches.no_stop and session.idle.wait(GRACE_SECONDS)):
            raise Rejected(INTERNAL, "A turn is already running.")
        session.busy = True
        session.idle.clear()
        session.cancelled.clear()
        session.crash_on_cancel = False
        session.messages.append({"role": "user", "text": text, "context": context_text(params)})
        self.records.save(session)
        turn = Turn(self, session, request_id, params.get("messageId"), text)
        threading.Thread(target=self.play, args=(turn,), daemon=True).start()

    def play(self, turn: Turn) -> None:
        """Play one prompt and answer it; nothing a script does ends the thread without an answer."""
        session = turn.session
        rejection: Rejected | None = None
        try:
            self.steps(turn)
        except Stopped:
            turn.stop_reason = "cancelled"
            for tool_id in list(turn.open_tools):
                turn.end_tool(tool_id, "failed")
        except Rejected as error:
            rejection = error
        except (ValueError, TypeError, KeyError, OSError) as error:
            rejection = Rejected(INTERNAL, f"The script failed: {error}")
        if turn.said:
            session.messages.append({"role": "assistant", "text": "\n".join(turn.said)})
        self.records.save(session)
        if self.switches.text_only and turn.said:
            content = {"type": "text", "text": "\n".join(turn.said)}
            self.notify(session.id, "agent_message_chunk", {"content": content})
        session.busy = False
        session.idle.set()
        if rejection is not None:
            self.wire.send(
                {"id": turn.prompt_id, "error": {"code": rejection.code, "message": str(rejection)}}
            )
        elif not self.switches.no_stop:
            answer: Json = {"stopReason": turn.stop_reason}
            if not (self.switches.text_only or self.lacks("output.usage")):
                answer["usage"] = {"inputTokens": len(turn.text), "outputTokens": sum(map(len, turn.said))}
            self.answer(turn.prompt_id, answer, turn.answer_end)
        for action in turn.after:
            with contextlib.suppress(Stopped):
                action()

    def steps(self, turn: Turn) -> None:
        face = SCRIPTED if is_script(turn.text) else self.face
        script = face.read(turn.text, turn.session)
        if script and script[0].get("do") != "error":
            turn.echo()
        for row in script:
            turn.check()
            action = face.steps.get(str(row.get("do")))
            if action is None:
                raise Rejected(
                    INTERNAL, f"No step {row.get('do')!r}; I know {', '.join(sorted(face.steps))}."
                )
            action(turn, row)
            with contextlib.suppress(queue.Empty):
                while True:
                    turn.say(f"Steered: {turn.session.steers.get_nowait()}")

    def receive(self, line: str) -> None:
        """One line of the client. What is no request, answer or notification gets a parse error."""
        try:
            message = json.loads(line)
        except ValueError:
            self.wire.send({"id": None, "error": {"code": PARSE, "message": "Parse error"}})
            return
        if not is_object(message):
            self.wire.send({"id": None, "error": {"code": INVALID, "message": "Invalid request"}})
            return
        if "method" not in message:
            box = self._asked.pop(message.get("id", -1), None)
            if box is not None:
                box.put(message)
            return
        self.dispatch(message)

    def dispatch(self, message: Json) -> None:
        params: Json = message.get("params") or {}
        method, request_id = str(message["method"]), message.get("id")
        calls: dict[str, Callable[[Json], Json]] = {
            "initialize": self.initialize,
            "session/new": self.new_session,
            "session/load": self.load_session,
            "session/set_mode": self.set_mode,
            "session/set_config_option": self.set_option,
            "_session/steering": self.steer,
        }
        try:
            if method == "session/cancel":
                self.cancel(params)
            elif method == "session/prompt":
                self.prompt(request_id, params)
            elif method in calls:
                self.answer(request_id, calls[method](params))
            elif request_id is not None:
                raise Rejected(NO_METHOD, f"Method not found: {method}")
        except Rejected as error:
            if request_id is not None:
                self.wire.send({"id": request_id, "error": {"code": error.code, "message": str(error)}})
