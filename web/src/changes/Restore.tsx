import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api, Problem } from "../api/client";
import type { PlanWish, ShownPlan } from "../api/types";
import { unmasked } from "../markdown/urls";
import { number } from "../timeline/rows";
import { changing, groupsOf } from "./fates";

interface Done {
  /** The safety checkpoint: what undoes it. */
  checkpoint: string;
  undo: boolean;
  changed: number;
  left: number;
}

/** Takes changes back, or a taking back: never without the exact paths first, and always to be undone. */
export function Restore({ target, label, none }: { target: string; label: string; none: boolean }) {
  const [wish, setWish] = useState<PlanWish | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const queries = useQueryClient();
  return (
    <>
      {!none && (
        <button type="button" className="button take-back" onClick={() => setWish({ target, force: false, undo: false })}>
          Take back…
        </button>
      )}
      {done && (
        <p className="line restored" role="status">
          <span>
            {done.undo ? "Undone: " : ""}
            {number(done.changed, "path")} put back{done.left > 0 && `, ${done.left} left alone`}.
          </span>
          <button type="button" className="quiet" onClick={() => setWish({ target: done.checkpoint, force: false, undo: true })}>
            Undo…
          </button>
        </p>
      )}
      {wish && (
        <Preflight
          first={wish}
          what={wish.undo ? "the last taking back" : label}
          onClose={() => setWish(null)}
          onDone={(result) => {
            setWish(null);
            setDone(result);
            void queries.invalidateQueries({ queryKey: ["changes"] });
          }}
        />
      )}
    </>
  );
}

/** What would happen to each path, asked for before anything does. */
function Preflight({ first, what, onClose, onDone }: { first: PlanWish; what: string; onClose: () => void; onDone: (done: Done) => void }) {
  const [wish, setWish] = useState(first);
  const [shown, setShown] = useState<ShownPlan | null>(null);
  const [trouble, setTrouble] = useState("");
  const [busy, setBusy] = useState(true);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);

  const look = useCallback(async (asked: PlanWish, said: string) => {
    setBusy(true);
    setTrouble(said);
    try {
      setShown(await api.plan(asked));
    } catch (error) {
      setShown(null);
      setTrouble(wordsOf(error));
    } finally {
      setBusy(false);
    }
  }, []);
  useEffect(() => void look(wish, ""), [look, wish]);

  const restore = async () => {
    if (busy || shown === null) return;
    setBusy(true);
    setTrouble("");
    try {
      const { checkpoint, changed, left } = await api.restore(wish, shown.digest);
      dialog.current?.close();
      onDone({ checkpoint, changed, left, undo: wish.undo });
    } catch (error) {
      if (error instanceof Problem && error.code === "plan_changed") await look(wish, "The files changed meanwhile; nothing was touched. This is what would happen now.");
      else setTrouble(wordsOf(error));
      setBusy(false);
    }
  };

  const groups = shown === null ? [] : groupsOf(shown.plan.steps);
  const count = shown === null ? 0 : changing(shown.plan);
  const refused = groups.some((g) => g.fate === "refuse");
  return (
    <dialog
      ref={dialog}
      className="preflight"
      aria-labelledby="preflight-title"
      onClose={onClose}
      onKeyDown={(event) => {
        // Escape closes the dialog, and not what is behind it.
        if (event.key === "Escape") event.stopPropagation();
      }}
    >
      <h2 id="preflight-title">Take back {what}</h2>
      <p className="meta">{shown ? `In ${shown.plan.root}. Nothing is touched before you say so, and it can be undone.` : busy ? "Looking at what would happen…" : ""}</p>
      {trouble && (
        <p className="composer-trouble" role="alert">
          {trouble}
        </p>
      )}
      <div className="preflight-paths" tabIndex={0} role="group" aria-label="What happens to each path">
        {groups.map((group) => (
          <section key={group.fate} data-fate={group.fate} aria-label={group.words}>
            <h3>
              {group.words} <span className="count">{group.steps.length}</span>
            </h3>
            <ul>
              {group.steps.map((step) => (
                <li key={step.path}>
                  <code>{unmasked(step.path)}</code> {step.reason && group.fate !== "nothing" && <span className="meta">{step.reason}</span>}
                </li>
              ))}
            </ul>
          </section>
        ))}
        {shown !== null && shown.plan.folders.length > 0 && (
          <section data-fate="folders" aria-label="Folders">
            <h3>
              Folders, removed if they are empty then <span className="count">{shown.plan.folders.length}</span>
            </h3>
            <ul>
              {shown.plan.folders.map((folder) => (
                <li key={folder}>
                  <code>{unmasked(folder)}</code>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      {(refused || wish.force) && (
        <label className="preflight-force">
          <input type="checkbox" checked={wish.force} disabled={busy} onChange={(event) => setWish({ ...wish, force: event.target.checked })} />
          Also put back what was changed since by somebody else. Their changes go; undo brings them back.
        </label>
      )}
      <div className="preflight-acts">
        <button type="button" className="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" className="button button-strong" disabled={busy || count === 0} aria-busy={busy} onClick={() => void restore()}>
          {count === 0 ? "Nothing to put back" : `Put back ${number(count, "path")}`}
        </button>
      </div>
    </dialog>
  );
}

function wordsOf(error: unknown): string {
  return error instanceof Problem ? `${error.detail} ${error.fix}`.trim() : "It did not work.";
}
