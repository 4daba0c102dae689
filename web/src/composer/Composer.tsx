import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { api, freshId, Problem } from "../api/client";
import { decide, denial, narrowest } from "../requests/decide";
import { pendingOf } from "../requests/Dock";
import { mayDecide, sent } from "../requests/guard";
import { usePage } from "../store/page";
import type { Opened } from "../store/state";
import { connection } from "../stream/connection";
import { draftOf, keepDraft, sentDraft } from "./drafts";
import { type Meaning, meanings } from "./meaning";
import { Refusal } from "./Refusal";
import { clientId, settled } from "./sending";
import { Why } from "./Why";

const MAC = /mac|iphone|ipad/i.test(navigator.userAgent);
const MOD = MAC ? "⌘" : "Ctrl+";
const touch = window.matchMedia?.("(pointer: coarse) and (hover: none)").matches ?? false;

/** The one place to act: text, what sending it means, and the stop. */
export function Composer({ opened, onSent }: { opened: Opened; onSent: () => void }) {
  const [text, setText] = useState(() => draftOf(opened.id));
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  const [refused, setRefused] = useState<Problem | null>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const sending = useRef(false);
  const live = usePage((s) => s.link === "live");
  const agent = opened.thread.agent;
  const { first, other, none } = meanings(opened.affordances, agent);

  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    el.style.height = "auto";
    el.style.height = `${el.scrollHeight}px`;
  }, [text]);
  useEffect(() => {
    if (!touch) box.current?.focus({ preventScroll: true });
  }, []);

  const change = (next: string) => {
    setText(next);
    keepDraft(opened.id, next);
  };

  const send = async (meaning: Meaning | null) => {
    const words = text;
    if (sending.current || meaning === null || words.trim() === "") return;
    sending.current = true;
    setBusy(true);
    setTrouble("");
    setRefused(null);
    sent();
    try {
      await api.send(opened.id, { client_id: clientId(opened.id, words, meaning.intent), text: words, intent: meaning.intent });
      settled(opened.id);
      // What was typed meanwhile stays.
      if (sentDraft(opened.id, words)) setText("");
      onSent();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!error.unanswered) settled(opened.id);
      setRefused(error);
      setTrouble(
        error.unanswered
          ? "Not sent: no connection. Your text stays; sending it again counts once."
          : error.status === 409
            ? `Not sent: things changed meanwhile. ${error.detail} Look at what sending means now, and send again.`
            : `Not sent: ${error.detail} ${error.fix}`.trim(),
      );
      connection.reread();
    } finally {
      sending.current = false;
      setBusy(false);
      sent();
    }
  };

  const answer = async (allow: boolean, repeat: boolean) => {
    const request = pendingOf(opened)[0];
    if (!request || request.content.questions.length > 0 || !mayDecide(request.id, repeat)) return;
    const option = allow ? narrowest(request.options) : denial(request.options);
    if (!option) return;
    const result = await decide(request, { decision: option.id });
    if (!result.ok) setTrouble(result.words);
  };

  const onKey = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    // While characters are composed, Enter chooses one of them.
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    const mod = MAC ? event.metaKey : event.ctrlKey;
    const empty = text.trim() === "";
    if (event.key === "Backspace" && mod && text === "") {
      event.preventDefault();
      void answer(false, event.repeat);
    }
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    if (mod) {
      event.preventDefault();
      if (empty) void answer(true, event.repeat);
      else if (!event.repeat) void send(other);
    } else if (!touch) {
      event.preventDefault();
      if (!event.repeat) void send(first);
    }
  };

  return (
    <form
      className="composer"
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        void send(first);
      }}
    >
      {trouble && (
        <div className="composer-trouble" role="alert">
          <p>{trouble}</p>
          <Refusal problem={refused} />
        </div>
      )}
      <div className="composer-box">
        <label>
          <span className="hidden">Message to {agent}</span>
          <textarea
            ref={box}
            rows={1}
            value={text}
            dir="auto"
            placeholder={none ? "Nothing can be sent now; what you type is kept" : `Message ${agent}`}
            aria-describedby="meaning"
            onChange={(e) => change(e.target.value)}
            onKeyDown={onKey}
          />
        </label>
        <div className="composer-acts">
          <Stop opened={opened} onTrouble={setTrouble} />
          <button type="submit" className="button button-strong send" disabled={busy || first === null || text.trim() === ""} aria-busy={busy}>
            {busy ? "Sending…" : (first?.word ?? "Send")}
            {!touch && first && <kbd aria-hidden="true">⏎</kbd>}
          </button>
        </div>
      </div>
      <div className="meaning" id="meaning">
        <span className="meaning-line">
          <span aria-hidden="true">↳ </span>
          {first ? first.line : (none?.reason ?? "")}
          {!live && " Not connected: what is said here may be old."}
        </span>
        {first && (first.affordance.state === "fallback" || first.intent !== "start") && (
          <Why asked={first.intent === "queue" ? "To say something while it works" : first.word} affordance={first.intent === "queue" ? opened.affordances.message.steer : first.affordance} />
        )}
        {first === null && none && <Why asked="To send a message" affordance={none} />}
        {other && (
          <span className="meaning-other">
            <button type="button" className="quiet" disabled={busy || text.trim() === ""} title={other.line} onClick={() => void send(other)}>
              {!touch && <kbd>{MOD}⏎</kbd>} {other.word} instead
            </button>
            {other.affordance.state === "fallback" && <Why asked={other.word} affordance={other.affordance} />}
          </span>
        )}
      </div>
    </form>
  );
}

/** Always there; if it cannot, it says why. */
function Stop({ opened, onTrouble }: { opened: Opened; onTrouble: (words: string) => void }) {
  const { interrupt } = opened.affordances;
  const [asked, setAsked] = useState<string | null>(null);
  const run = Object.values(opened.runs).find((r) => r.state !== "ended" && r.state !== "queued");
  if (!run) return null;
  const can = interrupt.state !== "unavailable";
  const stopping = asked === run.id || run.interrupt_requested_at !== null;
  const words = interrupt.state === "destructive_fallback" ? "Stop (ends the session)" : "Stop";
  return (
    <>
      <button
        type="button"
        className="button stop"
        aria-disabled={!can || stopping}
        title={interrupt.how.consequence || interrupt.how.reason}
        onClick={() => {
          if (!can || stopping) return;
          setAsked(run.id);
          sent();
          api.interrupt(opened.id, { command_id: freshId("cmd"), run: run.id }).catch((error: unknown) => {
            setAsked(null);
            onTrouble(error instanceof Problem ? `Not stopped: ${error.detail}` : "Not stopped.");
          });
        }}
      >
        {stopping ? "Stopping…" : words}
      </button>
      {!can && !stopping && <Why asked="To stop the run" affordance={interrupt.how} />}
    </>
  );
}
