/** The log of a thread: virtual, in the server's order, following its end only while the user wants that. */
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { Item, Message, Run } from "../api/types";
import { ItemRow } from "../items/ItemRow";
import { useBody } from "../items/useBody";
import { RequestCard } from "../requests/RequestCard";
import { changesPath, go } from "../shell/router";
import type { Opened } from "../store/state";
import { connection } from "../stream/connection";
import { AT_END, type Act, follow, moves } from "./follow";
import { CheckpointLine, DegradationLine, EndCard, NoticeLine, PlanCard, WorkingLine } from "./marks";
import { type Folds, foldSentence, type Row, timeline } from "./rows";

/** A message of more lines or characters is clamped. */
const CLAMP_LINES = 12;
const CLAMP_CHARS = 1600;

/** Makes the timeline go to its end, for whoever sends something. */
export type ToEnd = { current: () => void };

export function Timeline({ opened, toEnd }: { opened: Opened; toEnd: ToEnd }) {
  const [folds, setFolds] = useState<Folds>({});
  const rows = useMemo(() => timeline(opened, folds), [opened, folds]);
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const state = useRef(AT_END);
  const [away, setAway] = useState(false);
  const [seenTo, setSeenTo] = useState(0);
  const [loading, setLoading] = useState(false);
  const [focused, setFocused] = useState<string | null>(null);
  const before = useRef<{ key: string; index: number } | null>(null);

  const end = useCallback(() => {
    const el = scroller.current;
    if (el) el.scrollTop = el.scrollHeight;
  }, []);
  const act = useCallback((what: Act) => {
    const before = state.current.following;
    state.current = follow(state.current, what);
    if (state.current.following !== before) setAway(!state.current.following);
  }, []);
  const jump = useCallback(() => {
    act({ act: "jump" });
    end();
  }, [act, end]);
  useEffect(() => {
    toEnd.current = jump;
  }, [toEnd, jump]);

  // Whatever grows, the end stays in view while it is followed.
  useLayoutEffect(() => {
    if (moves(state.current)) end();
  });
  useEffect(() => {
    const element = inner.current;
    const box = scroller.current;
    if (!element || !box) return;
    const watch = new ResizeObserver(() => {
      if (moves(state.current)) end();
    });
    watch.observe(element);
    watch.observe(box);
    return () => watch.disconnect();
  }, [end]);
  useEffect(() => {
    const selected = () => {
      const selection = document.getSelection();
      const some = selection !== null && !selection.isCollapsed && (scroller.current?.contains(selection.anchorNode) ?? false);
      act({ act: "selection", some });
    };
    const released = () => {
      if (state.current.held) act({ act: "release", at: performance.now() });
      // The click comes after the button is up, and must find what it was aimed at.
      if (state.current.pressed) {
        setTimeout(() => {
          act({ act: "press", down: false });
          if (moves(state.current)) end();
        });
      }
    };
    document.addEventListener("selectionchange", selected);
    window.addEventListener("pointerup", released);
    window.addEventListener("pointercancel", released);
    return () => {
      document.removeEventListener("selectionchange", selected);
      window.removeEventListener("pointerup", released);
      window.removeEventListener("pointercancel", released);
    };
  }, [act, end]);
  useEffect(() => {
    if (!away) setSeenTo(rows.length);
  }, [away, rows.length]);

  // Rows that come before the first one we had are put there without moving what is seen.
  const known = before.current;
  const shift = known !== null && rows.findIndex((r) => r.key === known.key) > known.index;
  useEffect(() => {
    const index = rows.findIndex((r) => r.kind === "message" || r.kind === "item");
    const row = rows[index];
    before.current = row ? { key: row.key, index } : null;
  }, [rows]);

  const older = async () => {
    if (loading) return;
    setLoading(true);
    try {
      await connection.older();
    } catch {
      // The bar says that there is no connection; the button stays.
    }
    setLoading(false);
  };
  // What has the focus stays, wherever the list is scrolled to.
  const held = focused === null ? -1 : rows.findIndex((r) => r.key === focused);
  const fresh = Math.max(0, rows.length - seenTo);
  const requests = rows.filter((r) => r.kind === "request" && r.request.state === "pending");
  const toRequest = () => {
    const index = rows.findIndex((r) => r.kind === "request" && r.request.state === "pending");
    if (index >= 0) list.current?.scrollToIndex(index, { align: "center" });
    else jump();
  };

  return (
    <div className="timeline-frame">
      <div
        ref={scroller}
        className="timeline"
        tabIndex={0}
        role="feed"
        aria-label="Timeline"
        aria-busy={false}
        onWheel={() => act({ act: "wheel", at: performance.now() })}
        onTouchStart={() => act({ act: "hold" })}
        onTouchEnd={() => act({ act: "release", at: performance.now() })}
        onTouchCancel={() => act({ act: "release", at: performance.now() })}
        onPointerDown={(e) => {
          const onBar = e.target === e.currentTarget && e.nativeEvent.offsetX >= e.currentTarget.clientWidth;
          act(onBar ? { act: "hold" } : { act: "press", down: true });
        }}
        onKeyDown={(e) => {
          if (e.key === "End" && e.target === e.currentTarget) jump();
          else if (["PageUp", "PageDown", "Home", "ArrowUp", "ArrowDown", " "].includes(e.key)) act({ act: "key", at: performance.now() });
        }}
        onScroll={(e) => {
          const el = e.currentTarget;
          act({ act: "scrolled", distance: el.scrollHeight - el.scrollTop - el.clientHeight, at: performance.now() });
        }}
      >
        <div ref={inner} className="measure">
          <div className="timeline-top">
            {opened.before !== null ? (
              <button type="button" className="button" disabled={loading} onClick={() => void older()}>
                {loading ? "Loading…" : "Load earlier"}
              </button>
            ) : (
              rows.length === 0 && <p className="meta">Nothing was said in this thread yet.</p>
            )}
          </div>
          <Virtualizer ref={list} scrollRef={scroller} shift={shift} startMargin={TOP} keepMounted={held < 0 ? undefined : [held]}>
            {rows.map((row, i) => (
              <article
                key={row.key}
                data-key={row.key}
                onFocus={() => setFocused(row.key)}
                onBlur={() => setFocused(null)}
                className={`entry entry-${row.kind}`} aria-posinset={i + 1} aria-setsize={rows.length} aria-label={labelOf(row)} data-kind={row.kind === "item" ? row.item.item_kind : row.kind}>
                <RowView row={row} onFold={(run, open) => setFolds({ ...folds, [run]: open })} />
              </article>
            ))}
          </Virtualizer>
        </div>
      </div>
      {away && (
        <div className="pill">
          <button type="button" className="button" onClick={requests.length > 0 ? toRequest : jump}>
            ↓ {fresh > 0 ? `${fresh} new` : "to the end"}
            {requests.length > 0 && ` · ${requests.length === 1 ? "1 request" : `${requests.length} requests`}`}
          </button>
        </div>
      )}
    </div>
  );
}

/** Height of what stands above the list, in pixels; the style sheet says the same. */
const TOP = 56;

function labelOf(row: Row): string {
  switch (row.kind) {
    case "message":
      return "You";
    case "item":
      return row.item.item_kind === "assistant_message" ? "Agent" : row.item.item_kind.replaceAll("_", " ");
    case "ended":
      return `Run ${row.run.outcome}`;
    default:
      return row.kind;
  }
}

function RowView({ row, onFold }: { row: Row; onFold: (run: string, open: boolean) => void }) {
  switch (row.kind) {
    case "message":
      return <UserMessage item={row.item} message={row.message} run={row.run} />;
    case "item":
      return (
        <ItemRow item={row.item} node={row.node} waiting={row.waiting}>
          {row.children}
        </ItemRow>
      );
    case "fold":
      return (
        <div className="fold-line">
          <button type="button" className="opener-line" aria-expanded={row.open} onClick={() => onFold(row.run.id, !row.open)}>
            <span className="opener-mark" aria-hidden="true">
              {row.open ? "▾" : "▸"}
            </span>
            <span>{foldSentence(row.run, row.hidden)}</span>
          </button>
          {row.hidden.some((i) => i.item_kind === "file_change" && i.state !== "declined") && (
            <button type="button" className="quiet" onClick={() => go(changesPath(row.run.thread_id, row.run.id))}>
              changes
            </button>
          )}
        </div>
      );
    case "request":
      return <RequestCard request={row.request} />;
    case "plan":
      return <PlanCard plan={row.plan} />;
    case "checkpoint":
      return <CheckpointLine checkpoint={row.checkpoint} />;
    case "degradation":
      return <DegradationLine degradation={row.degradation} />;
    case "notice":
      return <NoticeLine notice={row.notice} />;
    case "ended":
      return <EndCard run={row.run} />;
    case "working":
      return <WorkingLine run={row.run} />;
  }
}

/** What is worth a word about a message: how it went in, or that it may not have. */
function fate(message: Message | null, run: Run | null): string {
  if (message === null) return "";
  if (message.delivery === "unknown") return "We do not know whether this message reached the agent. It was not sent again.";
  if (message.delivery === "rejected") return run?.outcome === "cancelled" ? "" : "The agent refused this message.";
  if (message.intent === "steer") return "into the running turn";
  if (message.intent === "restart") return "restarted the run";
  return run?.state === "queued" ? "waits for the run before it" : "";
}

function UserMessage({ item, message, run }: { item: Item; message: Message | null; run: Run | null }) {
  const body = useBody(item.id, "text");
  const [all, setAll] = useState(false);
  const long = body.text.length > CLAMP_CHARS || body.text.split("\n", CLAMP_LINES + 1).length > CLAMP_LINES;
  const said = fate(message, run);
  return (
    <div className="user">
      <p className={`user-text${long && !all ? " clamped" : ""}`} dir="auto">
        {body.text}
      </p>
      {long && (
        <button type="button" className="quiet" onClick={() => setAll(!all)}>
          {all ? "show less" : "show all"}
        </button>
      )}
      {said && <p className="meta">{said}</p>}
    </div>
  );
}
