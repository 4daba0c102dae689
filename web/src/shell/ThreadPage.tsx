import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { api, Problem } from "../api/client";
import { Composer } from "../composer/Composer";
import { Why } from "../composer/Why";
import { Dock } from "../requests/Dock";
import { unmasked } from "../markdown/urls";
import { usePage } from "../store/page";
import type { Opened } from "../store/state";
import { connection } from "../stream/connection";
import { Timeline } from "../timeline/Timeline";
import { folderName } from "../words/paths";
import { MODE_WORDS } from "../words/modes";
import { markOf } from "../words/states";
import { Anchor } from "./Anchor";
import { LinkMark } from "./ConnectionBar";
import { StateMark } from "./Mark";
import { changesPath, go, threadPath } from "./router";

const Changes = lazy(() => import("../changes/Changes"));

/** Diffs are fetched soon, so that a card with one does not grow when it is already being aimed at. */
const DIFFS_AFTER = 300;

export function ThreadPage({ thread, panel, run }: { thread: string; panel: "changes" | null; run: string | null }) {
  const opened = usePage((s) => (s.opened?.id === thread ? s.opened : null));
  const trouble = usePage((s) => s.trouble);
  const live = usePage((s) => s.link === "live");
  const toEnd = useRef<() => void>(() => undefined);
  useEffect(() => {
    connection.show(thread);
    return () => connection.show(null);
  }, [thread]);
  useEffect(() => {
    const timer = setTimeout(() => void import("../changes/DiffText").catch(() => undefined), DIFFS_AFTER);
    return () => clearTimeout(timer);
  }, []);
  if (opened === null) {
    return (
      <main className="center" aria-busy={trouble === null}>
        {trouble === null ? (
          <p className="meta">Opening the thread…</p>
        ) : (
          <>
            <h1>This thread cannot be shown</h1>
            <p role="alert">{trouble}</p>
            <Anchor href="/">Back to the list</Anchor>
          </>
        )}
      </main>
    );
  }
  const newest = Object.values(opened.runs).reduce<(typeof opened.runs)[string] | null>((a, b) => (a && a.ordinal > b.ordinal ? a : b), null);
  const pending = Object.values(opened.requests).filter((r) => r.state === "pending");
  const mark = markOf(opened.state, newest, live, pending);
  return (
    <>
      <main className="thread">
        <header className="thread-head">
          <Anchor href="/" className="back" aria-label="Back to the threads">
            ‹
          </Anchor>
          <div className="thread-name">
            <h1 dir="auto">{unmasked(opened.thread.title || opened.title || "New thread")}</h1>
            <p className="meta">
              <span title={unmasked(opened.thread.workspace)}>{unmasked(folderName(opened.thread.workspace))}</span> · {opened.thread.agent}
              {opened.thread.model && ` · ${unmasked(opened.thread.model)}`} ·{" "}
              <span className="thread-mode" title={MODE_WORDS[opened.thread.mode]}>
                mode {opened.thread.mode}
              </span>{" "}
              · <StateMark mark={mark} said />
            </p>
          </div>
          <button
            type="button"
            className="button"
            aria-pressed={panel === "changes"}
            onClick={() => go(panel === "changes" ? threadPath(thread) : changesPath(thread, null))}
          >
            Changes
          </button>
          <Archive opened={opened} />
          <LinkMark />
        </header>
        <Timeline key={thread} opened={opened} toEnd={toEnd} />
        <div className="foot">
          <Dock opened={opened} />
          <Composer key={thread} opened={opened} onSent={() => toEnd.current()} />
        </div>
      </main>
      {panel === "changes" && (
        <Suspense fallback={<aside className="panel" aria-label="Changes" />}>
          <Changes opened={opened} run={run} />
        </Suspense>
      )}
    </>
  );
}

/** Puts the thread away or takes it back; while it cannot, it says why. */
function Archive({ opened }: { opened: Opened }) {
  const [trouble, setTrouble] = useState("");
  const { archived } = opened.thread;
  const { archive } = opened.affordances;
  if (archive.state === "disabled") return <Why asked="To archive the thread" affordance={archive} label="Archive: why not?" />;
  return (
    <button
      type="button"
      className="quiet archive"
      title={trouble || undefined}
      onClick={() => {
        setTrouble("");
        api.archive(opened.id, !archived).catch((e: unknown) => setTrouble(e instanceof Problem ? e.detail : "It did not work."));
      }}
    >
      {trouble ? "Not done" : archived ? "Take back" : "Archive"}
    </button>
  );
}
