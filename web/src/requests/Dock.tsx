import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import type { ThreadRow } from "../api/types";
import { Anchor } from "../shell/Anchor";
import { threadPath } from "../shell/router";
import { usePage } from "../store/page";
import type { Opened } from "../store/state";
import { inView } from "./inview";
import { RequestCard } from "./RequestCard";

/** The open requests of a thread, oldest first. */
export function pendingOf(opened: Opened | null) {
  return Object.values(opened?.requests ?? {})
    .filter((r) => r.state === "pending")
    .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
}

/** A card that the timeline has not drawn by then is out of view, in milliseconds. */
const UNSEEN_AFTER = 200;

/** Over the composer: what waits for a decision here, one at a time, and how much waits elsewhere. */
export function Dock({ opened }: { opened: Opened }) {
  const pending = useMemo(() => pendingOf(opened), [opened]);
  const rows = usePage((s) => s.rows);
  const [chosen, setChosen] = useState<string | null>(null);
  const [small, setSmall] = useState(false);
  const elsewhere = Object.values(rows).filter((r) => r.thread.id !== opened.id && r.requests.length > 0 && !r.thread.archived);
  const at = Math.max(0, pending.findIndex((r) => r.id === chosen));
  const shown = pending[at];
  const seen = useStore(inView, (s) => (shown === undefined ? undefined : s[shown.id]));
  const [unseen, setUnseen] = useState<string | null>(null);
  const id = shown?.id;
  useEffect(() => {
    if (id === undefined) return;
    const timer = setTimeout(() => setUnseen(id), UNSEEN_AFTER);
    return () => clearTimeout(timer);
  }, [id]);
  // Until the timeline has said whether the card is in view, nothing opens that would close again under the pointer.
  const above = seen ?? unseen !== id;
  if (!shown && elsewhere.length === 0) return null;
  return (
    <aside className="dock" aria-label="Open requests">
      <div className="dock-bar">
        {shown && (
          <span>
            {pending.length > 1 ? `${at + 1} of ${pending.length} requests` : "1 request"}
            {seen === true && " · shown above"}
            {pending.length > 1 && (
              <>
                <button type="button" className="quiet" aria-label="Previous request" disabled={at === 0} onClick={() => setChosen(pending[at - 1]?.id ?? null)}>
                  ‹
                </button>
                <button type="button" className="quiet" aria-label="Next request" disabled={at === pending.length - 1} onClick={() => setChosen(pending[at + 1]?.id ?? null)}>
                  ›
                </button>
              </>
            )}
          </span>
        )}
        {elsewhere[0] && <Elsewhere rows={elsewhere} />}
        {shown && !above && (
          <button type="button" className="quiet dock-fold" aria-expanded={!small} onClick={() => setSmall(!small)}>
            {small ? "show" : "hide"}
          </button>
        )}
      </div>
      {shown && !small && !above && <RequestCard key={shown.id} request={shown} docked />}
    </aside>
  );
}

function Elsewhere({ rows }: { rows: ThreadRow[] }) {
  const next = rows.toSorted((a, b) => (a.requests[0]?.created_at ?? 0) - (b.requests[0]?.created_at ?? 0))[0];
  if (!next) return null;
  const count = rows.reduce((sum, r) => sum + r.requests.length, 0);
  return (
    <Anchor href={threadPath(next.thread.id)} className="dock-elsewhere">
      {count} in other threads ›
    </Anchor>
  );
}
