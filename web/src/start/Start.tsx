import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { api, freshId, Problem } from "../api/client";
import { clientId, settled } from "../composer/sending";
import { draftOf, keepDraft } from "../composer/drafts";
import { Anchor } from "../shell/Anchor";
import { CopyButton } from "../shell/CopyButton";
import { go, threadPath } from "../shell/router";
import { usePage } from "../store/page";
import { folderName } from "../words/paths";
import type { Mode } from "../api/types";
import { Refusal } from "../composer/Refusal";
import { MODE_DEFAULT, MODES } from "../words/modes";
import { agentsInOrder, standing } from "./choose";
import { ModePicker } from "./ModePicker";
import { SignIn, waysIn } from "./SignIn";

const PLACE = "start";
const EXAMPLE = "Show me an approval, a question and a plan.";
/** Folders that are offered. */
const RECENT = 6;

/** A new thread, and what a newcomer sees first. */
export function Start() {
  const agents = useQuery({ queryKey: ["agents"], queryFn: api.agents });
  const workspaces = useQuery({ queryKey: ["workspaces"], queryFn: api.workspaces });
  const newcomer = usePage((s) => s.listed && Object.keys(s.rows).length === 0);
  const [folder, setFolder] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState(() => draftOf(PLACE));
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState("");
  const [refused, setRefused] = useState<Problem | null>(null);
  const [wished, setWished] = useState<Mode | null>(null);
  const sending = useRef(false);
  const made = useRef<{ key: string; command: string; thread: string | null } | null>(null);
  const recent = useMemo(() => (workspaces.data ?? []).filter(Boolean), [workspaces.data]);
  const ordered = useMemo(() => agentsInOrder(agents.data ?? []), [agents.data]);
  const agent = ordered.find((a) => a.id === chosen) ?? ordered.find((a) => a.health === "ok") ?? null;
  const held = agent?.modes ?? MODES;
  // What widens rights is never chosen for somebody.
  const mode = [wished ?? agent?.mode, MODE_DEFAULT].find((one) => one && held.includes(one)) ?? null;
  const path = folder ?? recent[0] ?? "";
  useEffect(() => {
    document.title = "New thread · Podium";
  }, []);

  const change = (next: string) => {
    setText(next);
    keepDraft(PLACE, next);
  };
  const ready = agent !== null && agent.health === "ok" && mode !== null && path.trim() !== "" && text.trim() !== "";

  const start = async () => {
    if (sending.current || !ready || agent === null || mode === null) return;
    sending.current = true;
    setBusy(true);
    setTrouble("");
    setRefused(null);
    const key = `${path}\n${agent.id}\n${mode}`;
    if (made.current?.key !== key) made.current = { key, command: freshId("cmd"), thread: null };
    try {
      made.current.thread ??= (await api.create({ command_id: made.current.command, workspace: path.trim(), agent: agent.id, mode })).result["thread"] ?? null;
      const thread = made.current.thread;
      if (thread === null) throw new Problem(500, "no_thread", "The server made no thread.");
      await api.send(thread, { client_id: clientId(PLACE, text, "auto"), text, intent: "auto" });
      settled(PLACE);
      made.current = null;
      keepDraft(PLACE, "");
      go(threadPath(thread));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!error.unanswered && made.current?.thread === null) made.current = null;
      setRefused(error);
      setTrouble(`Not started: ${error.detail} ${error.fix}`.trim());
    } finally {
      sending.current = false;
      setBusy(false);
    }
  };

  return (
    <main className="start">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void start();
        }}
      >
        <div className="start-head">
          {!newcomer && (
            <Anchor href="/" className="back" aria-label="Back to the threads">
              ‹
            </Anchor>
          )}
          <h1>{newcomer ? "Run any coding agent from one place." : "New thread"}</h1>
        </div>
        <div className="field">
          <label htmlFor="folder">Folder</label>
          <input
            id="folder"
            value={path}
            spellCheck={false}
            autoComplete="off"
            placeholder="/home/me/project"
            aria-describedby="folder-hint"
            // From the first touch on it is the person's: a folder that is offered later must not mix into it.
            onFocus={() => setFolder((held) => held ?? path)}
            onChange={(e) => setFolder(e.target.value)}
          />
          <p className="meta" id="folder-hint">
            {recent.length > 0 ? "Recent: " : "The full path of the folder the agent shall work in."}
            {recent.slice(0, RECENT).map((each) => (
              <button key={each} type="button" className="quiet" title={each} aria-pressed={each === path} onClick={() => setFolder(each)}>
                {folderName(each)}
              </button>
            ))}
          </p>
        </div>
        <fieldset className="field agents">
          <legend>Agent</legend>
          {agents.isPending && <p className="meta">Looking for agents…</p>}
          {agents.isError && (
            <p role="alert">
              The agents could not be read.{" "}
              <button type="button" className="quiet" onClick={() => void agents.refetch()}>
                Try again
              </button>
            </p>
          )}
          {ordered.map((each) => {
            const { ready: can, words, command } = standing(each);
            return (
              <div key={each.id} className={`agent${can ? "" : " agent-off"}`}>
                <label>
                  <input type="radio" name="agent" value={each.id} checked={agent?.id === each.id} disabled={!can} onChange={() => setChosen(each.id)} />
                  <span className="agent-name">{each.name}</span>
                  {each.version && <span className="meta">{each.version}</span>}
                  <span className={`agent-words${can ? " agent-ready" : ""}`}>{words}</span>
                </label>
                {command && (
                  <p className="agent-fix">
                    <code>{command}</code>
                    <CopyButton text={() => command} what="command" />
                  </p>
                )}
                <SignIn flows={waysIn(each)} />
              </div>
            );
          })}
          {agents.isSuccess && ordered.length === 0 && <p className="meta">No agent is known. Run `podium agents` to see why.</p>}
        </fieldset>
        <ModePicker mode={mode} held={held} onChoose={setWished} />
        <div className="field">
          <label htmlFor="prompt">What should it do?</label>
          <textarea
            id="prompt"
            rows={4}
            value={text}
            dir="auto"
            onChange={(e) => change(e.target.value)}
            onKeyDown={(e) => {
              if (e.key !== "Enter" || e.shiftKey || e.nativeEvent.isComposing || e.keyCode === 229 || e.repeat) return;
              e.preventDefault();
              void start();
            }}
          />
          {agent?.rehearsal && text === "" && (
            <p className="meta">
              Try:{" "}
              <button type="button" className="quiet" onClick={() => change(EXAMPLE)}>
                {EXAMPLE}
              </button>
            </p>
          )}
        </div>
        {trouble && (
          <div className="composer-trouble" role="alert">
            <p>{trouble}</p>
            <Refusal problem={refused} />
          </div>
        )}
        <div className="start-acts">
          <p className="meta">
            {path.trim() === "" ? "Choose a folder first." : `Starts a new thread in ${path}. Files may change; they are captured before and after each run.`}
          </p>
          <button type="submit" className="button button-strong" disabled={!ready || busy} aria-busy={busy}>
            {busy ? "Starting…" : "Start"}
            <kbd aria-hidden="true">⏎</kbd>
          </button>
        </div>
      </form>
    </main>
  );
}
