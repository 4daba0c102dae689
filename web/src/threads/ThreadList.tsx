import { memo, useMemo, useState } from "react";
import type { ThreadRow } from "../api/types";
import { Anchor } from "../shell/Anchor";
import { StateMark } from "../shell/Mark";
import { threadPath } from "../shell/router";
import { ago, useNow } from "../shell/time";
import { unmasked } from "../markdown/urls";
import { usePage } from "../store/page";
import { markOf, waitsFor } from "../words/states";
import { order, titleOf } from "./order";

export function ThreadList({ current }: { current: string | null }) {
  const rows = usePage((s) => s.rows);
  const live = usePage((s) => s.link === "live");
  const listed = usePage((s) => s.listed);
  const [search, setSearch] = useState("");
  const [showArchived, setShowArchived] = useState(false);
  const now = useNow(30_000);
  const { waiting, waitingMore, groups, archived } = useMemo(() => order(Object.values(rows), search), [rows, search]);
  const waits = waiting.length + waitingMore;
  return (
    <nav className="list" aria-label="Threads">
      <header className="list-head">
        <Anchor href="/" className="brand">
          Podium
        </Anchor>
        <Anchor href="/start" className="button">
          New thread
        </Anchor>
      </header>
      <label className="search">
        <span className="hidden">Search threads</span>
        <input type="search" placeholder="Search threads" value={search} onChange={(e) => setSearch(e.target.value)} />
      </label>
      <div className="list-body">
        {waits > 0 && (
          <section aria-label="Waiting for you" className="waiting">
            <h2>
              Waiting for you <span className="count">{waits}</span>
            </h2>
            <ul>
              {waiting.map((row) => (
                <Row key={row.thread.id} row={row} live={live} now={now} current={current} copy />
              ))}
            </ul>
            {waitingMore > 0 && <p className="meta">{waitingMore} more below</p>}
          </section>
        )}
        {groups.map((group) => (
          <section key={group.workspace} aria-label={unmasked(group.name)}>
            <h2 title={unmasked(group.workspace)}>{unmasked(group.name)}</h2>
            <ul>
              {group.rows.map((row) => (
                <Row key={row.thread.id} row={row} live={live} now={now} current={current} />
              ))}
            </ul>
          </section>
        ))}
        {archived.length > 0 && (
          <section aria-label="Archived">
            <button type="button" className="quiet fold" aria-expanded={showArchived} onClick={() => setShowArchived(!showArchived)}>
              {showArchived ? "▾" : "▸"} Archived {archived.length}
            </button>
            {showArchived && (
              <ul>
                {archived.map((row) => (
                  <Row key={row.thread.id} row={row} live={live} now={now} current={current} />
                ))}
              </ul>
            )}
          </section>
        )}
        {listed && groups.length === 0 && archived.length === 0 && (
          <p className="meta list-empty">{search ? "No thread has these words in its title." : "No threads yet."}</p>
        )}
      </div>
    </nav>
  );
}

interface RowProps {
  row: ThreadRow;
  live: boolean;
  now: number;
  current: string | null;
  copy?: boolean;
}

const Row = memo(function Row({ row, live, now, current, copy = false }: RowProps) {
  const mark = markOf(row.state, row.run, live, row.requests);
  const since = row.run && row.run.state !== "ended" && row.run.started_at !== null ? row.run.started_at : row.last_message_at;
  return (
    <li>
      <Anchor
        href={threadPath(row.thread.id)}
        className={`row${row.thread.id === current ? " row-current" : ""}`}
        aria-current={row.thread.id === current ? "page" : undefined}
        data-thread={row.thread.id}
      >
        <StateMark mark={mark} />
        <span className="row-title" dir="auto">
          {titleOf(row)}
        </span>
        <span className="row-age">{ago(since, now)}</span>
        {copy && (
          <span className="row-line" dir="auto">
            {waitsFor(row)}
          </span>
        )}
        {!copy && row.queued > 0 && <span className="row-line">{row.queued} waiting to be sent</span>}
      </Anchor>
    </li>
  );
});
