import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { api } from "../api/client";
import type { Changes as Found, OwnedChange } from "../api/types";
import { unmasked } from "../markdown/urls";
import { CopyButton } from "../shell/CopyButton";
import { changesPath, go, threadPath } from "../shell/router";
import type { Opened } from "../store/state";
import { number } from "../timeline/rows";
import { CHANGES_OPEN_MAX, Hunks } from "./DiffText";
import { Restore } from "./Restore";
import { countsOf, filesOf, pathOf, type PatchFile } from "./patch";

/** What a run or the whole thread changed: the agent's own and what is shared, apart. */
export default function Changes({ opened, run }: { opened: Opened; run: string | null }) {
  const runs = useMemo(() => Object.values(opened.runs).sort((a, b) => b.ordinal - a.ordinal), [opened.runs]);
  const ended = runs.filter((r) => r.state === "ended").length;
  const query = useQuery({
    queryKey: ["changes", opened.id, run, ended],
    queryFn: () => api.changes(opened.id, run),
    retry: false,
  });
  useEffect(() => {
    const close = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) go(threadPath(opened.id));
    };
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, [opened.id]);
  return (
    <aside className="panel" aria-label="Changes">
      <header className="panel-head">
        <h2>Changes</h2>
        <label>
          <span className="hidden">Of which run</span>
          <select value={run ?? ""} onChange={(e) => go(changesPath(opened.id, e.target.value || null), true)}>
            <option value="">whole thread</option>
            {runs.map((r) => (
              <option key={r.id} value={r.id}>
                run {r.ordinal}
                {r.state === "ended" ? "" : " (running)"}
              </option>
            ))}
          </select>
        </label>
        <button type="button" className="quiet" onClick={() => go(threadPath(opened.id))}>
          Close
        </button>
      </header>
      <div className="panel-body">
        {query.isPending && <p className="meta">Reading changes…</p>}
        {query.isError && (
          <p role="alert">
            The changes could not be read: {query.error.message}{" "}
            <button type="button" className="quiet" onClick={() => void query.refetch()}>
              Try again
            </button>
          </p>
        )}
        {query.data && (
          <Restore
            key={`${opened.id} ${run ?? ""}`}
            target={run ?? opened.id}
            label={run === null ? "what this thread changed" : `what run ${opened.runs[run]?.ordinal ?? ""} changed`}
            none={query.data.paths.length === 0}
          />
        )}
        {query.data && <Shown found={query.data} working={runs.some((r) => r.state !== "ended")} />}
      </div>
    </aside>
  );
}

function Shown({ found, working }: { found: Found; working: boolean }) {
  const agent = useMemo(() => filesOf(found.agent), [found.agent]);
  const shared = useMemo(() => filesOf(found.shared), [found.shared]);
  const owned = (owner: OwnedChange["owner"]) => found.paths.filter((p) => p.owner === owner);
  const [plus, minus] = [...agent, ...shared].map(countsOf).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0]);
  return (
    <>
      <p className="meta changes-sum">
        {number(found.paths.length, "file")} <span className="plus">+{plus}</span> <span className="minus">−{minus}</span>
        {found.root && <> in {found.root}</>}
        {found.truncated && " · the text is cut, the list is whole"}
      </p>
      {found.unknown.map((u) => (
        <p key={u.run_id} className="line line-warning">
          <span aria-hidden="true">!</span> <span>What a run changed is not known: {u.reason}</span>
        </p>
      ))}
      {found.paths.length === 0 && <p className="meta">{working ? "Nothing yet. Changes show when the run ends." : "No files changed."}</p>}
      <Files title="Changed by the agent" note="" paths={owned("agent")} files={agent} />
      <Files title="Shared" note="Something else worked in this folder at the same time, so these may not be the agent's." paths={owned("shared")} files={shared} />
      <Files title="Whose is not known" note="" paths={owned("unknown")} files={[]} />
    </>
  );
}

function kindOf(change: OwnedChange): string {
  if (change.renamed_from) return "renamed here";
  if (change.renamed_to) return "renamed away";
  if (change.masked) return `not comparable (${change.masked})`;
  if (change.before === null) return "created";
  return change.after === null ? "deleted" : "changed";
}

function Files({ title, note, paths, files }: { title: string; note: string; paths: OwnedChange[]; files: PatchFile[] }) {
  if (paths.length === 0) return null;
  const byPath = new Map(files.map((f) => [pathOf(f), f]));
  return (
    <section className="files" aria-label={title}>
      <h3>
        {title} <span className="count">{paths.length}</span>
      </h3>
      {note && <p className="meta">{note}</p>}
      {paths.map((change) => (
        <OneFile key={change.path} change={change} file={byPath.get(change.path)} />
      ))}
    </section>
  );
}

function OneFile({ change, file }: { change: OwnedChange; file: PatchFile | undefined }) {
  const [plus, minus] = file ? countsOf(file) : [0, 0];
  const [open, setOpen] = useState(file !== undefined && plus + minus <= CHANGES_OPEN_MAX);
  const hunks = file?.hunks.length ?? 0;
  return (
    <div className="file" data-path={change.path}>
      <header className="card-head">
        <button type="button" className="card-title" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className="opener-mark" aria-hidden="true">
            {open ? "▾" : "▸"}
          </span>
          <code>{unmasked(change.path)}</code>
        </button>
        <span className="meta">{kindOf(change)}</span>
        {hunks > 0 && (
          <span className="counts">
            <span className="plus">+{plus}</span> <span className="minus">−{minus}</span>
          </span>
        )}
        <CopyButton text={() => change.path} what="path" />
      </header>
      {change.gap && <p className="meta">Somebody else changed this path between the runs of this thread.</p>}
      {open && file && hunks > 0 && <Hunks file={file} />}
      {open && hunks === 0 && <p className="meta file-none">{file?.isBinary ? "A binary file; there is no text to show." : "There is no text to show."}</p>}
    </div>
  );
}
